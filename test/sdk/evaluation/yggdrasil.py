"""Evaluates toggles with yggdrasil, the engine of the SDKs for Java, Python, .NET and Ruby, and of Unleash Edge.

Each line of the input is a JSON object with a state in the form of the client API, and contexts. The line of output for it
has, for each context and toggle, whether the toggle is on and the name of its variant, and the toggles that do not compile.
"""

import json
import re
import sys

from yggdrasil_engine.engine import UnleashEngine, YggdrasilError


def take_state(engine, state):
    """Returns the names of the toggles that do not compile. UnleashEngine.take_state does not report them."""
    response = engine.lib.take_state(engine.state, json.dumps({"version": 2, **state}).encode())
    with engine.materialize_pointer(response, object) as result:
        broken = re.findall(r'toggle_name: "(.*?)"', result.error_message or "")
        if result.error_message and not broken:
            raise YggdrasilError(result.error_message)
        return broken


def evaluate(engine, name, context):
    enabled = engine.check_enabled(name, context).is_enabled
    variant = engine.check_variant(name, context).variant
    return [enabled, variant.name if variant.enabled else ""]


for line in sys.stdin:
    batch = json.loads(line)
    engine = UnleashEngine()
    broken = take_state(engine, batch["state"])
    names = [feature["name"] for feature in batch["state"]["features"]]
    results = [[evaluate(engine, name, context) for name in names] for context in batch["contexts"]]
    print(json.dumps({"results": results, "broken": broken}), flush=True)
