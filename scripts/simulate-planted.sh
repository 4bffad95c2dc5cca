#!/usr/bin/env bash
# Applies each patch of test/simulation/testdata, one at a time, to a copy of the tree, and searches for a seed that fails. Every patch must be
# found. Usage: simulate-planted.sh [PATCH…]
set -euo pipefail

root=$PWD
patches=("$@")
[ $# -gt 0 ] || patches=(test/simulation/testdata/*.patch)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# worker NUMBER COUNT searches every COUNT-th patch.
worker() {
  local copy=$work/$1 i patch started name
  mkdir "$copy"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
  for ((i = $1; i < ${#patches[@]}; i += $2)); do
    patch=$root/${patches[$i]}
    name=$(basename "$patch" .patch)
    started=$SECONDS
    if ! (cd "$copy" && GIT_CEILING_DIRECTORIES=$work git apply "$patch" && go test -c -o simulation.test ./test/simulation); then
      echo "$name: it does not apply or build" | tee -a "$work/missed"
    elif (cd "$copy/test/simulation" && GOMAXPROCS=1 ../../simulation.test -test.run '^TestSearch$' -seed 1 -for "${PLANTED_FOR:-15s}" -shrink 0s) \
      > "$work/$name.log" 2>&1; then
      echo "$name: not found in $((SECONDS - started)) s" | tee -a "$work/missed"
    else
      echo "$name: found in $((SECONDS - started)) s: $(grep -m 1 'seed [0-9]*: ' "$work/$name.log")"
    fi
    (cd "$copy" && GIT_CEILING_DIRECTORIES=$work git apply -R "$patch") || true
  done
}

cores=$(nproc)
for ((n = 0; n < cores; n++)); do worker "$n" "$cores" & done
wait
echo "${#patches[@]} patches in $SECONDS s"
[ ! -e "$work/missed" ]
