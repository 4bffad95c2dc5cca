#!/usr/bin/env bash
# Deletes the data of `make run`: the files that a run writes into its folder, and the folder when nothing else is in it. Not while a run
# uses it.
#
#   scripts/reset.sh .local
set -euo pipefail

folder=$1
if [ ! -e "$folder" ]; then
    echo "reset: there is no $folder"
    exit 0
fi
if [ ! -e "$folder/local.json" ] && [ ! -e "$folder/dynamodb.db" ] && [ ! -e "$folder/shared-local-instance.db" ]; then
    echo "reset: $folder holds no data of make run; if it is to go, delete it yourself" >&2
    exit 1
fi

# The lock says whether a run uses the folder; the number in it may be an ended run's, and another process's by now. Where the system has
# no flock, the number has to do.
in_use() {
    [ -e "$folder/lock" ] || return 1
    if command -v flock >/dev/null; then
        ! flock -n "$folder/lock" true
    else
        kill -0 "$pid" 2>/dev/null
    fi
}
pid=$(cat "$folder/lock" 2>/dev/null || true)
if in_use; then
    echo "reset: process $pid uses $folder; stop it first" >&2
    exit 1
fi
rm -f "$folder"/dynamodb.db* "$folder"/shared-local-instance.db* "$folder"/engine.log "$folder"/engine.pid "$folder"/local.json* "$folder"/lock
rm -f "$folder"/events/*.json "$folder"/events/.*.json.new "$folder"/queues/*.jsonl \
    "$folder"/events/log-*/*.log "$folder"/events/log-*/batches.json "$folder"/events/log-*/.batches.json.new
rmdir "$folder"/events/log-* "$folder"/events "$folder"/queues 2>/dev/null || true
if rmdir "$folder" 2>/dev/null; then
    echo "reset: deleted $folder"
else
    echo "reset: deleted the data in $folder; what else is in it stays"
fi
