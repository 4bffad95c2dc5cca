#!/usr/bin/env bash
# Creates a Python virtual environment and installs packages into it, unless it exists with the same packages. Exits with status 3 if there
# is no suitable Python.
#
#   scripts/python-venv.sh .cache/sam aws-sam-cli==1.170.0 cfn-lint==1.58.0
set -euo pipefail

folder=$1
shift
wanted="$*"
[ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ] || exit 0

# Prints the first Python 3.10 or later that can create virtual environments.
find_python() {
    local python
    for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$python" && return
    done
    return 1
}

python=$(find_python) || exit 3
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
echo "$wanted" >"$folder/installed"
