#!/usr/bin/env bash
# Builds every function for this machine and runs test/deploy: sam deploys the build into ministack, an emulator of AWS that runs here,
# without an account or Docker. Its tools are installed into .cache. Where they cannot be, it says so in one line and succeeds.
#
#   SAM_VERSION=… CFN_LINT_VERSION=… MINISTACK_VERSION=… SAM_TRANSLATOR_VERSION=… FUNCTION_FLAGS=… scripts/test-deploy.sh [go test's flags]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped test-deploy: it needs $1"
    exit 0
}

# install FOLDER PACKAGE…
install() {
    local status=0
    scripts/python-venv.sh "$@" || status=$?
    case $status in
        0) ;;
        3) skip 'Python 3.10 or later with venv' ;;
        *) skip "${*:2}, which pip could not install" ;;
    esac
}

timed() {
    local start=$SECONDS
    "${@:2}"
    printf '%-78s %6d s\n' "$1" $((SECONDS - start))
}

# A folder of its own: what is built for a machine like this one must never be deployed to AWS.
build() {
    export CGO_ENABLED=0 GOFLAGS="$FUNCTION_FLAGS"
    GOOS=linux GOARCH=$(go env GOARCH) go build -o .cache/functions-here/ ./functions/... # which sam build then finds compiled
    if ! .cache/sam/bin/sam build --build-dir .aws-sam/ministack/build --parameter-overrides "Architecture=$architecture" \
        >.aws-sam/ministack/build.log 2>&1; then
        cat .aws-sam/ministack/build.log >&2
        return 1
    fi
}

[ "$(uname -s)" = Linux ] || skip 'Linux: the emulator runs the functions as processes of this machine'
case $(uname -m) in
    x86_64) architecture=x86_64 ;;
    aarch64) architecture=arm64 ;;
    *) skip "a processor that Lambda knows, not $(uname -m)" ;;
esac
mkdir -p .aws-sam/ministack
timed 'install' install .cache/sam "aws-sam-cli==$SAM_VERSION" "cfn-lint==$CFN_LINT_VERSION"
timed 'install the emulator' install .cache/ministack "ministack==$MINISTACK_VERSION" "aws-sam-translator==$SAM_TRANSLATOR_VERSION"
(timed 'sam build' build)

export TEST_DEPLOY_SAM=$PWD/.cache/sam/bin/sam TEST_DEPLOY_PYTHON=$PWD/.cache/ministack/bin/python
export TEST_DEPLOY_BUILD=$PWD/.aws-sam/ministack/build TEST_DEPLOY_ARCHITECTURE=$architecture
# Without a package's name go test shows what a test prints as it prints it: the steps and their times.
cd test/deploy
exec go test -count=1 "$@"
