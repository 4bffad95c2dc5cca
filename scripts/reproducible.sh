#!/usr/bin/env bash
# Builds every function three times for each processor and compares the bytes: with go in this
# folder, with go in a copy of the repository, and with the SAM CLI. Without a Python for the SAM
# CLI, prints a line and skips the third build. With COLD=1 the copy is built with an empty Go build
# cache, which takes minutes.
#
#   FUNCTION_FLAGS=… scripts/reproducible.sh
set -euo pipefail
cd "$(dirname "$0")/.."

export CGO_ENABLED=0 GOFLAGS=$FUNCTION_FLAGS
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# Prints the hash of each function's program in an output folder of go build or sam build.
hashes() { # FOLDER go|sam
    local name program
    for name in $(cd functions && echo *); do
        program=$1/$name
        [ "$2" = go ] || program=$1/$(scripts/logical-id.sh "$name")/bootstrap
        echo "$name $(git hash-object --no-filters "$program")"
    done
}

same() { # ARCHITECTURE HASHES HASHES DESCRIPTION
    if ! diff <(echo "$2") <(echo "$3") >&2; then
        echo "reproducible: $1: $4 differ" >&2
        exit 1
    fi
}

status=0
reason=$(scripts/python-tool.sh sam --version 2>&1) || status=$?
case $status in
0) with_sam=1 ;;
3)
    with_sam=''
    echo "skipped the builds with sam: $reason"
    ;;
*)
    echo "$reason" >&2
    exit 1
    ;;
esac

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
    if [ -n "$with_sam" ]; then
        built=.aws-sam/reproducible/$architecture
        scripts/python-tool.sh sam build --build-dir "$built" --parameter-overrides "Architecture=$architecture" >"$work/log" 2>&1 || {
            cat "$work/log" >&2
            exit 1
        }
        same "$architecture" "$first" "$(hashes "$built" sam)" 'builds with go and with sam'
    fi
    rm -rf "${work:?}/$architecture" "$work/$architecture-copy"
    count=$(wc -l <<<"$first" | tr -d ' ')
    echo "reproducible: $architecture: $count functions, equal in all builds: $(git hash-object --stdin <<<"$first" | cut -c 1-16)"
done
