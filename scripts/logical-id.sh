#!/usr/bin/env bash
# Prints the logical IDs in template.yaml of functions. A function is named by its folder in
# functions/: not-found is NotFoundFunction.
#
#   scripts/logical-id.sh not-found
set -euo pipefail

for function in "$@"; do
    id=""
    for word in ${function//-/ }; do
        id+="$(tr '[:lower:]' '[:upper:]' <<<"${word:0:1}")${word:1}"
    done
    echo "${id}Function"
done
