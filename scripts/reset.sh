#!/usr/bin/env bash
# Deletes the data of `make run`: a folder that a run has made, and no other, and not while a run uses it.
#
#   scripts/reset.sh .local
set -euo pipefail

folder=$1
if [ ! -e "$folder" ]; then
    echo "reset: there is no $folder"
    exit 0
fi
if [ ! -e "$folder/local.json" ] && [ ! -e "$folder/dynamodb.db" ]; then
    echo "reset: $folder holds no data of make run; if it is to go, delete it yourself" >&2
    exit 1
fi
pid=$(cat "$folder/lock" 2>/dev/null || true)
if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
    echo "reset: process $pid uses $folder; stop it first" >&2
    exit 1
fi
rm -rf "$folder"
echo "reset: deleted $folder"
