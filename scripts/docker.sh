#!/usr/bin/env bash
# Provides a Docker engine. If none responds, starts dockerd, and installs docker.io of Debian if it
# is missing. Prints the process ID of a dockerd that it started, so that the caller can end it, or
# nothing. If there can be none, prints the reason in one line and exits with status 3.
#
#   started=$(scripts/docker.sh) || echo "no Docker: $started"
#
# DOCKERD_FLAGS are added to the flags of dockerd, for example --storage-driver=vfs.
set -euo pipefail
cd "$(dirname "$0")/.."

log=.cache/docker/dockerd.log

responds() { docker info >/dev/null 2>&1; }

give_up() {
    echo "$1"
    exit 3
}

install_docker() {
    command -v apt-get >/dev/null || give_up 'it is not installed, and there is no apt-get'
    echo 'docker: installing docker.io' >&2
    scripts/apt.sh install docker.io >&2 || give_up 'docker.io could not be installed'
}

start() {
    mkdir -p "${log%/*}"
    echo "docker: starting dockerd, log in $log" >&2
    # shellcheck disable=SC2086 # several flags
    setsid dockerd ${DOCKERD_FLAGS:-} </dev/null >"$log" 2>&1 &
    pid=$!
    trap 'kill "$pid" 2>/dev/null || true' EXIT
    local limit=$((SECONDS + 120))
    until responds; do
        kill -0 "$pid" 2>/dev/null || give_up "dockerd ended, see $log"
        [ "$SECONDS" -lt "$limit" ] || give_up "dockerd did not respond, see $log"
        sleep 0.2
    done
    trap - EXIT
    echo "$pid"
}

responds && exit
[ -z "${DOCKER_HOST:-}" ] || give_up "DOCKER_HOST=$DOCKER_HOST does not respond"
[ "$(uname -s)" = Linux ] && [ "$(id -u)" -eq 0 ] || give_up 'docker info fails: start Docker'
command -v docker >/dev/null && command -v dockerd >/dev/null || install_docker
responds || start # the package may have started it as a service
