#!/usr/bin/env bash
# Builds every function for Linux on the processor of this machine with the SAM CLI, into
# .aws-sam/local/build, unless this build has been made from the same sources. Its own folder and
# environment of samconfig.toml keep it out of deployments to AWS.
#
#   CGO_ENABLED=0 GOFLAGS=… scripts/build-local.sh [--skip-without-python]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=.aws-sam/local
processor=$(go env GOARCH)
architecture=x86_64
[ "$processor" != arm64 ] || architecture=arm64

# Prints the version and flags of Go, and the hashes of everything that is built.
sources() {
    go version
    printf '%s %s\n' "${CGO_ENABLED:-}" "${GOFLAGS:-}"
    find functions pkg -type f -print0 | sort -z | xargs -0 git hash-object --no-filters --
    git hash-object --no-filters go.mod go.sum template.yaml delivery.yaml samconfig.toml
}

current=$(sources)
if [ -d "$folder/build" ] && [ "$(cat "$folder/sources" 2>/dev/null)" = "$current" ]; then
    echo "$folder/build is built from these sources"
    exit 0
fi
mkdir -p "$folder"
rm -f "$folder/sources"
# Compiles what all functions share, once. sam build then links each function.
GOOS=linux GOARCH=$processor go list -export ./functions/... >/dev/null
scripts/python-tool.sh "$@" sam build --config-env local --parameter-overrides "Architecture=$architecture"
[ ! -d "$folder/build" ] || echo "$current" >"$folder/sources" # there is none without Python
