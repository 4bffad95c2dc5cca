#!/usr/bin/env bash
# Manages a stack on AWS, for the targets of the Makefile with the same names. ENV is dev, staging
# or prod. The region and the credentials are those of the AWS SDKs, such as AWS_REGION and
# AWS_PROFILE.
#   scripts/stack.sh check|deploy ENV [NOW]   check only validates; NOW is 1: all at once instead of gradually
#   scripts/stack.sh package ENV [BUCKET]     without BUCKET, uploads nothing
#   scripts/stack.sh delete ENV
#   scripts/stack.sh recover ENV              deletes a stack whose first deployment failed, and its tables
#   scripts/stack.sh outputs ENV              prints lines NAME=value
#   scripts/stack.sh sync dev
#   scripts/stack.sh logs ENV FUNCTION        FUNCTION is a folder of functions/
# Exits with status 3 if there is no Python for the SAM CLI.
set -euo pipefail
cd "$(dirname "$0")/.."

# The SAM CLI does not know AWS_REGION, which other AWS tools prefer.
if [ -n "${AWS_REGION:-}" ]; then
    export AWS_DEFAULT_REGION=$AWS_REGION
fi

refuse() {
    echo "$1" >&2
    exit 2
}

sam() {
    scripts/python-tool.sh sam "$@" --config-env "$config"
}

# Prints the parameters of the environment, one per line, because the option --parameter-overrides
# replaces the whole list of samconfig.toml: with the version, and if NOW is 1 with
# DeploymentPreference=AllAtOnce.
parameters() {
    awk -v section="[$config.deploy.parameters]" -v version="$1" -v now="$2" '
        /^\[/ { inside = ($1 == section) }
        inside && /^parameter_overrides *= *\[/ { reading = 1 }
        reading {
            while (match($0, /"[^"]*"/)) {
                parameter = substr($0, RSTART + 1, RLENGTH - 2)
                $0 = substr($0, RSTART + RLENGTH)
                if (!now || parameter !~ /^DeploymentPreference=/) print parameter
            }
        }
        reading && /]/ { exit }
        END {
            if (!reading) exit 1
            if (now) print "DeploymentPreference=AllAtOnce"
            print "Version=" version
        }' samconfig.toml
}

action=${1:-}
environment=${2:-}
case $environment in
dev) config=default ;;
staging | prod) config=$environment ;;
*) refuse "unknown ENV '$environment': dev, staging or prod" ;;
esac

case $action in
check | deploy)
    now=${3:-}
    [[ $now =~ ^1?$ ]] || refuse "unknown NOW '$now': 1, or none for the environment's gradual deployment"
    if [ "$action" = deploy ]; then
        scripts/python-tool.sh python scripts/logging-role.py "$config"
        version=$(scripts/version.sh)
        parameters=$(parameters "$version" "$now") || refuse "samconfig.toml has no list parameter_overrides in [$config.deploy.parameters]"
        scripts/python-tool.sh python scripts/versions.py announce "$config" "$version"
        sam deploy --parameter-overrides $parameters # no value contains a space; for prod, samconfig.toml requires a confirmation
        scripts/python-tool.sh python scripts/versions.py prune "$config"
    fi
    ;;
package)
    folder=.aws-sam/package
    scripts/python-tool.sh python scripts/package.py .aws-sam/build/template.yaml "$folder" "$config" "${3:-}"
    # W8003: a value is inserted into a rule.
    scripts/python-tool.sh cfn-lint "$folder/template.json" --ignore-checks W8003
    echo "$folder/template.json"
    ;;
sync)
    [ "$environment" = dev ] || refuse "sync bypasses alarms and confirmation: use it only with ENV=dev, not '$environment'"
    rm -rf .aws-sam/cache # sync uses this cache, which does not notice changes of pkg/
    sam sync
    ;;
logs)
    function=${3:-}
    known=$(cd functions && echo *)
    [[ $function =~ ^[a-z-]+$ && " $known " == *" $function "* ]] || refuse "unknown FN '$function': one of $known"
    sam logs --name "$(scripts/logical-id.sh "$function")" --tail
    ;;
outputs)
    # JSON, because the table breaks long values. Keys and values contain no quotes.
    listed=$(sam list stack-outputs --output json)
    awk -F '"' '$2 == "OutputKey" { key = $4 } $2 == "OutputValue" { print key "=" $4 }' <<<"$listed"
    ;;
delete)
    if [ "$environment" = prod ]; then
        printf 'This deletes the stack toggleadmin-prod and its API. The tables are kept.\nEnter the name of the stack to continue: ' >&2
        IFS= read -r answer || true
        [ "$answer" = toggleadmin-prod ] || refuse "not deleted: this is not the name of the stack"
    fi
    sam delete
    ;;
recover) scripts/python-tool.sh python scripts/recover.py "$config" ;;
*) refuse "unknown action '$action': check, deploy, package, sync, logs, outputs, delete or recover" ;;
esac
