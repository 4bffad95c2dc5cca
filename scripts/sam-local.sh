#!/usr/bin/env bash
# Runs a command with what `sam local` needs: the SAM CLI (SAM_PROGRAM), a Docker engine, and the
# image of the containers of functions. If one of them is not available, prints the reason in one
# line and exits with status 1, or with --skip with status 0.
#
# When the command ends, or this script gets a signal, the script ends the command's processes,
# removes the containers of the functions that are built in a folder, and ends dockerd if it started
# it.
#
#   scripts/sam-local.sh [--skip] test-sam .aws-sam/local go -C test/samlocal test
set -euo pipefail
cd "$(dirname "$0")/.."

skip=''
if [ "$1" = --skip ]; then
    skip=1
    shift
fi
label=$1
build=$2
shift 2
timeout=60 # seconds in which sam stops its containers, and dockerd ends
command='' dockerd=''
instances=/proc/sys/fs/inotify/max_user_instances
before=$(cat "$instances" 2>/dev/null || echo 1024)

unavailable() {
    if [ -n "$skip" ]; then
        echo "skipped $label: $1"
        exit 0
    fi
    echo "$label: $1" >&2
    exit 1
}

# ends PID: waits until the process has ended, and fails after the timeout. -PID is a process group.
ends() {
    local limit=$((SECONDS + timeout))
    while kill -0 -- "$1" 2>/dev/null; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        sleep 0.1
    done
}

clean_up() {
    trap '' INT TERM HUP
    if [ -n "$command" ] && kill -TERM -- "-$command" 2>/dev/null; then
        ends "-$command" || kill -KILL -- "-$command" 2>/dev/null || true
    fi
    remove_containers
    [ -z "$dockerd" ] || end_dockerd
    limit_instances "$before"
}

# limit_instances N changes how many inotify instances a user can have, if this user may change it.
limit_instances() {
    [ "$(cat "$instances" 2>/dev/null)" = "$1" ] || { echo "$1" >"$instances"; } 2>/dev/null || true
}

# sam does not always remove its containers. They mount a function.
remove_containers() {
    local id
    for id in $(docker ps --all --quiet --filter label=sam.cli.container.type=lambda 2>/dev/null); do
        if docker inspect --format '{{range .Mounts}}{{.Source}}{{"\n"}}{{end}}' "$id" 2>/dev/null | grep -q "^$PWD/$build/"; then
            docker rm --force "$id" >/dev/null 2>&1 || true
        fi
    done
}

end_dockerd() {
    kill -TERM "$dockerd" 2>/dev/null || true
    ends "$dockerd" || kill -KILL "$dockerd" 2>/dev/null || true
}

status=0
reason=$(scripts/python-tool.sh sam --version 2>&1) || status=$?
[ "$status" -ne 3 ] || unavailable "$reason"
if [ "$status" -ne 0 ]; then
    echo "$reason" >&2
    unavailable 'the SAM CLI could not be installed'
fi

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

dockerd=$(scripts/docker.sh) || status=$?
if [ "$status" -eq 3 ]; then
    reason=$dockerd dockerd=''
    unavailable "it needs Docker: $reason"
fi
[ "$status" -eq 0 ] || exit "$status"
reason=$(scripts/sam-image.sh) || status=$?
[ "$status" -ne 3 ] || unavailable "it needs an image for the containers: $reason"
[ "$status" -eq 0 ] || exit "$status"

# sam needs an inotify instance for each function that it has invoked. The tests run several sam at
# the same time, which need more than the 128 that a user usually can have.
[ "$before" -ge 1024 ] || limit_instances 1024

# The command gets its own process group, so that all its processes can be ended.
set -m
SAM_PROGRAM=$PWD/.cache/sam/bin/sam "$@" &
command=$!
set +m
wait "$command" || status=$?
exit "$status"
