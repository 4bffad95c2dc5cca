#!/usr/bin/env bash
# Installs SDKs into .cache/sdk, unpacks nginx unless it is installed, and runs test/sdk, which runs
# each against the service. What cannot be installed is skipped with one line.
#
#   scripts/test-sdk.sh [flags and packages of go test]
set -euo pipefail
cd "$(dirname "$0")/.."
sdk=$PWD/.cache/sdk
mkdir -p "$sdk"

skip() { echo "skipped $1 of test-sdk: $2"; }

# Installs a folder's npm packages, in the versions of its lock.
javascript() {
    local folder=$sdk/javascript
    command -v node >/dev/null && command -v npm >/dev/null || { skip 'the SDKs for JavaScript' 'Node.js or npm is missing'; return; }
    if ! cmp -s test/sdk/javascript/package-lock.json "$folder/installed.json"; then
        mkdir -p "$folder"
        cp test/sdk/javascript/package*.json "$folder"
        npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund >"$folder/npm.log" 2>&1 ||
            { skip 'the SDKs for JavaScript' "npm cannot install them, see $folder/npm.log"; return; }
        cp test/sdk/javascript/package-lock.json "$folder/installed.json"
    fi
    export SDK_JAVASCRIPT=$folder/node_modules
}

# python NAME VARIABLE: installs the packages of scripts/requirements/NAME.txt.
python() {
    local status=0
    scripts/python-venv.sh "$1" >"$sdk/$1.log" 2>&1 || status=$?
    case $status in
    0) export "$2=$PWD/.cache/$1/bin/python" ;;
    3) skip "$1" 'Python 3.10 or later with venv is missing' ;;
    *) skip "$1" "pip cannot install it, see $sdk/$1.log" ;;
    esac
}

# golang NAME FOLDER PACKAGE VARIABLE: builds a program in a module of its own.
golang() {
    if GOFLAGS='' CGO_ENABLED=0 go -C "$2" build -o "$sdk/go/$1" "$3" >"$sdk/go-$1.log" 2>&1; then
        export "$4=$sdk/go/$1"
    else
        skip "the SDK for Go of $2/$3" "it cannot be built: $(tail -n 1 "$sdk/go-$1.log" | cut -c 1-200)"
    fi
}

# jdk FOLDER POM VARIABLE: installs the SDK of a Maven project.
jdk() {
    local folder=$sdk/$1 pom=test/sdk/java/$2
    command -v mvn >/dev/null && java --list-modules 2>/dev/null | grep -q '^jdk.compiler' ||
        { skip "the SDK for Java of $pom" 'Maven or a JDK is missing'; return; }
    if ! cmp -s "$pom" "$folder/pom.xml"; then
        rm -rf "$folder"
        mkdir -p "$folder"
        mvn --batch-mode --strict-checksums --file "$pom" \
            org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
            -DincludeScope=runtime -DoutputDirectory="$folder" >"$folder/mvn.log" 2>&1 ||
            { skip "the SDK for Java of $pom" "Maven cannot install it, see $folder/mvn.log"; return; }
        cp "$pom" "$folder/pom.xml"
    fi
    export "$3=$folder"
}

# Finds the browser in which SDKs run in pages of another origin than the service.
browser() {
    CHROMIUM=$(scripts/chromium.sh) ||
        { skip 'the SDKs for JavaScript in pages' 'Chromium is not installed'; return; }
    export CHROMIUM
}

# Finds nginx, or unpacks Debian's package.
cache() {
    local folder=$sdk/nginx program
    if ! program=$(command -v nginx); then
        program=$folder/usr/sbin/nginx
        if [ ! -x "$program" ]; then
            command -v apt-get >/dev/null || { skip 'the cache' 'nginx and apt-get are missing'; return; }
            mkdir -p "$folder"
            (cd "$folder" && ../../../scripts/apt.sh download nginx && dpkg-deb -x nginx_*.deb .) ||
                { skip 'the cache' 'nginx could not be downloaded'; return; }
        fi
    fi
    "$program" -v 2>/dev/null || { skip 'the cache' "$program does not run on this machine"; return; }
    export TEST_NGINX=$program
}

# Finds Unleash Edge where an earlier run has built it, or builds it with EDGE=1.
edge() {
    local program=$sdk/edge/bin/unleash-edge
    if [ ! -x "$program" ]; then
        [ "${EDGE-}" = 1 ] || { skip 'Unleash Edge' 'EDGE=1 builds it, in several minutes'; return; }
        command -v cargo >/dev/null || { skip 'Unleash Edge' 'cargo is missing'; return; }
        cargo install --debug --locked --root "$sdk/edge" unleash-edge@19.15.0 >"$sdk/edge.log" 2>&1 ||
            { skip 'Unleash Edge' "cargo cannot build it, see $sdk/edge.log"; return; }
    fi
    export TEST_EDGE=$program
}

javascript
browser
cache
edge
python unleash-client-5 SDK_PYTHON_5
python unleash-client-6 SDK_PYTHON_6
python yggdrasil SDK_YGGDRASIL # the engine in several SDKs
golang v4 test/sdk/go ./v4 SDK_GO_4
golang v5 test/sdk/go ./v5 SDK_GO_5
golang example docs/examples/go . SDK_GO_EXAMPLE
jdk java pom.xml SDK_JAVA
jdk java-9 pom-9.xml SDK_JAVA_9

[ $# -gt 0 ] || set -- -parallel=4 ./test/sdk/...
exec go test -count=1 -timeout=30m "$@"
