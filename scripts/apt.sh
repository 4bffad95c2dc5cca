#!/usr/bin/env bash
# Runs apt-get without prompts. If it fails, updates the package lists and runs it again. Prints
# output only if both runs fail.
#
#   scripts/apt.sh install docker.io
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
exec 9<"${BASH_SOURCE[0]}"
flock 9 # suites run at the same time

run() { apt-get "$@" -y -qq 2>&1 9>&-; } # a service that a package starts does not keep the lock

log=$(run "$@") && exit
log+=$(run update) && log+=$(run "$@") && exit
printf '%s\n' "$log" >&2
exit 1
