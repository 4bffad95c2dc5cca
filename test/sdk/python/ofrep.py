"""Asks for toggles with OpenFeature's OFREP provider."""

import json
import os

from lines import serve
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

provider = OFREPProvider(
    os.environ["CLIENT_URL"],
    headers_factory=lambda: {"Authorization": "Bearer " + os.environ["CLIENT_TOKEN"]},
)
api.set_provider(provider)
client = api.get_client()


def evaluate(context, toggle):
    attributes = {name: value for name, value in context.items() if name not in ("userId", "properties")}
    sent = EvaluationContext(context["userId"], attributes | context["properties"])
    name = toggle["name"]
    if toggle["type"] == "boolean":
        return "on" if client.get_boolean_value(name, False, sent) else "off"
    if toggle["type"] == "json":
        details = client.get_object_details(name, {}, sent)
        value = json.dumps(details.value, separators=(",", ":"))
    else:
        details = client.get_string_details(name, "", sent)
        value = details.value
    return "off" if details.variant in (None, "disabled") else f"on {details.variant} {value}"


serve(evaluate)
