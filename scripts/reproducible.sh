#!/usr/bin/env bash
# Builds functions with go in a copy of the repository, and compares the bytes with those that
# scripts/build-local.sh made with the SAM CLI. Without a build of the SAM CLI, prints a line and
# compares with a build in this folder. What can differ, such as a path, a time or a commit, differs
# in every function, so it builds every tenth. With COLD=1 it builds all, with an empty Go build
# cache, which takes minutes.
#
#   CGO_ENABLED=0 GOFLAGS=… scripts/reproducible.sh
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# Prints the folders of the functions to compare.
compared() {
    printf './%s\n' functions/*/ | awk -v all="${COLD:-}" 'all != "" || NR % 10 == 1'
}

# Prints the hashes of the programs in a folder.
hashes() { # FOLDER
    find "$1" -type f ! -name '*.yaml' -exec git hash-object --no-filters {} +
}

build() { # FOLDER
    mapfile -t packages < <(compared)
    mkdir -p "$1"
    GOOS=linux go build -o "$1/" "${packages[@]}"
}

if [ -d .aws-sam/local/build ]; then
    hashes .aws-sam/local/build >"$work/first"
else
    echo 'skipped the build with sam: .aws-sam/local/build does not exist'
    build "$work/here"
    hashes "$work/here" >"$work/first"
fi
mkdir "$work/copy"
cp -R go.mod go.sum functions pkg "$work/copy"
(
    cd "$work/copy"
    [ -z "${COLD:-}" ] || export GOCACHE=$work/cache
    build "$work/there"
)
hashes "$work/there" >"$work/second"
if ! [ -s "$work/second" ] || grep -Fxvf "$work/first" "$work/second" >/dev/null; then
    echo 'reproducible: the two builds differ' >&2
    exit 1
fi
echo "reproducible: $(wc -l <"$work/second" | tr -d ' ') functions, equal in both builds"
