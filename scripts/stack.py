"""Does what sam deploy has no options for, for the targets of the Makefile with the same names. Runs in the SAM CLI's
virtual environment:

    scripts/python-tool.sh python scripts/stack.py check ENV [NOW]     only validates the arguments of deploy
    scripts/python-tool.sh python scripts/stack.py deploy ENV [NOW]    NOW is 1: all at once, without watching alarms
    scripts/python-tool.sh python scripts/stack.py outputs ENV         prints lines NAME=value
    scripts/python-tool.sh python scripts/stack.py logs ENV FUNCTION   FUNCTION is a folder of functions/
    scripts/python-tool.sh python scripts/stack.py delete ENV
    scripts/python-tool.sh python scripts/stack.py recover ENV

ENV is a section of samconfig.toml in the current folder; dev is the section default. deploy reads the output of sam
build in .aws-sam/build. Exits with status 2 if an argument is wrong.
"""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid

import boto3
import tomlkit
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGED = pathlib.Path(".aws-sam/packaged.yaml")

WATCHED_MINUTES = 10

# What an updated function is invoked with: an operation responds with 401, because there
# is no principal, a reader of a stream, a queue or the access log has nothing to do, and a
# scheduled function does its work. No change request is due at the time.
CONTROL_MESSAGE = {"messageType": "CONTROL_MESSAGE", "logEvents": []}
HARMLESS = {
    "time": "1970-01-01T00:00:00Z",
    "Records": [],
    "awslogs": {"data": base64.b64encode(gzip.compress(json.dumps(CONTROL_MESSAGE).encode())).decode()},
}
ATTEMPTS = 4  # a new permission of a role takes some seconds to have an effect

NESTED = "AWS::CloudFormation::Stack"

# A stack has these statuses only if it was never created completely, so its tables cannot have
# been used.
RECOVERABLE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")

SECONDS = 2  # between two requests while something is awaited
WAIT = {"Delay": 5, "MaxAttempts": 360}


def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(2)


class Environment:
    """A section of samconfig.toml."""

    def __init__(self, name):
        config = tomlkit.parse(pathlib.Path("samconfig.toml").read_text()).unwrap()
        sections = {
            "dev" if section == "default" else section: settings
            for section, settings in config.items()
            if isinstance(settings, dict) and "deploy" in settings
        }
        if name not in sections:
            refuse(f"unknown ENV '{name}': samconfig.toml has {', '.join(sections)}")
        self.name = name
        self.section = "default" if name == "dev" else name
        self.stack = sections[name]["global"]["parameters"]["stack_name"]
        deploy = sections[name]["deploy"]["parameters"]
        self.confirms = deploy.get("confirm_changeset", False)
        self.parameters = self.pairs(deploy, "parameter_overrides")
        self.tags = self.pairs(deploy, "tags")
        self.capabilities = deploy.get("capabilities", [])

    def pairs(self, deploy, name):
        """Returns a list of texts NAME=value as a dict."""
        texts = deploy.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) and "=" in text for text in texts):
            refuse(f'{name} in [{self.section}.deploy.parameters] of samconfig.toml must be a list of texts "NAME=value"')
        return dict(text.split("=", 1) for text in texts)


def version():
    return subprocess.check_output([ROOT / "scripts" / "version.sh"], text=True).strip()


def check(environment, now=""):
    """Validates the arguments of deploy, and whether the source tree can be deployed."""
    if now not in ("", "1"):
        refuse(f"unknown NOW '{now}': 1, or none for a deployment that watches alarms")
    if environment.name != "dev" and version().endswith(".modified"):
        refuse(f"{environment.stack} is deployed from a commit, but files of this tree are modified: commit them first")


# ---- Deploy


def check_logging_role(environment):
    """Fails if a deployment would replace the logging role of API Gateway that this account and region already has.
    Other APIs depend on it."""
    if environment.parameters.get("ApiGatewayAccount") == "external":
        return
    client = boto3.client("apigateway")
    role = client.get_account().get("cloudwatchRoleArn", "")
    if role and not role.rpartition("/")[2].startswith(environment.stack + "-GatewayAccountRole-"):
        sys.exit(
            f"API Gateway already writes access logs of this account in {client.meta.region_name} with {role}.\n"
            'To use this role, add "ApiGatewayAccount=external" to parameter_overrides in '
            f"[{environment.section}.deploy.parameters] of samconfig.toml.\n"
            "If no other API uses it, remove it instead:\n"
            "  aws apigateway update-account --patch-operations op=replace,path=/cloudwatchRoleArn,value="
        )


