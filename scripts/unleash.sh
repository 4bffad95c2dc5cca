#!/usr/bin/env bash
# Installs Unleash, in the version of test/unleash/server, and PostgreSQL into .cache, and runs a
# command with their folders in TEST_UNLEASH and TEST_UNLEASH_POSTGRES. A PostgreSQL that is
# installed is used; otherwise its Debian packages are unpacked, which needs no root. If a tool
# cannot be installed, prints one line and succeeds.
#
#   scripts/unleash.sh COMMAND [ARGUMENT]...
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped, because Unleash cannot run: $1"
    exit 0
}

install_unleash() {
    command -v npm >/dev/null || skip 'npm is not installed'
    mkdir -p "$unleash"
    cmp -s test/unleash/server/package-lock.json "$unleash/installed.json" && return
    cp test/unleash/server/package*.json "$unleash"
    echo "installing Unleash into $unleash"
    # Scripts of packages do not run. npm may warn that its own Node.js is too old: Unleash runs on
    # the one in the packages.
    npm ci --prefix "$unleash" --ignore-scripts --no-audit --no-fund >"$unleash/npm.log" 2>&1 ||
        skip "npm cannot install Unleash, see $unleash/npm.log"
    cp test/unleash/server/package-lock.json "$unleash/installed.json"
}

# Prints the folder of initdb and postgres below a folder, or nothing.
programs() {
    { find "$1" -maxdepth 3 -path '*/bin/initdb' 2>/dev/null || true; } | sort -V | tail -n 1 | sed 's#/initdb$##'
}

# Downloads the packages of PostgreSQL that are missing on this machine. It needs no lock, because
# it installs none.
download() {
    apt-get install --download-only --yes --no-install-recommends -o Debug::NoLocking=1 \
        -o "Dir::Cache::archives=$1/archives" postgresql >"$1/apt.log" 2>&1
}

install_postgres() {
    local found work
    postgres=$(programs /usr/lib/postgresql)
    [ -z "$postgres" ] || return 0
    if found=$(command -v initdb); then
        postgres=$(dirname "$(readlink -f "$found")")
        return
    fi
    postgres=$(programs "$PWD/.cache/postgresql/usr/lib/postgresql")
    if [ -z "$postgres" ]; then
        command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
            skip 'PostgreSQL is not installed, and there is no apt-get'
        work=$PWD/.cache/postgresql.new
        rm -rf "$work"
        mkdir -p "$work/archives/partial"
        echo 'unpacking PostgreSQL into .cache/postgresql'
        download "$work" || { apt-get update -qq >/dev/null 2>&1 && download "$work"; } || # only root can update the lists
            skip "apt-get cannot download PostgreSQL: $(tail -n 1 "$work/apt.log")"
        for found in "$work"/archives/*.deb; do
            dpkg -x "$found" "$work"
        done
        rm -rf "$work/archives" .cache/postgresql
        mv "$work" .cache/postgresql # complete or not at all
        postgres=$(programs "$PWD/.cache/postgresql/usr/lib/postgresql")
        [ -n "$postgres" ] || skip 'the packages of PostgreSQL contain no initdb'
    fi
    LD_LIBRARY_PATH=$(find "$PWD/.cache/postgresql/usr/lib" -maxdepth 1 -name '*-linux-gnu' | head -n 1)
    export LD_LIBRARY_PATH
}

[ "$(uname -sm)" = 'Linux x86_64' ] || skip 'Unleash needs the Node.js of its packages, which is for Linux on x86_64'
unleash=$PWD/.cache/unleash
install_unleash
install_postgres
# PostgreSQL refuses to run as root. Then the user nobody runs it.
[ "$(id -u)" -ne 0 ] || setpriv --reuid=65534 --clear-groups test -x "$postgres/initdb" ||
    skip "PostgreSQL does not run as root, and the user nobody cannot run $postgres/initdb"

export TEST_UNLEASH=$unleash/node_modules TEST_UNLEASH_POSTGRES=$postgres
exec "$@"
