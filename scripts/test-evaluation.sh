#!/usr/bin/env bash
# Installs yggdrasil, the engine in several of Unleash's SDKs, into .cache, and runs
# test/unleash/evaluation, which compares the results of pkg/evaluation with those of yggdrasil and
# of the SDK for Node.js. If a tool cannot be installed, prints one line and succeeds.
#
#   scripts/test-evaluation.sh [flags of the test]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped test-evaluation: it needs $1"
    exit 0
}

command -v node >/dev/null || skip 'Node.js'
status=0
scripts/python-venv.sh yggdrasil || status=$?
case $status in
    0) ;;
    3) skip 'Python 3.10 or later with venv' ;;
    *) skip 'the packages of scripts/requirements/yggdrasil.txt, which pip could not install' ;;
esac

export YGGDRASIL_PYTHON=$PWD/.cache/yggdrasil/bin/python
exec go test -count=1 -timeout=30m ./test/unleash/evaluation "$@"
