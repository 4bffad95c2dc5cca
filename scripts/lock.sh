#!/usr/bin/env bash
# Writes scripts/requirements/NAME.txt for each NAME.in: the versions and hashes of all packages,
# for every platform and Python 3.10 or later. Versions that a file already has are kept as far as
# possible.
#
#   scripts/lock.sh
set -euo pipefail
cd "$(dirname "$0")/.."

for file in scripts/requirements/*.in; do
    scripts/python-tool.sh uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header --no-emit-index-url \
        --no-annotate "$file" -o "${file%.in}.txt"
done
