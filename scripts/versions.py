"""Says which version of the service a deployment replaces, and deletes old versions of the functions after it. Lambda keeps every version, of
which an account can have 75 GB in a region. Runs in the SAM CLI's virtual environment:

    scripts/python-tool.sh python scripts/versions.py announce prod 0.1.0+1a2b3c4d   # an environment of samconfig.toml
    scripts/python-tool.sh python scripts/versions.py prune prod
"""

import pathlib
import sys

import boto3
import tomlkit
from botocore.exceptions import BotoCoreError, ClientError

KEPT = 5  # versions of each function, besides those that an alias uses


def announce(stack, version):
    try:
        outputs = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0].get("Outputs", [])
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        print(f"{stack}: {version} is the first deployment")  # the stack does not exist
        return
    before = next((output["OutputValue"] for output in outputs if output["OutputKey"] == "Version"), "unknown")
    print(f"{stack}: from {before} to {version}")


def prune(stack):
    resources = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    functions = [
        resource["PhysicalResourceId"]
        for page in resources
        for resource in page["StackResourceSummaries"]
        if resource["ResourceType"] == "AWS::Lambda::Function"
    ]
    client = boto3.client("lambda")
    deleted = 0
    for function in functions:
        used = set()
        for page in client.get_paginator("list_aliases").paginate(FunctionName=function):
            for alias in page["Aliases"]:
                used |= {alias["FunctionVersion"], *alias.get("RoutingConfig", {}).get("AdditionalVersionWeights", {})}
        versions = [
            int(version["Version"])
            for page in client.get_paginator("list_versions_by_function").paginate(FunctionName=function)
            for version in page["Versions"]
            if version["Version"] != "$LATEST"
        ]
        for version in sorted(versions)[:-KEPT]:
            if str(version) not in used:
                client.delete_function(FunctionName=function, Qualifier=str(version))
                deleted += 1
    print(f"{stack}: deleted {deleted} old versions of {len(functions)} functions")


action, environment = sys.argv[1:3]
name = tomlkit.parse(pathlib.Path("samconfig.toml").read_text())[environment]["global"]["parameters"]["stack_name"]
try:
    if action == "announce":
        announce(name, sys.argv[3])
    else:
        prune(name)
except (BotoCoreError, ClientError) as error:
    sys.exit(f"{action} the versions of {name}: {error}")
