#!/usr/bin/env bash
# Sees to it that a Docker engine answers: one that runs already, else a dockerd that is started here, from Debian's docker.io, which is
# installed where it is missing. Prints the process id of a dockerd that it started, for whoever called to end it, or nothing. Where
# there can be none it prints why, in one line, and exits with 3.
#
#   started=$(scripts/docker.sh) || echo "no Docker: $started"
#
# DOCKERD_FLAGS are added to dockerd's, such as --storage-driver=vfs.
set -euo pipefail
cd "$(dirname "$0")/.."

log=.cache/docker/dockerd.log

answers() { docker info >/dev/null 2>&1; }

give_up() {
    echo "$1"
    exit 3
}

install_docker() {
    command -v apt-get >/dev/null || give_up 'it is not installed, and there is no apt-get to install it with'
    echo 'docker: installing docker.io' >&2
    scripts/apt.sh install docker.io >&2 || give_up 'docker.io could not be installed'
}

start() {
    mkdir -p "${log%/*}"
    echo "docker: starting dockerd, which writes to $log" >&2
    # shellcheck disable=SC2086 # the flags are words
    setsid dockerd ${DOCKERD_FLAGS:-} </dev/null >"$log" 2>&1 &
    pid=$!
    trap 'kill "$pid" 2>/dev/null || true' EXIT
    local limit=$((SECONDS + 120))
    until answers; do
        kill -0 "$pid" 2>/dev/null || give_up "dockerd ended at its start, see $log"
        [ "$SECONDS" -lt "$limit" ] || give_up "dockerd did not answer, see $log"
        sleep 0.2
    done
    trap - EXIT
    echo "$pid"
}

answers && exit
[ -z "${DOCKER_HOST:-}" ] || give_up "nothing answers at DOCKER_HOST=$DOCKER_HOST"
[ "$(id -u)" -eq 0 ] || give_up 'none answers, and starting one takes root'
command -v docker >/dev/null && command -v dockerd >/dev/null || install_docker
answers || start # the package may have started it as a service
