# pip install UnleashClient
import os
import time

from UnleashClient import UnleashClient

client = UnleashClient(
    url=os.environ["CLIENT_URL"] + "/api",
    app_name="shop",
    custom_headers={"Authorization": os.environ["CLIENT_TOKEN"]},
    refresh_interval=5,  # seconds
)
client.initialize_client()

context = {"userId": "7", "properties": {"country": "NO"}}
shown = None
while True:
    is_on = client.is_enabled("express-checkout", context)
    if is_on != shown:
        print("express-checkout is", "on" if is_on else "off", flush=True)
        shown = is_on
    time.sleep(1)
