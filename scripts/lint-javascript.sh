#!/usr/bin/env bash
# Checks JavaScript: the style of all of it with oxlint, and the types of the modules of the web
# pages with tsc. Their libraries, which are copies of npm packages, have no types: what tsc says
# about them is left out.
#
#   scripts/lint-javascript.sh path/to/node_modules/.bin
set -uo pipefail
cd "$(dirname "$0")/.."
tools=$1
result=0

git ls-files --cached --others --exclude-standard '*.js' '*.mjs' | grep -v /vendor/ | xargs "$tools/oxlint" -c scripts/javascript/oxlint.json --format=unix || result=1

types=$("$tools/tsc" -p scripts/javascript --pretty false)
status=$?
# The first line of an error begins with its file, and those that explain it are indented.
problems=$(awk '/^[^ ]/ { skip = /\/static\/vendor\// } !skip' <<<"$types")
if [ -n "$problems" ]; then
    printf '%s\n' "$problems"
    result=1
elif [ "$status" -ne 0 ] && [ -z "$types" ]; then # tsc did not run
    result=1
fi
exit "$result"
