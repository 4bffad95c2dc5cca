#!/usr/bin/env bash
# Runs apt-get without prompts. If it fails, updates the package lists and runs it again. Prints
# output only if both runs fail.
#
#   scripts/apt.sh install docker.io
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

log=$(apt-get "$1" -y -qq "${@:2}" 2>&1) && exit
log+=$(apt-get update -qq 2>&1) && log+=$(apt-get "$1" -y -qq "${@:2}" 2>&1) && exit
printf '%s\n' "$log" >&2
exit 1
