#!/usr/bin/env bash
# Starts and stops AWS's DynamoDB Local. See --help.
set -euo pipefail

version=3.0.0
plugin_version=3.6.1 # of the Maven plugin that copies the artifacts
apple_silicon_version=1.0.392 # of the native library for Macs with Apple silicon, which is not among AWS's dependencies
main=software.amazon.dynamodb.services.local.main.ServerRunner

usage() {
    cat <<'TEXT'
usage: scripts/dynamodb-local.sh start|stop [--port N] [--data DIR] [--isolated]

start   installs DynamoDB Local with Maven (46 MB, once), starts it in the background, waits until it responds, and prints its URL for
        DYNAMODB_ENDPOINT. Does not start a second one on the same port.
stop    ends the one that start has started.

If Java, Maven or the download is missing, it prints the reason and exits with status 3.

  --port N     TCP port, default 8000
  --data DIR   folder of the data; without it they are in memory
  --isolated   separate tables for each access key, as the tests need

Needs Java 17 or later, Maven and curl. It listens on all addresses of this machine and accepts every access key: use it in networks that
you trust.
TEXT
}

say() { echo "dynamodb-local: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

unavailable() {
    echo "$*"
    exit 3
}

responds() { # to a request with a well-formed signature, which is not verified
    curl --silent --fail --max-time 5 --noproxy '*' --output /dev/null "$endpoint" --data '{}' \
        --header 'Content-Type: application/x-amz-json-1.0' --header 'X-Amz-Target: DynamoDB_20120810.ListTables' \
        --header 'Authorization: AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0'
}

running() { # whether the process in the file is a DynamoDB Local on this port
    [ -s "$pid_file" ] && ps -ww -o args= -p "$(cat "$pid_file")" 2>/dev/null | grep -q -F -- "$main -port $port "
}

install() {
    local found work
    command -v java >/dev/null || unavailable 'Java 17 or later is required, and java is not on the PATH'
    found=$(java -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)
    [ "${found:-0}" -ge 17 ] || unavailable "Java 17 or later is required, and java on the PATH is ${found:-unknown}"
    [ ! -e "$lib/DynamoDBLocal-$version.jar" ] || return 0
    command -v mvn >/dev/null || unavailable 'Maven is required for the installation, and mvn is not on the PATH'
    say "installing DynamoDB Local $version"
    work=$(mktemp -d "$lib.XXXXXX")
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$work'" EXIT
    cat >"$work/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>dynamodb-local</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>software.amazon.dynamodb</groupId><artifactId>DynamoDBLocal</artifactId><version>$version</version>
    </dependency>
    <dependency>
      <groupId>io.github.ganadist.sqlite4java</groupId><artifactId>libsqlite4java-osx-aarch64</artifactId>
      <version>$apple_silicon_version</version><type>dylib</type>
    </dependency>
  </dependencies>
</project>
POM
    mvn --batch-mode --strict-checksums --file "$work/pom.xml" \
        "org.apache.maven.plugins:maven-dependency-plugin:$plugin_version:copy-dependencies" -DincludeScope=runtime \
        >"$work/mvn.log" 2>&1 || unavailable "Maven failed: $(sed -n 's/^\[ERROR\] //p' "$work/mvn.log" | head -n 1 | cut -c 1-300)"
    # Otherwise it logs a stack trace for every refused request.
    echo 'rootLogger.level = off' >"$work/target/dependency/log4j2.properties"
    rm -rf "$lib"
    mv "$work/target/dependency" "$lib" # complete or not at all
    rm -rf "$work"
    trap - EXIT
}

prepare() { # sets the command
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
        fail "port $port is in use"
    fi
    install
    # The option cors allows the pages of one origin, which does not exist. By default the pages of
    # every site could read the data.
    command=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "-Dlog4j2.configurationFile=$lib/log4j2.properties"
        "-Djava.library.path=$lib" -cp "$lib/*" "$main" -port "$port" -disableTelemetry -cors http://none.invalid "${options[@]}")
    cd "$tools" # it writes a file into the current folder
}

start() {
    if running; then
        responds || fail "process $(cat "$pid_file") runs but does not respond, see $log"
        echo "$endpoint"
        return
    fi
    prepare
    nohup "${command[@]}" </dev/null >"$log" 2>&1 &
    local pid=$! limit=$((SECONDS + 60))
    echo "$pid" >"$pid_file"
    until responds; do
        kill -0 "$pid" 2>/dev/null || fail "it ended at its start, see $log"
        [ "$SECONDS" -lt "$limit" ] || { stop; fail "it did not respond within a minute, see $log"; }
        sleep 0.2
    done
    echo "$endpoint"
}

stop() {
    if running; then
        local pid limit=$((SECONDS + 10))
        pid=$(cat "$pid_file")
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null; do
            [ "$SECONDS" -lt "$limit" ] || kill -KILL "$pid" 2>/dev/null || true
            sleep 0.1
        done
    fi
    rm -f "$pid_file"
}

action='' port=8000 data='' options=(-sharedDb)
while [ $# -gt 0 ]; do
    case $1 in
        start | stop) action=$1 ;;
        --port) port=${2:?--port needs a number} && shift ;;
        --data) data=${2:?--data needs a folder} && shift ;;
        --isolated) options=() ;;
        -h | --help) usage && exit ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift
done
[ -n "$action" ] || { usage >&2 && exit 2; }
[[ $port =~ ^[1-9][0-9]{0,4}$ ]] || fail "--port $port is not a port"
if [ -n "$data" ]; then
    mkdir -p "$data"
    options+=(-dbPath "$(cd "$data" && pwd)")
else
    options+=(-inMemory)
fi
tools=$(cd "$(dirname "$0")/.." && pwd)/.cache/tools
mkdir -p "$tools"
lib=$tools/dynamodb-local-$version log=$tools/dynamodb-local-$port.log pid_file=$tools/dynamodb-local-$port.pid
endpoint=http://127.0.0.1:$port
"$action"
