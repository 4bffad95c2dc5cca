"""Deletes a stack whose first deployment failed, with its tables, so that it can be deployed again. Refuses every other
stack. If it is interrupted, run it again. Runs in the SAM CLI's virtual environment:

    scripts/python-tool.sh python scripts/recover.py prod   # an environment of samconfig.toml
"""

import pathlib
import sys

import boto3
import tomlkit
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

# A stack has these statuses only if it was never created completely, so its tables cannot have been
# used.
RECOVERABLE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")
WAIT = {"Delay": 5, "MaxAttempts": 360}


def delete_table(client, name):
    try:
        client.update_table(TableName=name, DeletionProtectionEnabled=False)
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAIT)  # until it is active
        client.delete_table(TableName=name)
    except client.exceptions.ResourceNotFoundException:
        return
    client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig=WAIT)
    print(f"deleted the table {name}")


def main(environment):
    config = tomlkit.parse(pathlib.Path("samconfig.toml").read_text())[environment]
    stack = config["global"]["parameters"]["stack_name"]
    cloudformation, dynamodb = boto3.client("cloudformation"), boto3.client("dynamodb")
    try:
        described = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
        status = described["StackStatus"]
        if status not in RECOVERABLE:
            sys.exit(f"the stack {stack} is {status}: only {' or '.join(RECOVERABLE)} can be recovered from")
        pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName=described["StackId"])
        events = [event for page in pages for event in page["StackEvents"]]
        tables = {event.get("PhysicalResourceId") for event in events if event["ResourceType"] == "AWS::DynamoDB::Table"}
        for table in sorted(filter(None, tables)):
            delete_table(dynamodb, table)
        cloudformation.delete_stack(StackName=stack)
        cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack, WaiterConfig=WAIT)
    except (BotoCoreError, ClientError, WaiterError) as error:
        sys.exit(f"recover the stack {stack}: {error}")
    print(f"deleted the stack {stack}")


main(sys.argv[1])
