"""Fails if a deployment would replace the logging role of API Gateway that this account and region already has. Other APIs depend on it.
Runs in the SAM CLI's virtual environment:

    scripts/python-tool.sh python scripts/logging-role.py prod   # an environment of samconfig.toml
"""

import pathlib
import sys

import boto3
import tomlkit
from botocore.exceptions import BotoCoreError, ClientError


def main(environment):
    config = tomlkit.parse(pathlib.Path("samconfig.toml").read_text())[environment]
    if "ApiGatewayAccount=external" in config["deploy"]["parameters"]["parameter_overrides"]:
        return
    try:
        client = boto3.client("apigateway")
        role = client.get_account().get("cloudwatchRoleArn", "")
    except (BotoCoreError, ClientError) as error:
        sys.exit(f"read the logging role of API Gateway: {error}")
    own = config["global"]["parameters"]["stack_name"] + "-GatewayAccountRole-"
    if role and not role.rpartition("/")[2].startswith(own):
        sys.exit(
            f"API Gateway already writes access logs of this account in {client.meta.region_name} with {role}.\n"
            f'To use this role, add "ApiGatewayAccount=external" to parameter_overrides in [{environment}.deploy.parameters] of samconfig.toml.\n'
            "If no other API uses it, remove it instead:\n"
            "  aws apigateway update-account --patch-operations op=replace,path=/cloudwatchRoleArn,value="
        )


main(sys.argv[1])
