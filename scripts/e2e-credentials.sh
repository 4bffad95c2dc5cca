#!/usr/bin/env bash
# Creates three people, a service account and an API token for `make e2e`, with tokens that expire after one day, and prints the file for its
# CREDENTIALS; or disables the accounts of that file. Needs .cache/bin/toggleadmin (make toggleadmin) and node.
#
#   scripts/e2e-credentials.sh create --stack toggleadmin-staging >e2e.json   # or --local
#   scripts/e2e-credentials.sh disable --stack toggleadmin-staging <e2e.json
set -euo pipefail
toggleadmin=$(dirname "$0")/../.cache/bin/toggleadmin

action=$1
shift
installation=("$@")
run() { "$toggleadmin" "$@" "${installation[@]}" --json; }
get() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }

person() { # NAME ROLE
    local id secret
    id=$(run users add --name "$1" --email "$1-$RANDOM$RANDOM@e2e.invalid" --role "$2" | get id)
    secret=$(run tokens create e2e --user "$id" --expires-in 1d | get secret)
    echo "{\"id\": $id, \"name\": \"$1\", \"role\": \"$2\", \"pat\": \"$secret\"}"
}

case $action in
create)
    api=$(run tokens create e2e --expires-in 1d | get secret)
    admin=$(person admin Admin) editor=$(person editor Editor) viewer=$(person viewer Viewer)
    ci=$(run service-accounts add --name "ci-$RANDOM$RANDOM" --role Editor | get id)
    echo "{\"apiToken\": \"$api\", \"users\": [$admin, $editor, $viewer]," \
        "\"serviceAccounts\": [{\"id\": $ci, \"name\": \"ci\", \"role\": \"Editor\"}]}"
    ;;
disable)
    accounts=$(node -p "const c = JSON.parse(require('fs').readFileSync(0));
        [...c.users.map(a => 'users ' + a.id), ...c.serviceAccounts.map(a => 'service-accounts ' + a.id)].join('\n')")
    while read -r kind id; do
        run "$kind" disable "$id" --yes
    done <<<"$accounts"
    ;;
*)
    echo "unknown action '$action': create or disable" >&2
    exit 2
    ;;
esac
