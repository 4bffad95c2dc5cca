#!/usr/bin/env bash
# Runs govulncheck. Fails if it finds a vulnerability, or if the vulnerability database cannot be reached. With SKIP_WITHOUT_DATABASE=1,
# prints a line and succeeds in the second case.
#
#   [SKIP_WITHOUT_DATABASE=1] scripts/vulnerabilities.sh path/to/govulncheck ./...
set -uo pipefail

output=$("$@" 2>&1)
status=$?
if [ "$status" -eq 1 ] && grep -q 'fetching vulnerabilities: ' <<<"$output"; then
    reason='the vulnerability database cannot be reached'
    if [ "${SKIP_WITHOUT_DATABASE:-}" = 1 ]; then
        echo "skipped govulncheck: $reason"
        exit 0
    fi
    printf '%s\n' "$output" "govulncheck: $reason: nothing was checked. To continue without the check, set SKIP_WITHOUT_DATABASE=1." >&2
    exit 1
fi
printf '%s\n' "$output"
exit "$status"
