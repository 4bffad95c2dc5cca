#!/usr/bin/env bash
# Runs sam, cfn-lint, the Python of both, or checkov, in the versions that the Makefile names, from a virtual environment in .cache, which
# it creates if it is missing or has other versions. Without a suitable Python, prints one line and exits with status 3, or with
# --skip-without-python with status 0.
#
#   SAM_VERSION=… CFN_LINT_VERSION=… scripts/python-tool.sh [--skip-without-python] sam validate --lint
#   CHECKOV_VERSION=… scripts/python-tool.sh [--skip-without-python] checkov --config-file .checkov.yaml
set -euo pipefail
cd "$(dirname "$0")/.."

skip=''
if [ "$1" = --skip-without-python ]; then
    skip=1
    shift
fi
case $1 in
sam | cfn-lint | python)
    folder=.cache/sam
    packages=("aws-sam-cli==$SAM_VERSION" "cfn-lint==$CFN_LINT_VERSION")
    ;;
checkov) # its dependencies conflict with those of the SAM CLI
    folder=.cache/checkov
    packages=("checkov==$CHECKOV_VERSION")
    ;;
*)
    echo "unknown tool '$1': sam, cfn-lint, python or checkov" >&2
    exit 2
    ;;
esac

status=0
scripts/python-venv.sh "$folder" "${packages[@]}" || status=$?
if [ "$status" -eq 3 ]; then
    reason='needs Python 3.10 or later with venv'
    if [ -n "$skip" ]; then
        echo "skipped $*: $1 $reason"
        exit 0
    fi
    echo "$1 $reason" >&2
fi
[ "$status" -eq 0 ] || exit "$status"

exec "$folder/bin/$1" "${@:2}"
