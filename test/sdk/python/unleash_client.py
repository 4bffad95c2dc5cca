"""Evaluates toggles with UnleashClient."""

import os

from lines import serve
from UnleashClient import UnleashClient

client = UnleashClient(
    url=os.environ["CLIENT_URL"] + "/api",
    app_name="sdk",
    custom_headers={"Authorization": os.environ["CLIENT_TOKEN"]},
    refresh_interval=1,
    metrics_interval=1,
)
client.initialize_client()


def evaluate(context, toggle):
    if not client.is_enabled(toggle["name"], context):
        return "off"
    variant = client.get_variant(toggle["name"], context)
    if not variant["enabled"]:
        return "on"
    return f"on {variant['name']} {variant['payload']['value']}"


serve(evaluate)
client.destroy()
