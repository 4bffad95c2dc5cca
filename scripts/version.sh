#!/usr/bin/env bash
# Prints the version of the service with the commit of the source tree, such as 0.1.0+1a2b3c4d, or
# 0.1.0+1a2b3c4d.modified if files differ from the commit. Without git or a commit, prints the
# version only.
set -euo pipefail
cd "$(dirname "$0")/.."

number=$(sed -n 's/^const Number = "\(.*\)"$/\1/p' pkg/platform/version/version.go)
if commit=$(git rev-parse --short=8 HEAD 2>/dev/null); then
    git diff --quiet HEAD -- || commit+=.modified
    number+="+${commit}"
fi
echo "$number"
