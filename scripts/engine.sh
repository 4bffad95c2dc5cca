#!/usr/bin/env bash
# Installs the engine of `make run` and of the tests, dynoxide, from its npm package for this
# platform. package.json pins the version.
#
#   scripts/engine.sh
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    cat >&2 <<TEXT
engine: $1
engine: other engines: run scripts/dynamodb-local.sh start (it needs Java 17 and Maven), or start any DynamoDB-compatible server.
engine: Then run make run DYNAMODB_ENDPOINT=URL.
TEXT
    exit 1
}

command -v npm >/dev/null || fail 'npm, which installs it, is missing'
npm ci --no-audit --no-fund >&2 || fail 'npm ci failed'
platform=$(node -p 'process.platform + "-" + process.arch')
package=@dynoxide/$platform
[ ! -d "node_modules/$package" ] || exit 0
# package-lock.json has the package for linux-x64 only: with packages that the registry does not
# have, npm ci would fail.
version=$(node -p "require('./package.json').optionalDependencies['@dynoxide/linux-x64']")
npm install --no-save --no-audit --no-fund "$package@$version" >/dev/null 2>&1 ||
    fail "$package $version, its package for this platform, cannot be installed"
