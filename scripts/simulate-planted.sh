#!/usr/bin/env bash
# Applies each patch of test/simulation/testdata to a copy of the tree, two at a time, and searches
# for a seed that fails, for at most PLANTED_FOR (default: 90s) on one core. First it searches
# without a patch, and no seed may fail. It fails unless a seed is found for every patch. Usage:
# simulate-planted.sh [PATCH…]
set -euo pipefail

duration=${PLANTED_FOR:-90s}

# As in the Makefile, so that all copies share its build cache.
export CGO_ENABLED=0 GOFLAGS
GOFLAGS="$(sed -n 's/^FUNCTION_FLAGS := //p' Makefile) -vet=off"

build() { go test -c -o simulation.test ./test/simulation; }

# search ends with status 124 if no seed fails.
search() {
  cd test/simulation
  timeout "$duration" ../../simulation.test -test.run '^TestSeeds$' -seed 1 -seeds 1000000 -shrink 0s
}

copy() {
  mkdir "$1"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$1"
}

# try PATCH prints one line about a patch: found, missed, or an error. $slot is the number of the
# copy.
try() {
  local name log started status=0
  name=$(basename "$1" .patch)
  log=$work/$name.log
  cd "$work/$slot"
  if ! git apply "$1" 2> "$log"; then
    echo "error   $name: the patch does not apply: $(head -n 1 "$log")"
    return
  fi
  if ! build > "$log" 2>&1; then
    echo "error   $name: the patched tree does not build: $(grep -m 1 '\.go:' "$log")"
  else
    started=${EPOCHREALTIME/./}
    (export GOMAXPROCS=1 && search) > "$log" 2>&1 || status=$?
    if grep -q '_test\.go:[0-9]*: seed [0-9]*: ' "$log"; then
      echo "found   $name: $(grep -om 1 'seed [0-9]*' "$log"), $(((${EPOCHREALTIME/./} - started) / 1000)) ms"
    elif [ "$status" = 124 ]; then
      echo "missed  $name: no seed fails in $duration"
    else
      echo "error   $name: the search ends with status $status, without a seed: $(grep -Em 1 '^(panic|fatal)' "$log")"
    fi
  fi
  git apply -R "$1"
}

if [ "${1-}" = --try ]; then
  try "$2"
  exit
fi

patches=("$@")
[ $# -gt 0 ] || patches=(test/simulation/testdata/*.patch)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work GIT_CEILING_DIRECTORIES=$work
copy "$work/0"
cp -r "$work/0" "$work/1"
status=0
(cd "$work/0" && build && search) > "$work/control" 2>&1 || status=$?
if [ "$status" != 124 ]; then
  echo 'error   without a patch, the search fails:'
  head -n 40 "$work/control"
  exit 1
fi
echo "without a patch: $(grep ' seeds in ' "$work/control" | tail -n 1)"
realpath -z -- "${patches[@]}" | xargs -0 -n 1 -P 2 --process-slot-var=slot "$(realpath "$0")" --try | tee "$work/lines"
found=$(grep -c '^found' "$work/lines" || true)
echo "$found of ${#patches[@]} patches are found, in $SECONDS s"
[ "$found" = "${#patches[@]}" ]
