#!/usr/bin/env bash
# Builds every function with go in a copy of the repository, and compares the bytes with those that
# scripts/build-local.sh made with the SAM CLI. Without a build of the SAM CLI, prints a line and
# compares with a build in this folder. With COLD=1 the copy is built with an empty Go build
# cache, which takes minutes.
#
#   CGO_ENABLED=0 GOFLAGS=… scripts/reproducible.sh
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# Prints the sorted hashes of the programs in a folder.
hashes() { # FOLDER
    find "$1" -type f ! -name '*.yaml' -exec git hash-object --no-filters {} + | sort
}

build() { # FOLDER
    GOOS=linux go build -o "$1/" ./functions/...
}

if [ -d .aws-sam/local/build ]; then
    first=$(hashes .aws-sam/local/build)
else
    echo 'skipped the build with sam: .aws-sam/local/build does not exist'
    build "$work/here"
    first=$(hashes "$work/here")
fi
mkdir "$work/copy"
cp -R go.mod go.sum functions pkg "$work/copy"
(
    cd "$work/copy"
    [ -z "${COLD:-}" ] || export GOCACHE=$work/cache
    build "$work/there"
)
if [ "$first" != "$(hashes "$work/there")" ]; then
    echo 'reproducible: the two builds differ' >&2
    exit 1
fi
echo "reproducible: $(wc -l <<<"$first" | tr -d ' ') functions, equal in both builds"
