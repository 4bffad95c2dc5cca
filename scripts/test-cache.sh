#!/usr/bin/env bash
# Runs test/cache, which sends requests of applications through nginx. If nginx is not installed,
# unpacks Debian's package into .cache. Without both, prints one line and succeeds.
#
#   scripts/test-cache.sh [flags of the test]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "skipped test-cache: $1"
    exit 0
}

nginx=$(command -v nginx || true)
if [ -z "$nginx" ]; then
    folder=$PWD/.cache/tools/nginx
    nginx=$folder/usr/sbin/nginx
    if [ ! -x "$nginx" ]; then
        command -v apt-get >/dev/null || skip 'it needs nginx or apt-get'
        rm -rf "$folder"
        mkdir -p "$folder"
        (cd "$folder" && ../../../scripts/apt.sh download nginx) || skip 'nginx could not be downloaded'
        dpkg-deb -x "$folder"/nginx_*.deb "$folder"
    fi
fi
"$nginx" -v 2>/dev/null || skip "$nginx does not run on this machine"
TEST_NGINX=$nginx go test -count=1 "$@" ./test/cache
