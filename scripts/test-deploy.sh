#!/usr/bin/env bash
# Builds every function for this machine and runs test/deploy, which deploys them with sam into
# ministack, an AWS emulator that needs neither an AWS account nor Docker. Installs the tools into
# .cache. If a tool cannot be installed, prints a line and succeeds.
#
#   CGO_ENABLED=0 GOFLAGS=… scripts/test-deploy.sh [flags of go test]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped test-deploy: it needs $1"
    exit 0
}

install() {
    local status=0
    scripts/python-venv.sh "$1" || status=$?
    case $status in
        0) ;;
        3) skip 'Python 3.10 or later with venv' ;;
        *) skip "the packages of scripts/requirements/$1.txt, which pip could not install" ;;
    esac
}

timed() {
    local start=$SECONDS
    "${@:2}"
    printf '%-78s %6d s\n' "$1" $((SECONDS - start))
}

build() {
    local log
    log=$(scripts/build-local.sh 2>&1) || { echo "$log" >&2; return 1; }
}

[ "$(uname -s)" = Linux ] || skip 'Linux, because the emulator runs the functions as processes'
case $(uname -m) in
    x86_64 | aarch64) ;;
    *) skip "x86_64 or aarch64, not $(uname -m)" ;;
esac
timed 'install' install sam
timed 'install the emulator' install ministack
(timed 'sam build' build)

export TEST_DEPLOY_SAM=$PWD/.cache/sam/bin/sam TEST_DEPLOY_PYTHON=$PWD/.cache/ministack/bin/python
export TEST_DEPLOY_BUILD=$PWD/.aws-sam/local/build
# Without a package name, go test prints the steps and their times immediately.
cd test/deploy
exec go test -count=1 "$@"