def describe(stack):
    """Returns the description of a stack, or None."""
    try:
        return boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            return None
        raise


def resources(stack, kind):
    """Returns the physical IDs of the resources of a type, by logical ID, with those of nested stacks."""
    found = {}
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    for resource in [resource for page in pages for resource in page["StackResourceSummaries"]]:
        physical = resource.get("PhysicalResourceId")
        if physical and resource["ResourceType"] == NESTED:
            found |= resources(physical, kind)
        elif physical and resource["ResourceType"] == kind:
            found[resource["LogicalResourceId"]] = physical
    return found


def events(stack, since=None):
    """Returns the events of a stack, given by its ID, and of its nested stacks, the newest of each first. Without since,
    all of them."""
    found = []
    for page in boto3.client("cloudformation").get_paginator("describe_stack_events").paginate(StackName=stack):
        found += page["StackEvents"]
        if since and found[-1]["Timestamp"] < since:
            break
    found = [event for event in found if not since or event["Timestamp"] >= since]
    nested = {event["PhysicalResourceId"] for event in found
              if event["ResourceType"] == NESTED and event.get("PhysicalResourceId") not in (None, "", stack)}
    return found + [event for stack in sorted(nested) for event in events(stack, since)]


def rollback_configuration(outputs, now):
    """Returns the alarm that CloudFormation watches, if the stack has one. CloudFormation would use that of the last
    update if the list was left out."""
    if now or "ReleaseAlarm" not in outputs:
        return {"RollbackTriggers": [], "MonitoringTimeInMinutes": 0}
    trigger = {"Arn": outputs["ReleaseAlarm"], "Type": "AWS::CloudWatch::CompositeAlarm"}
    return {"RollbackTriggers": [trigger], "MonitoringTimeInMinutes": WATCHED_MINUTES}


def package(environment):
    """Uploads the functions of the build and the template, and returns the URL of the template: it is too large to be
    passed as text."""
    sam = pathlib.Path(sys.executable).with_name("sam")
    options = "--resolve-s3", "--s3-prefix", environment.stack, "--output-template-file", PACKAGED
    if subprocess.run([sam, "package", *options], stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"sam package has failed, so {environment.stack} is not deployed")
    template = PACKAGED.read_bytes()
    bucket = re.search(rb"s3://([^/\s]+)/", template)[1].decode()
    key = f"{environment.stack}/{hashlib.sha256(template).hexdigest()}.template"
    s3 = boto3.client("s3")
    s3.put_object(Bucket=bucket, Key=key, Body=template)
    return f"{s3.meta.endpoint_url}/{bucket}/{key}"


def create_change_set(environment, exists, template, parameters, configuration):
    """Returns the ID of a change set."""
    cloudformation = boto3.client("cloudformation")
    change_set = cloudformation.create_change_set(
        StackName=environment.stack,
        ChangeSetName="deploy-" + uuid.uuid4().hex,
        ChangeSetType="UPDATE" if exists else "CREATE",
        TemplateURL=template,
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
        Capabilities=environment.capabilities,
        Tags=[{"Key": name, "Value": value} for name, value in environment.tags.items()],
        RollbackConfiguration=configuration,
    )["Id"]
    try:
        cloudformation.get_waiter("change_set_create_complete").wait(ChangeSetName=change_set, WaiterConfig={"Delay": 1})
    except WaiterError as error:
        reason = error.last_response.get("StatusReason", "")
        cloudformation.delete_change_set(ChangeSetName=change_set)
        sys.exit(f"{environment.stack} cannot be deployed: {reason or error}")
    return change_set


def print_changes(change_set):
    pages = boto3.client("cloudformation").get_paginator("describe_change_set").paginate(ChangeSetName=change_set)
    for page in pages:
        for change in page["Changes"]:
            resource = change["ResourceChange"]
            replaced = ", replaced" if resource.get("Replacement") == "True" else ""
            print(f"  {resource['Action']:<8} {resource['ResourceType']:<34} {resource['LogicalResourceId']}{replaced}")


