#!/usr/bin/env bash
# Does with a stack on AWS what the Makefile's targets of the same names say. ENV is an environment of samconfig.toml; region and
# credentials are those of the AWS SDKs: AWS_PROFILE, AWS_REGION and their like.
#
#   scripts/stack.sh check|deploy|delete ENV   check only refuses an ENV that is none
#   scripts/stack.sh outputs ENV               NAME=value, a line each
#   scripts/stack.sh sync dev
#   scripts/stack.sh logs ENV FUNCTION         a folder of functions/
#
# STACK_SAM is the command that plays sam, for tests.
set -euo pipefail
cd "$(dirname "$0")/.."

# The SAM CLI knows this name only; all other tools of AWS know AWS_REGION, and prefer it.
if [ -n "${AWS_REGION:-}" ]; then
    export AWS_DEFAULT_REGION=$AWS_REGION
fi

refuse() {
    echo "$1" >&2
    exit 2
}

sam() {
    # shellcheck disable=SC2086 # several words on purpose
    ${STACK_SAM:-scripts/sam-tools.sh sam} "$@" --config-env "$config"
}

action=$1
environment=$2
case $environment in
dev) config=default ;;
staging | prod) config=$environment ;;
*) refuse "unknown ENV '$environment': dev, staging or prod" ;;
esac

case $action in
check) ;;
deploy)
    sam deploy # asks by itself where samconfig.toml says so: prod
    ;;
sync)
    [ "$environment" = dev ] || refuse "sync changes a stack in passing, past alarms and approval: only ENV=dev, not '$environment'"
    rm -rf .aws-sam/cache # which sync always uses, and which looks at functions/ alone: it would ship old binaries when pkg/ changed
    sam sync
    ;;
logs)
    function=${3:-}
    known=$(cd functions && echo *)
    [[ $function =~ ^[a-z-]+$ && " $known " == *" $function "* ]] || refuse "unknown FN '$function': one of $known"
    sam logs --name "$(scripts/logical-id.sh "$function")" --tail
    ;;
outputs)
    # Its table breaks long values. Keys and values hold no quotes.
    listed=$(sam list stack-outputs --output json)
    awk -F '"' '$2 == "OutputKey" { key = $4 } $2 == "OutputValue" { print key "=" $4 }' <<<"$listed"
    ;;
delete)
    if [ "$environment" = prod ]; then
        printf 'This deletes the stack toggleadmin-prod: the API is gone at once; tables stay, without an owner.\nIts name, to go on: ' >&2
        IFS= read -r answer || true
        [ "$answer" = toggleadmin-prod ] || refuse "not deleted: that is not its name"
    fi
    sam delete
    ;;
*) refuse "unknown action '$action': check, deploy, sync, logs, outputs or delete" ;;
esac
