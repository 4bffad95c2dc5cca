#!/usr/bin/env bash
# Deletes the data of `make run`: the files that it wrote into its folder, and the folder if nothing
# else is in it. Refuses a folder that a running service uses and a folder that `make run` did not
# write.
#
#   scripts/reset.sh .local
set -euo pipefail

folder=$1
if [ ! -e "$folder" ]; then
    echo "reset: $folder does not exist"
    exit
fi
if [ ! -e "$folder/local.json" ] && [ ! -e "$folder/dynamodb.db" ] && [ "$(ls -A "$folder")" != lock ]; then
    echo "reset: $folder contains no data of make run; nothing was deleted" >&2
    exit 1
fi

# The lock tells whether a service uses the folder. The process id in it may be an old one, but
# macOS has no flock command.
pid=$(cat "$folder/lock" 2>/dev/null || true)
in_use() {
    [ -e "$folder/lock" ] || return 1
    if command -v flock >/dev/null; then
        ! flock -n "$folder/lock" true
    else
        kill -0 "$pid" 2>/dev/null
    fi
}
if in_use; then
    echo "reset: process $pid uses $folder: stop it first" >&2
    exit 1
fi

rm -f "$folder"/dynamodb.db* "$folder"/engine.log "$folder"/engine.pid "$folder"/local.json* "$folder"/lock
rm -f "$folder"/queues/*.jsonl
rm -rf "$folder"/events/stream-* "$folder"/events/access-log-* "$folder"/events/queue-*
rmdir "$folder"/events "$folder"/queues 2>/dev/null || true
if rmdir "$folder" 2>/dev/null; then
    echo "reset: deleted $folder"
else
    echo "reset: deleted the data of make run in $folder, and kept other files"
fi
