"""The protocol of the programs. See ../javascript/lines.js."""

import json
import sys


def serve(evaluate):
    """Calls evaluate(context, toggle), which returns a result, for each toggle of each line of the input."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps([evaluate(request["context"], toggle) for toggle in request["toggles"]]), flush=True)
