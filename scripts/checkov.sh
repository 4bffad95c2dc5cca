#!/usr/bin/env bash
# Has checkov look at template.yaml, as .checkov.yaml says, at the version that the Makefile names, from a virtual environment of its own
# in .cache/checkov: what it needs does not go with the SAM CLI. Without a Python that can make one, it says so in one line and succeeds.
#
#   CHECKOV_VERSION=… scripts/checkov.sh
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
scripts/python-venv.sh .cache/checkov "checkov==$CHECKOV_VERSION" || status=$?
if [ "$status" -eq 3 ]; then
    echo 'skipped checkov: it needs Python 3.10 or later with venv'
    exit 0
fi
[ "$status" -eq 0 ] || exit "$status"

.cache/checkov/bin/checkov --config-file .checkov.yaml
echo "checkov finds nothing but what .checkov.yaml waives"
