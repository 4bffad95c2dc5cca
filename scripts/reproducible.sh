#!/usr/bin/env bash
# Builds every function three times for each processor - by go here, by go in a copy of the repository elsewhere, by the SAM CLI - and
# compares the bytes. With COLD=1 the copy is built with an empty cache of Go's, so that nothing compiled is shared: that takes minutes.
#
#   FUNCTION_FLAGS=… SAM_VERSION=… CFN_LINT_VERSION=… scripts/reproducible.sh
set -euo pipefail
cd "$(dirname "$0")/.."

export CGO_ENABLED=0 GOFLAGS=$FUNCTION_FLAGS
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# Prints the hash of each function's program below a folder that go build, or sam build, has filled.
hashes() { # FOLDER go|sam
    local name program
    for name in $(cd functions && echo *); do
        program=$1/$name # as go build calls it
        [ "$2" = go ] || program=$1/$(scripts/logical-id.sh "$name")/bootstrap
        echo "$name $(git hash-object --no-filters "$program")"
    done
}

same() { # ARCHITECTURE HASHES HASHES WORDS
    if ! diff <(echo "$2") <(echo "$3") >&2; then
        echo "reproducible: $1: $4 differ" >&2
        exit 1
    fi
}

mkdir "$work/copy"
cp -R go.mod go.sum functions pkg "$work/copy"
for architecture in arm64 x86_64; do
    goarch=${architecture/x86_64/amd64}
    GOOS=linux GOARCH=$goarch go build -o "$work/$architecture/" ./functions/...
    first=$(hashes "$work/$architecture" go)
    (
        cd "$work/copy"
        [ -z "${COLD:-}" ] || export GOCACHE=$work/cache
        GOOS=linux GOARCH=$goarch go build -o "$work/$architecture-copy/" ./functions/...
    )
    same "$architecture" "$first" "$(hashes "$work/$architecture-copy" go)" 'builds in two folders'
    built=.aws-sam/reproducible/$architecture
    scripts/sam-tools.sh sam build --build-dir "$built" --parameter-overrides "Architecture=$architecture" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    if [ -d "$built" ]; then # else there is no Python for sam
        same "$architecture" "$first" "$(hashes "$built" sam)" 'builds by go and by sam'
    fi
    rm -rf "${work:?}/$architecture" "$work/$architecture-copy"
    echo "reproducible: $architecture: $(wc -l <<<"$first" | tr -d ' ') functions, the same bytes each time: $(git hash-object --stdin <<<"$first" | cut -c 1-16)"
done
