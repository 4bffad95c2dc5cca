#!/usr/bin/env bash
# Builds every function in a copy of the repository, and compares the bytes with those that `make
# build` made with go (.cache/functions) and with the SAM CLI (.aws-sam/build). Without a build of
# the SAM CLI, prints a line and skips that comparison. With COLD=1 the copy is built with an empty
# Go build cache, which takes minutes.
#
#   FUNCTION_FLAGS=… scripts/reproducible.sh
set -euo pipefail
cd "$(dirname "$0")/.."

export CGO_ENABLED=0 GOFLAGS=$FUNCTION_FLAGS
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# Prints the sorted hashes of programs.
hashes() { # FILE…
    git hash-object --no-filters "$@" | sort
}

same() { # HASHES DESCRIPTION
    if [ "$first" != "$1" ]; then
        echo "reproducible: builds $2 differ" >&2
        exit 1
    fi
}

first=$(hashes .cache/functions/*)
mkdir "$work/copy"
cp -R go.mod go.sum functions pkg "$work/copy"
(
    cd "$work/copy"
    [ -z "${COLD:-}" ] || export GOCACHE=$work/cache
    GOOS=linux GOARCH=arm64 go build -o "$work/functions/" ./functions/...
)
same "$(hashes "$work"/functions/*)" 'in two folders'
if [ -d .aws-sam/build ]; then
    mapfile -t built < <(find .aws-sam/build -name bootstrap)
    same "$(hashes "${built[@]}")" 'with go and with sam'
else
    echo 'skipped the build with sam: .aws-sam/build does not exist'
fi
echo "reproducible: $(wc -l <<<"$first" | tr -d ' ') functions, equal in all builds"
