#!/usr/bin/env bash
# Runs sam or cfn-lint, in the versions that the Makefile names, from a virtual environment in .cache/sam, which it creates if it is missing
# or has other versions. Without a suitable Python, prints a line and succeeds.
#
#   SAM_VERSION=… CFN_LINT_VERSION=… scripts/sam-tools.sh sam validate --lint
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.cache/sam
status=0
scripts/python-venv.sh "$folder" "aws-sam-cli==$SAM_VERSION" "cfn-lint==$CFN_LINT_VERSION" || status=$?
if [ "$status" -eq 3 ]; then
    echo "skipped $*: it needs Python 3.10 or later with venv"
    exit 0
fi
[ "$status" -eq 0 ] || exit "$status"

tool=$1
shift
exec "$folder/bin/$tool" "$@"
