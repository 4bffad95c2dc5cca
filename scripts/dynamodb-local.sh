#!/usr/bin/env bash
# Gets AWS's DynamoDB Local by Maven into a folder, whole or not at all. Where something is missing it says so in one line and fails.
#
#   scripts/dynamodb-local.sh 3.0.0 .cache/tools/dynamodb-local-3.0.0
set -euo pipefail

version=$1
folder=${2%/}

# Pinned as well: what copies the artifacts, and the native library for Macs with Apple silicon, which AWS's own list of dependencies lacks.
plugin_version=3.6.1
apple_silicon_version=1.0.392

fail() {
    echo "DynamoDB Local: $1" >&2
    exit 1
}

# The major version, 8 for the 1.8 of old. Macs have a java that only says that there is none.
java_version() {
    java -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1
}

command -v java >/dev/null || fail 'it needs Java 17 or newer, and there is no java on the PATH'
found=$(java_version || true)
[ "${found:-0}" -ge 17 ] || fail "it needs Java 17 or newer, and java on the PATH is ${found:-none}"
[ -e "$folder/DynamoDBLocal-$version.jar" ] && exit
command -v mvn >/dev/null || fail 'it needs Maven to get it, and there is no mvn on the PATH'

echo "getting DynamoDB Local $version (46 MB, once)"
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
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
    "org.apache.maven.plugins:maven-dependency-plugin:$plugin_version:copy-dependencies" \
    -DincludeScope=runtime >"$work/mvn.log" 2>&1 ||
    fail "it needs Maven to get it, which says: $(sed -n 's/^\[ERROR\] //p' "$work/mvn.log" | head -n 1 | cut -c 1-300)"

# Else every refused request, failed conditions too, is written out with its stack.
echo 'rootLogger.level = off' >"$work/target/dependency/log4j2.properties"
rm -rf "$folder"
mv "$work/target/dependency" "$folder"
