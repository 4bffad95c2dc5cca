"""Checks docs/deployer-policy*.json, and compares them with the permissions that CloudFormation's resource types declare, for the types of
template.yaml and delivery.yaml after SAM's transform. The declarations are those of cfn-lint. Runs in the SAM CLI's virtual environment:

    scripts/python-tool.sh python scripts/deployer-policy.py
"""

import fnmatch
import json
import pathlib
import sys

import expansion

# Nine tenths of the characters of a managed policy, without white space.
MAX_POLICY = 6144 * 9 // 10

# Declared permissions for what no resource of the template has.
NOT_NEEDED = {
    "cloudformation:SetStackPolicy": "policies of stacks",
    "dynamodb:*Replica": "replicas",
    "dynamodb:*KinesisStreamingDestination": "streams to Kinesis",
    "kinesis:*": "streams to Kinesis",
    "dynamodb:ImportTable": "imports from S3",
    "s3:GetObjectMetadata": "imports from S3",
    "dynamodb:UpdateContributorInsights": "contributor insights",
    "dynamodb:DeleteResourcePolicy": "policies of tables",
    "dynamodb:PutResourcePolicy": "policies of tables",
    **dict.fromkeys(("dynamodb:" + name for name in
                     ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")), "replicas of items"),
    "kms:*": "customer managed keys",
    "iam:UpdateRoleDescription": "descriptions of roles",
    "ec2:*": "functions in a VPC",
    "elasticfilesystem:*": "file systems of functions",
    "s3files:*": "file systems of functions",
    "firehose:TagDeliveryStream": "deliveries of logs",
    "s3:REST.PUT.OBJECT": "deliveries of logs",
    "route53:ListHostedZones": "records in a zone given by its name",
    "wafv2:*PermissionPolicy": "web ACLs shared with other accounts",
    **dict.fromkeys((service + ":*" for service in
                     ("amplify", "apprunner", "appsync", "bedrock-agentcore", "cognito-idp", "elasticloadbalancing")),
                    "web ACLs of other services"),
}

# Actions of CloudFormation, the SAM CLI and make deploy, which no resource type declares.
OF_THE_CLI = ("cloudformation:*", "s3:*", "lambda:GetAccountSettings")


def resource_types():
    """Returns the types of the deployed resources, with those that SAM generates for canary deployments."""
    types, gradual = set(), {"DeploymentPreference": "Canary10Percent5Minutes"}
    for template in map(expansion.read, expansion.FILES):
        expanded = expansion.expand(template, expansion.default_values(template) | gradual)
        types |= {resource["Type"] for resource in expanded["Resources"].values()}
    return types


def declared_permissions(types):
    """Returns the resource types that declare each permission, except for the handler that lists resources."""
    declared = {}
    for name in types:
        for kind, handler in expansion.schema(name)["handlers"].items():
            for permission in handler["permissions"]:
                if kind != "list":
                    declared.setdefault(permission, set()).add(name)
    return declared


def matches(permission, pattern):
    return fnmatch.fnmatchcase(permission.lower(), pattern.lower())


def check_policy(text):
    """Returns the actions that a policy allows, and its problems."""
    policy, allowed, problems = json.loads(text), set(), []
    size = len("".join(text.split()))
    if size > MAX_POLICY or policy["Version"] != "2012-10-17":
        problems.append(f"one has the version {policy['Version']} and {size} characters")
    for statement in policy["Statement"]:
        actions = [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]
        allowed.update(actions)
        if statement["Effect"] != "Allow" or "*" in actions or not statement["Resource"] or not statement["Sid"]:
            problems.append(f"one has the statement {statement}")
        if "iam:AttachRolePolicy" in actions and not statement.get("Condition"):
            problems.append(f"with {statement['Sid']}, any managed policy can be attached, AdministratorAccess too")
    return allowed, problems


def main():
    declared = declared_permissions(resource_types())
    allowed, problems = set(), []
    for file in pathlib.Path("docs").glob("deployer-policy*.json"):
        of_file = check_policy(file.read_text())
        allowed |= of_file[0]
        problems += of_file[1]
    for permission, types in sorted(declared.items()):
        if not any(matches(permission, pattern) for pattern in [*allowed, *NOT_NEEDED]):
            problems.append(f"none allows {permission}, which {', '.join(sorted(types))} declares")
    for pattern in sorted(allowed):
        if not any(matches(permission, pattern) for permission in declared) and not any(matches(pattern, cli) for cli in OF_THE_CLI):
            problems.append(f"one allows {pattern}, which no resource type of the template declares")
    for pattern, reason in NOT_NEEDED.items():
        if not any(matches(permission, pattern) for permission in declared):
            problems.append(f"they need not leave out {pattern} ({reason}): no resource type declares it")
    for problem in problems:
        print(f"the deployer's policies: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
