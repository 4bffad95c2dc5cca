#!/usr/bin/env bash
# Runs sam, cfn-lint, the Python of both, checkov or uv from a virtual environment in .cache, with
# the packages of scripts/requirements. Without a suitable Python, prints one line and exits with
# status 3, or with --skip-without-python with status 0.
#
#   scripts/python-tool.sh [--skip-without-python] sam validate --lint
set -euo pipefail
cd "$(dirname "$0")/.."

skip=''
if [ "$1" = --skip-without-python ]; then
    skip=1
    shift
fi
case $1 in
sam | cfn-lint | python) environment=sam ;;
checkov | uv) environment=$1 ;; # the dependencies of checkov conflict with those of the SAM CLI
*)
    echo "unknown tool '$1': sam, cfn-lint, python, checkov or uv" >&2
    exit 2
    ;;
esac

status=0
scripts/python-venv.sh "$environment" || status=$?
if [ "$status" -eq 3 ]; then
    reason='needs Python 3.10 or later with venv'
    if [ -n "$skip" ]; then
        echo "skipped $*: $1 $reason"
        exit 0
    fi
    echo "$1 $reason" >&2
fi
[ "$status" -eq 0 ] || exit "$status"

exec ".cache/$environment/bin/$1" "${@:2}"
