"""Starts ministack with two features that its OpenAPI import lacks in 1.5.33: ANY methods and gateway responses.

It ends when its standard input is closed. Then it also ends the processes of its functions, which are in its process group, and deletes the
folder STATE, so that nothing remains of a test that was killed.
"""
import contextlib
import os
import shutil
import signal
import sys
import threading

from ministack import app
from ministack.services import apigateway_v1 as gateway

ANY, RESPONSES = "x-amazon-apigateway-any-method", "x-amazon-apigateway-gateway-responses"
import_api, import_path = gateway._import_rest_api, gateway._import_path_item
gateway._OPENAPI_HTTP_METHODS.add("any")


def with_any(api_id, path, item, *rest):
    return import_path(api_id, path, {"any" if key == ANY else key: value for key, value in item.items()}, *rest)


def with_responses(spec, base=None):
    api_id = import_api(spec, base)
    for name, response in (spec.get(RESPONSES) or {}).items():
        status, _, body = gateway._put_gateway_response(api_id, name, response)
        if status >= 400:
            gateway._delete_rest_api(api_id)
            raise ValueError(f"gateway response {name}: {body!r}")
    return api_id


def end_with_holder():
    sys.stdin.buffer.read()
    state = os.environ["STATE"]
    shutil.rmtree(state, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(state))
    os.killpg(0, signal.SIGKILL)


gateway._import_path_item, gateway._import_rest_api = with_any, with_responses
threading.Thread(target=end_with_holder, daemon=True).start()
app.main()
