#!/usr/bin/env bash
# Creates three people, a service account and an API token for `make e2e`, with tokens that expire
# after one day, and prints the file for its CREDENTIALS; or revokes the API token and deletes the
# accounts of that file, which may be empty. If create fails, it removes what it has created. Needs
# .cache/bin/toggleadmin (make toggleadmin; TOGGLEADMIN names another one) and node.
#
#   scripts/e2e-credentials.sh create --stack toggleadmin-staging >"$file"   # or --local
#   scripts/e2e-credentials.sh remove --stack toggleadmin-staging <"$file"
set -euo pipefail
toggleadmin=${TOGGLEADMIN:-$(dirname "$0")/../.cache/bin/toggleadmin}

action=$1
shift
installation=("$@")
run() { "$toggleadmin" "$@" "${installation[@]}" --json; }
get() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }

# Removes what the lines "tokens ID", "users ID" and "service-accounts ID" of stdin name.
remove() {
    local kind id failed=0
    while read -r kind id; do
        case $kind in
        tokens) run tokens revoke "$id" --yes </dev/null ;;
        *) run "$kind" delete "$id" --yes </dev/null ;;
        esac || failed=1
    done
    return "$failed"
}

person() { # NAME ROLE
    local id secret
    id=$(run users add --name "$1" --email "$1-$RANDOM$RANDOM@e2e.invalid" --role "$2" | get id) || return # a command substitution resets set -e
    echo "users $id" >>"$created"
    secret=$(run tokens create e2e --user "$id" --expires-in 1d | get secret) || return
    echo "{\"id\": $id, \"name\": \"$1\", \"role\": \"$2\", \"pat\": \"$secret\"}"
}

create() {
    local token admin editor viewer ci
    token=$(run tokens create e2e --expires-in 1d)
    echo "tokens $(get id <<<"$token")" >>"$created"
    admin=$(person admin Admin)
    editor=$(person editor Editor)
    viewer=$(person viewer Viewer)
    ci=$(run service-accounts add --name "ci-$RANDOM$RANDOM" --role Editor | get id)
    echo "service-accounts $ci" >>"$created"
    echo "{\"apiTokenId\": \"$(get id <<<"$token")\", \"apiToken\": \"$(get secret <<<"$token")\", \"users\": [$admin, $editor, $viewer]," \
        "\"serviceAccounts\": [{\"id\": $ci, \"name\": \"ci\", \"role\": \"Editor\"}]}"
}

case $action in
create)
    created=$(mktemp)
    trap 'status=$?; [ "$status" -eq 0 ] || remove <"$created" >&2; rm -f "$created"; exit "$status"' EXIT
    create
    ;;
remove)
    accounts=$(node -p "const text = require('fs').readFileSync(0, 'utf8');
        const c = text.trim() ? JSON.parse(text) : {apiTokenId: null, users: [], serviceAccounts: []};
        [...(c.apiTokenId ? ['tokens ' + c.apiTokenId] : []), ...c.users.map(a => 'users ' + a.id),
            ...c.serviceAccounts.map(a => 'service-accounts ' + a.id)].join('\n')")
    [ -z "$accounts" ] || remove <<<"$accounts"
    ;;
*)
    echo "unknown action '$action': create or remove" >&2
    exit 2
    ;;
esac
