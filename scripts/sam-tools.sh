#!/usr/bin/env bash
# Runs sam or cfn-lint, at the versions that the Makefile names, from a virtual environment of their own in .cache/sam; makes it
# first where it is missing or of other versions. Without a Python that can make one, it says so in one line and succeeds:
# nothing of the service itself is written in Python.
#
#   SAM_VERSION=… CFN_LINT_VERSION=… scripts/sam-tools.sh sam validate --lint
set -euo pipefail
cd "$(dirname "$0")/.."

folder=.cache/sam
wanted="aws-sam-cli==$SAM_VERSION cfn-lint==$CFN_LINT_VERSION"

skip() {
    echo "skipped $command: $1"
    exit 0
}

# Prints the first Python that is new enough and can make virtual environments.
find_python() {
    local python
    for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$python" && return
    done
    return 1
}

command="$*"
if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    python=$(find_python) || skip "it needs Python 3.10 or later with venv"
    rm -rf "$folder"
    "$python" -m venv "$folder"
    # shellcheck disable=SC2086 # two words on purpose
    "$folder/bin/pip" install --quiet --disable-pip-version-check $wanted
    echo "$wanted" >"$folder/installed"
fi

tool=$1
shift
exec "$folder/bin/$tool" "$@"
