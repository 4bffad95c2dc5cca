#!/usr/bin/env bash
# Looks for known vulnerabilities: of the Go modules with govulncheck, and of the libraries that the
# web pages contain with npm audit. Fails if there is one, or if a database cannot be reached. With
# SKIP_WITHOUT_DATABASE=1, prints a line and succeeds in the second case.
#
#   [SKIP_WITHOUT_DATABASE=1] scripts/vulnerabilities.sh path/to/govulncheck ./...
set -uo pipefail
folder=$(dirname "$0")/../pkg/api/console/libraries

# check NAME UNREACHABLE COMMAND...: UNREACHABLE is a pattern of the output if the database cannot
# be reached.
check() {
    local name=$1 unreachable=$2 output status
    output=$("${@:3}" 2>&1)
    status=$?
    if [ "$status" -eq 1 ] && grep -Eq "$unreachable" <<<"$output"; then
        local reason='the vulnerability database cannot be reached'
        if [ "${SKIP_WITHOUT_DATABASE:-}" = 1 ]; then
            echo "skipped $name: $reason"
            return 0
        fi
        printf '%s\n' "$output" "$name: $reason: nothing was checked. To continue without the check, set SKIP_WITHOUT_DATABASE=1." >&2
        return 1
    fi
    printf '%s\n' "$output"
    return "$status"
}

check govulncheck 'fetching vulnerabilities: ' "$@"
result=$?
check 'npm audit' 'audit endpoint returned an error|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN' npm audit --package-lock-only --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=1000 --prefix "$folder" || result=$?
exit "$result"