def failure(function):
    """Invokes a function and returns its error; empty: none."""
    client = boto3.client("lambda", config=Config(read_timeout=90, retries={"total_max_attempts": 1}))
    error = ""
    for attempt in range(ATTEMPTS):
        time.sleep(5 * attempt)
        try:
            response = client.invoke(FunctionName=function, Payload=json.dumps(HARMLESS))
        except (BotoCoreError, ClientError) as raised:
            error = str(raised)
            continue
        if "FunctionError" not in response:
            return ""
        error = response["Payload"].read().decode() or response["FunctionError"]
    return error


def follow(stack, started, exists):
    """Prints what fails until the stack has a final status, and returns it. An update is cancelled if a function that
    was updated does not work. The first deployment is not tested in this way: nobody uses it yet."""
    cloudformation = boto3.client("cloudformation")
    seen, broken = set(), False
    while True:
        described = describe(stack)
        status = described["StackStatus"]
        for event in reversed(events(described["StackId"], started)):
            if event["EventId"] in seen:
                continue
            seen.add(event["EventId"])
            if event["ResourceStatus"].endswith("_FAILED"):
                print(f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', event['ResourceStatus'])}")
            complete = event["ResourceStatus"] in ("CREATE_COMPLETE", "UPDATE_COMPLETE") and "ROLLBACK" not in status
            if exists and not broken and complete and event["ResourceType"] == "AWS::Lambda::Function":
                if error := failure(event["PhysicalResourceId"]):
                    print(f"{event['LogicalResourceId']} does not work: {error}")
                    broken = True
                    if status == "UPDATE_IN_PROGRESS":
                        cloudformation.cancel_update_stack(StackName=stack)
                else:
                    print(f"{event['LogicalResourceId']} works")
        if not status.endswith("_IN_PROGRESS"):
            return "a function does not work" if broken and status == "UPDATE_COMPLETE" else status
        time.sleep(SECONDS)


def deploy(environment, now=""):
    """Does the same as sam deploy, with the version and the alarms that CloudFormation watches: sam deploy has no option
    for the latter."""
    check(environment, now)
    check_logging_role(environment)
    check_concurrency(environment)
    described = describe(environment.stack)
    if described and described["StackStatus"] in RECOVERABLE:
        sys.exit(f"{environment.stack} is {described['StackStatus']}: make recover ENV={environment.name} deletes it")
    exists = bool(described) and described["StackStatus"] != "REVIEW_IN_PROGRESS"
    outputs = {output["OutputKey"]: output["OutputValue"] for output in (described or {}).get("Outputs", [])}
    previous = f"from {outputs.get('Version', 'unknown')} to" if exists else "the first deployment is"
    print(f"{environment.stack}: {previous} {version()}")

    parameters = environment.parameters | {"Version": version()} | ({"DeploymentPreference": "AllAtOnce"} if now else {})
    configuration = rollback_configuration(outputs, now)
    change_set = create_change_set(environment, exists, package(environment), parameters, configuration)
    print_changes(change_set)
    cloudformation = boto3.client("cloudformation")
    if environment.confirms:
        print(f"Deploy these changes to {environment.stack}? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip() != "y":
            cloudformation.delete_change_set(ChangeSetName=change_set)
            refuse("not deployed")
    started = cloudformation.describe_change_set(ChangeSetName=change_set)["CreationTime"]
    cloudformation.execute_change_set(ChangeSetName=change_set)
    if configuration["RollbackTriggers"]:
        print(f"CloudFormation rolls back if ReleaseAlarm fires within {WATCHED_MINUTES} minutes of the changes.")
    status = follow(environment.stack, started, exists)
    if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        sys.exit(f"{environment.stack}: {status}")
    protect(environment)
    print(f"{environment.stack}: {status}")


def protect(environment):
    """Protects the stack against deletion if its tables are protected. There is no property of a template for it."""
    if environment.parameters.get("DeletionProtection") == "true":
        boto3.client("cloudformation").update_termination_protection(
            StackName=environment.stack, EnableTerminationProtection=True
        )


def check_concurrency(environment):
    """Fails if Lambda would reject the reserved concurrency: 100 of the account must remain."""
    functions = ["AuthorizerConcurrency"]
    if environment.parameters.get("ClientApi") == "true":
        functions.append("ClientConcurrency")
    reserved = sum(int(environment.parameters.get(name, 0)) for name in functions)
    client = boto3.client("lambda")
    limit = client.get_account_settings()["AccountLimit"]["ConcurrentExecutions"] if reserved else 0
    if reserved > max(limit - 100, 0):
        sys.exit(
            f"{environment.stack} reserves a concurrency of {reserved}, but this account has {limit} in "
            f"{client.meta.region_name}, of which 100 must remain. Request a higher quota for Concurrent executions "
            f"in Service Quotas, or lower AuthorizerConcurrency and ClientConcurrency in "
            f"[{environment.section}.deploy.parameters] of samconfig.toml."
        )


# ---- Other actions


def existing(environment):
    """Returns the description of the environment's stack, which must exist."""
    return describe(environment.stack) or sys.exit(f"the stack {environment.stack} does not exist")


def outputs(environment):
    for output in existing(environment).get("Outputs", []):
        print(f"{output['OutputKey']}={output['OutputValue']}")


def logs(environment, function=""):
    """Prints the lines that a function has logged in the last ten minutes, and those that it logs, until interrupted."""
    known = sorted(folder.name for folder in (ROOT / "functions").iterdir())
    if function not in known:
        refuse(f"unknown FN '{function}': one of {' '.join(known)}")
    existing(environment)
    logical = "".join(word.capitalize() for word in function.split("-")) + "Function"
    functions = resources(environment.stack, "AWS::Lambda::Function")
    if logical not in functions:
        sys.exit(f"the stack {environment.stack} has no function {function}")
    name = functions[logical]
    group = boto3.client("lambda").get_function_configuration(FunctionName=name)["LoggingConfig"]["LogGroup"]
    client, since, seen = boto3.client("logs"), int((time.time() - 600) * 1000), set()
    while True:
        for page in client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since):
            for event in page["events"]:
                # A stream of a log group that functions share is called 2026/11/26/FUNCTION[VERSION]….
                if f"/{name}[" in event["logStreamName"] and event["eventId"] not in seen:
                    seen.add(event["eventId"])
                    print(event["message"].rstrip(), flush=True)
        since = max(since, int((time.time() - 60) * 1000))  # lines can arrive late
        time.sleep(SECONDS)


def delete(environment):
    existing(environment)
    if environment.confirms:
        print(
            f"This deletes the stack {environment.stack} and its API. The tables are kept.\n"
            "Enter the name of the stack to continue: ",
            end="",
            flush=True,
        )
        if sys.stdin.readline().rstrip("\n") != environment.stack:
            refuse("not deleted: this is not the name of the stack")
    boto3.client("cloudformation").update_termination_protection(
        StackName=environment.stack, EnableTerminationProtection=False
    )
    delete_stack(environment.stack)


def delete_stack(stack):
    cloudformation = boto3.client("cloudformation")
    stack_id = describe(stack)["StackId"]
    cloudformation.delete_stack(StackName=stack)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack_id, WaiterConfig=WAIT)
    print(f"deleted the stack {stack}")


