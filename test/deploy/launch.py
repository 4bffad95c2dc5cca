"""Starts ministack with what 1.5.33 lacks: ANY methods and gateway responses in its OpenAPI import, time to live and point-in-time recovery
of tables in stacks, SAM's transform of nested templates, and complete logs of functions on a busy machine.

It ends when its standard input is closed. Then it also ends the processes of its functions, which are in its process group, and deletes the
folder STATE, so that nothing remains of a test that was killed.
"""
import array
import contextlib
import fcntl
import functools
import os
import shutil
import signal
import sys
import termios
import threading
import time

from ministack import app
from ministack.core.lambda_runtime import ProvidedWorker
from ministack.services import apigateway_v1 as gateway
from ministack.services.cloudformation import engine, provisioners

ANY, RESPONSES = "x-amazon-apigateway-any-method", "x-amazon-apigateway-gateway-responses"
import_api, import_path = gateway._import_rest_api, gateway._import_path_item
gateway._OPENAPI_HTTP_METHODS.add("any")
create_any_table = provisioners._ddb_create
delete_any_table = provisioners._ddb_delete
parse_template, thread = engine._parse_template, threading.local()
drain = ProvidedWorker._drain_stderr_bounded


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


def create_table(logical_id, properties, stack_name):
    name, attributes = create_any_table(logical_id, properties, stack_name)
    if lifetime := properties.get("TimeToLiveSpecification"):
        provisioners._dynamodb._update_ttl({"TableName": name, "TimeToLiveSpecification": lifetime})
    recovery = properties.get("PointInTimeRecoverySpecification") or {}
    provisioners._dynamodb._pitr_settings[name] = str(recovery.get("PointInTimeRecoveryEnabled")).lower() == "true"
    return name, attributes


def delete_table(name, properties):
    if (provisioners._dynamodb._tables.get(name) or {}).get("DeletionProtectionEnabled"):
        raise ValueError("Table is protected against deletion")
    return delete_any_table(name, properties)


def parse_nested(text):
    template = parse_template(text)
    return engine._apply_transforms(template) if getattr(thread, "is_nested", False) else template


def nested(deploy):
    """Transforms the template that a function deploys. A nested stack is deployed in a thread of its own."""
    @functools.wraps(deploy)
    def with_transform(*arguments, **options):
        thread.is_nested = True
        try:
            return deploy(*arguments, **options)
        finally:
            thread.is_nested = False
    return with_transform


def drain_pipe(worker, *args, **options):
    """Waits until the emulator has read what the function wrote before it responded. The emulator itself waits 50 ms, and
    gives later lines to the next invocation."""
    unread, limit = array.array("i", [1]), time.monotonic() + 10
    with contextlib.suppress(AttributeError, OSError, ValueError):  # the function has ended
        while unread[0] and time.monotonic() < limit:
            fcntl.ioctl(worker._proc.stdout, termios.FIONREAD, unread)
            time.sleep(0.001)
    return drain(worker, *args, **options)


def end_with_holder():
    sys.stdin.buffer.read()
    state = os.environ["STATE"]
    shutil.rmtree(state, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(state))
    os.killpg(0, signal.SIGKILL)


gateway._import_path_item, gateway._import_rest_api = with_any, with_responses
engine._parse_template = parse_nested
stacks = provisioners._RESOURCE_HANDLERS["AWS::CloudFormation::Stack"]
stacks.update(create=nested(stacks["create"]), update=nested(stacks["update"]))
provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::Table"].update(create=create_table, delete=delete_table)
ProvidedWorker._drain_stderr_bounded = drain_pipe
threading.Thread(target=end_with_holder, daemon=True).start()
app.main()
