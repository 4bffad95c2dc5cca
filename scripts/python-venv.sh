#!/usr/bin/env bash
# Installs the packages of scripts/requirements/NAME.txt into the Python virtual environment
# .cache/NAME, unless they are installed. pip compares each package with the file's hashes. Exits
# with status 3 if there is no suitable Python.
#
#   scripts/python-venv.sh sam
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.cache/$1
requirements=scripts/requirements/$1.txt
if [ -x "$folder/bin/python" ] && cmp -s "$requirements" "$folder/installed.txt"; then
    exit 0
fi

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
"$folder/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps -r "$requirements" # the file has all dependencies
cp "$requirements" "$folder/installed.txt"