def recover(environment):
    """Deletes a stack whose first deployment failed, with its tables, so that it can be deployed again. Refuses every
    other stack. If it is interrupted, run it again."""
    described = existing(environment)
    status = described["StackStatus"]
    if status not in RECOVERABLE:
        sys.exit(f"the stack {environment.stack} is {status}: only {' or '.join(RECOVERABLE)} can be recovered from")
    tables = {event.get("PhysicalResourceId") for event in events(described["StackId"])
              if event["ResourceType"] == "AWS::DynamoDB::Table"}
    for table in sorted(filter(None, tables)):
        delete_table(table)
    delete_stack(environment.stack)


def delete_table(name):
    client = boto3.client("dynamodb")
    try:
        client.update_table(TableName=name, DeletionProtectionEnabled=False)
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAIT)  # until it is active
        client.delete_table(TableName=name)
    except client.exceptions.ResourceNotFoundException:
        return
    client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig=WAIT)
    print(f"deleted the table {name}")


ACTIONS = {action.__name__: action for action in (check, deploy, outputs, logs, delete, recover)}


def main(action="", environment="", *arguments):
    if action not in ACTIONS:
        refuse(f"unknown action '{action}': {', '.join(ACTIONS)}")
    if region := os.environ.get("AWS_REGION"):
        os.environ["AWS_DEFAULT_REGION"] = region  # which the SDK for Python reads
    environment = Environment(environment)
    try:
        ACTIONS[action](environment, *arguments)
    except (BotoCoreError, ClientError, WaiterError) as error:
        sys.exit(f"{action} {environment.stack}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(*sys.argv[1:])
