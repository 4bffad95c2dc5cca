"""Checks template.yaml and delivery.yaml, which it nests, as CloudFormation sees them: expanded by SAM, with their
conditions evaluated, for each environment of samconfig.toml, for combinations of the parameters that add resources, and
for a template with 250 operations. Prints the numbers of resources and paths, and the sizes. Runs in the SAM CLI's virtual environment:

    scripts/python-tool.sh python scripts/expansion.py [FOLDER]

Writes the templates without aliases and merge keys to FOLDER, as JSON, for checkov, which refuses a member that replaces
a merged one.
"""

import collections
import copy
import fnmatch
import functools
import gc
import itertools
import json
import logging
import os
import pathlib
import re
import subprocess
import sys

os.environ["AWS_DEFAULT_REGION"] = "ap-southeast-2"  # the transform needs a region

import cfnlint
import tomlkit
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

gc.disable()  # it takes a quarter of the time, and finds nothing: the transform leaves no cycles

# Nine tenths of the limits of CloudFormation, API Gateway, IAM and Lambda, and 19 twentieths of
# that of resources.
MAX_RESOURCES = 500 * 19 // 20
MAX_OUTPUTS = 200 * 9 // 10
MAX_TEMPLATE = 1_000_000 * 9 // 10  # bytes
MAX_PATHS = 300 * 9 // 10  # of an API, with the parents of each: its resources in API Gateway
MAX_ENVIRONMENT = 4096 * 9 // 10  # characters of the variables of a function
# In characters without white space.
MAX_INLINE_POLICIES = 10240 * 9 // 10  # all of a role together
MAX_TRUST_POLICY = 2048 * 9 // 10

FILES = "template.yaml", "delivery.yaml"

OPERATIONS = 250
COUNTED = "environment", "all options", f"{OPERATIONS} operations"
OPERATIONS_OF_A_DOMAIN = 5  # with a role for those that read and one for those that write

NESTED = "AWS::CloudFormation::Stack"  # what SAM makes of AWS::Serverless::Application

NO_VALUE = object()  # AWS::NoValue, which removes the member or item

RECEIVER = {"AlarmEmail": "ops@example.com"}  # samconfig.toml leaves it to the operator
# Parameters that add or remove resources: a combination has one alternative of each.
CHOICES = (
    ({}, {"SendEventsToBus": "true"}, {"SendEventsToBus": "true", "WebhookSecretName": "/webhook"}),
    ({}, {"OidcIssuer": "https://issuer.example.com", "OidcClientId": "console"}),
    ({}, {"DeploymentPreference": "Canary10Percent5Minutes"}),
    ({}, {"ClientApi": "true"}),
    (
        {"Monitoring": "alarms", "AlarmTopicArn": "arn"},
        {"Monitoring": "alarms-and-dashboard", **RECEIVER},
        {"Monitoring": "none"},
    ),
    ({}, {"DomainName": "toggles.example.com", "CertificateArn": "arn", "HostedZoneId": "Z0123456789"}),
)

# What all names and ARNs contain. The names are as long as possible, because they count in the
# sizes of policies.
PSEUDO_PARAMETERS = {
    "AWS::AccountId": "123456789012", "AWS::NoValue": NO_VALUE, "AWS::Partition": "aws-us-gov",
    "AWS::Region": "ap-southeast-2", "AWS::URLSuffix": "example.com",
}


def parse(text):
    """Returns a template that the transform accepts without a build."""
    template = json.loads(json.dumps(yaml_parse(text)))  # without objects that several aliases share
    for resource in template["Resources"].values():
        if "CodeUri" in resource.get("Properties", {}):
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    return template


@functools.cache
def read(file):
    return parse(pathlib.Path(file).read_text())


def with_operations(template, number):
    """Returns a template with copies of an operation, each with a path of its own, in new domains."""
    grown = copy.deepcopy(template)
    resources = grown["Resources"]
    paths = resources["Api"]["Properties"]["DefinitionBody"]["paths"]
    operations = [method for methods in paths.values() for method in methods.values() if "security" not in method]
    of_path = paths["/api/admin/segments/{id}"]

    def renamed(value, **names):
        text = json.dumps(value)
        for old, new in names.items():
            text = text.replace(old, new)
        return json.loads(text)

    for i in range(number - len(operations)):
        domain = i // OPERATIONS_OF_A_DOMAIN
        for role in "SegmentReaderRole", "SegmentWriterRole":
            resources[f"{role}{domain}"] = resources[role]
        name = f"RemoveSegment{i}Function"
        resources[name] = renamed(resources["RemoveSegmentFunction"], SegmentWriterRole=f"SegmentWriterRole{domain}")
        methods = {method: of_path[method] for method in ("delete", "x-amazon-apigateway-any-method")}
        paths[f"/api/admin/segments{i}"] = renamed(methods, RemoveSegmentFunction=name)
    return grown


def default_values(template):
    return {name: str(parameter["Default"]) for name, parameter in template["Parameters"].items() if "Default" in parameter}


def expand(template, values):
    """Returns the template after SAM's transform with the values of all parameters."""
    logging.disable(logging.WARNING)  # the transform warns about features that are not set
    return transform(copy.deepcopy(template), dict(values), None)


class Stack:
    """The resources that CloudFormation creates, without intrinsic functions, and the problems that were found. There
    are no resources if a rule of the template refuses the values of the parameters."""

    def __init__(self, template, values, stack_name="toggleadmin-staging"):
        self.values = default_values(template) | values
        if unknown := values.keys() - template["Parameters"]:
            raise ValueError(f"the template has no parameter {', '.join(sorted(unknown))}")
        if missing := template["Parameters"].keys() - self.values:
            raise ValueError(f"the parameter {', '.join(sorted(missing))} has no value")
        self.names = self.values | PSEUDO_PARAMETERS | {"AWS::StackName": stack_name}
        self.conditions, self.mappings = template["Conditions"], template["Mappings"]
        self.problems, self.types, self.resources, self.nested = [], {}, {}, {}
        rules = [rule for rule in template.get("Rules", {}).values() if self.true(rule["RuleCondition"])]
        self.refused = [assertion["AssertDescription"] for rule in rules for assertion in rule["Assertions"]
                        if not self.true(assertion["Assert"])]
        if not self.refused:
            self.create(expand(template, self.values))
            for check in check_required, check_limits, check_integrations, check_alarms:
                check(self)

    def create(self, expanded):
        self.conditions = expanded["Conditions"]
        resources = expanded["Resources"]
        self.size, self.outputs = size(expanded), expanded["Outputs"]
        self.existing = {name: part for name, part in resources.items() if self.true(part.get("Condition", True))}
        self.types = {name: part["Type"] for name, part in self.existing.items()}
        for name, part in self.existing.items():
            depends = part.get("DependsOn", [])
            for needed in [depends] if isinstance(depends, str) else depends:
                self.reference(needed, name)
            self.resources[name] = self.resolve(part.get("Properties", {}), name)
            if self.types[name] == NESTED:
                self.nest(name)
        self.values_of_outputs = {name: self.resolve(part["Value"], f"the output {name}")
                                  for name, part in expanded["Outputs"].items() if self.true(part.get("Condition", True))}

    def nest(self, name):
        """Returns the stack of a nested template."""
        if name not in self.nested:
            properties = self.resolve(self.existing[name]["Properties"], name)
            stack = Stack(read(properties["TemplateURL"]), properties["Parameters"],
                          f"{self.names['AWS::StackName']}-{name}-0123456789AB")
            self.problems += [f"{properties['TemplateURL']}: {problem}" for problem in stack.problems]
            self.nested[name] = stack
        return self.nested[name]

    def true(self, condition):
        """Evaluates a condition: its name, a function of conditions, or a constant."""
        if isinstance(condition, str):
            return self.true(self.conditions[condition])
        if isinstance(condition, bool):
            return condition
        (function, of), = condition.items()
        match function:
            case "Condition":
                return self.true(of)
            case "Fn::Equals":
                return self.resolve(of[0], "a condition") == self.resolve(of[1], "a condition")
            case "Fn::Contains":
                return self.resolve(of[1], "a condition") in of[0]
            case "Fn::Not":
                return not self.true(of[0])
            case "Fn::And":
                return all(map(self.true, of))
            case "Fn::Or":
                return any(map(self.true, of))
        raise ValueError(f"unknown function of conditions {function}")

    def of_type(self, *types):
        return {name: properties for name, properties in self.resources.items() if self.types[name] in types}

    def reference(self, name, where, attribute=""):
        """Returns the value of a parameter, or a text as long as the name or the ARN of a resource."""
        if name in self.names and not attribute:
            return self.names[name]
        if name not in self.types:
            self.problems.append(f"{where} refers to {name}, which does not exist")
            return name
        if self.types[name] == NESTED and attribute:
            outputs, output = self.nest(name).values_of_outputs, attribute.removeprefix("Outputs.")
            if output not in outputs:
                self.problems.append(f"{where} refers to {name}.{attribute}, which does not exist")
            return outputs.get(output, output)
        _, service, kind = self.types[name].lower().split("::")
        if attribute.endswith("Arn") or kind in ("alias", "topic"):
            place = ":".join(self.names[f"AWS::{part}"] for part in ("Region", "AccountId"))
            separator = ":" if kind == "function" else "/"
            return f"arn:{self.names['AWS::Partition']}:{service}:{place}:{kind}{separator}{self.generated_name(name)}"
        return self.generated_name(name)

    def generated_name(self, name):
        """Returns the name of a resource, of 64 characters at most. If the names of the stack and of the resource are
        long, it has the beginnings of both."""
        stack, available = self.names["AWS::StackName"], 64 - len("--0123456789AB")
        name = name[:max(26, available - len(stack))]
        return f"{stack[:available - len(name)]}-{name}-0123456789AB"

    def paths(self):
        """Returns the paths of the API and their parents."""
        paths = {"/"}
        for api in self.of_type("AWS::ApiGateway::RestApi").values():
            for path in api["Body"]["paths"]:
                paths |= {path[:match.start()] for match in re.finditer("/|$", path)} - {""}
        return paths

    def resolve(self, value, where):
        """Evaluates the intrinsic functions in a value."""
        if isinstance(value, list):
            return [item for item in (self.resolve(item, where) for item in value) if item is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        function, of = next(iter(value.items()), ("", None))
        if len(value) == 1 and (function == "Ref" or function.startswith("Fn::")):
            return self.call(function, of, where)
        members = {key: self.resolve(member, f"{where}.{key}") for key, member in value.items()}
        kept = {key: member for key, member in members.items() if member is not NO_VALUE}
        if value and not kept:
            self.problems.append(f"{where} has no member: {', '.join(value)} has no value")
        return kept

    def call(self, function, of, where):
        match function:
            case "Ref":
                return self.reference(of, where)
            case "Fn::If":
                return self.resolve(of[1] if self.true(of[0]) else of[2], where)
            case "Fn::GetAtt":
                name, _, attribute = of.partition(".") if isinstance(of, str) else (of[0], "", of[1])
                return self.reference(name, where, attribute)
            case "Fn::Sub":
                text, local = (of, {}) if isinstance(of, str) else of
                local = self.resolve(local, where)

                def insert(match):
                    name, _, attribute = match[1].partition(".")
                    return str(local[name] if name in local else self.reference(name, where, attribute))

                return re.sub(r"\$\{([^!][^}]*)\}", insert, text)
            case "Fn::Join":
                return of[0].join(map(str, self.resolve(of[1], where)))
            case "Fn::Split":
                return str(self.resolve(of[1], where)).split(of[0])
            case "Fn::Select":
                return self.resolve(of[1], where)[int(of[0])]
            case "Fn::FindInMap":
                first, second, third = self.resolve(of, where)
                return self.mappings[first][second][third]
        raise ValueError(f"{where}: unknown function {function}")


@functools.cache
def schema(resource_type):
    """Returns the schema of a resource type, from cfn-lint."""
    schemas = pathlib.Path(cfnlint.__file__).parent / "data" / "schemas"
    files = json.loads((schemas / "providers" / "us-east-1.json").read_text())
    return json.loads((schemas / "resources" / f"{files[resource_type]}.json").read_text())


def size(document):
    return len(json.dumps(document, separators=(",", ":")))


def check_required(stack):
    def check(value, part, definitions, where):
        while "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
        if isinstance(value, dict):
            stack.problems.extend(f"{where} lacks {name}" for name in part.get("required", []) if name not in value)
            for name, member in value.items():
                check(member, part.get("properties", {}).get(name, {}), definitions, f"{where}.{name}")
        elif isinstance(value, list):
            for item in value:
                check(item, part.get("items", {}), definitions, where)

    for name, properties in stack.resources.items():
        whole = schema(stack.types[name])
        check(properties, whole, whole.get("definitions", {}), name)


def check_limits(stack):
    for actual, limit, what in ((len(stack.resources), MAX_RESOURCES, "resources"),
                                (len(stack.paths()), MAX_PATHS, "paths"),
                                (len(stack.outputs), MAX_OUTPUTS, "outputs"),
                                (stack.size, MAX_TEMPLATE, "bytes of the template")):
        if actual > limit:
            stack.problems.append(f"{actual} {what} are more than {limit}")
    sizes = {}
    for name, properties in stack.of_type("AWS::Lambda::Function").items():
        variables = properties.get("Environment", {}).get("Variables", {})
        sizes[f"the variables of {name} have"] = (sum(map(len, itertools.chain(*variables.items()))), MAX_ENVIRONMENT)
    for name, properties in stack.of_type("AWS::IAM::Role").items():
        inline = sum(size(policy["PolicyDocument"]) for policy in properties.get("Policies", []))
        sizes[f"the inline policies of {name} have"] = (inline, MAX_INLINE_POLICIES)
        sizes[f"the trust policy of {name} has"] = (size(properties["AssumeRolePolicyDocument"]), MAX_TRUST_POLICY)
    for what, (actual, limit) in sizes.items():
        if actual > limit:
            stack.problems.append(f"{what} {actual} characters, more than {limit}")


def check_integrations(stack):
    """API Gateway may invoke the function of every method: with the role of the integration, or by a permission."""
    permitted = [properties["FunctionName"] for properties in stack.of_type("AWS::Lambda::Permission").values()
                 if properties["Principal"] == "apigateway.amazonaws.com"]
    patterns = collections.defaultdict(list)  # of the functions that a role may invoke
    for name, role in stack.of_type("AWS::IAM::Role").items():
        for policy in role.get("Policies", []):
            patterns[stack.reference(name, name, "Arn")] += [
                statement["Resource"] for statement in policy["PolicyDocument"]["Statement"]
                if statement["Action"] == "lambda:InvokeFunction"]
    for api in stack.of_type("AWS::ApiGateway::RestApi").values():
        for path, methods in api["Body"]["paths"].items():
            for method, definition in methods.items():
                integration = definition["x-amazon-apigateway-integration"]
                function = integration["uri"].partition("/functions/")[2].removesuffix("/invocations")
                allowed = patterns[integration["credentials"]] if "credentials" in integration else [
                    "*:" + name for name in permitted]
                if not any(fnmatch.fnmatchcase(function, pattern) for pattern in allowed):
                    stack.problems.append(f"API Gateway may not invoke the function of {method} {path}")


def check_alarms(stack):
    """Every gradual deployment watches the API and the errors of its function."""
    for name in stack.of_type("AWS::CodeDeploy::DeploymentGroup"):
        function = stack.reference(name.removesuffix("DeploymentGroup"), name)
        watched = {alarm.get("Name") for alarm in stack.resources[name].get("AlarmConfiguration", {}).get("Alarms", [])}
        if not watched:
            stack.problems.append(f"{name} watches no alarm")
        for alarm, properties in stack.of_type("AWS::CloudWatch::Alarm").items():
            queries = [query["MetricStat"]["Metric"] for query in properties.get("Metrics", []) if "MetricStat" in query]
            for metric in queries or [properties]:
                about = {"Name": "FunctionName", "Value": function} in metric.get("Dimensions", [])
                if about and metric["MetricName"] in ("Errors", "Url5xxCount") and stack.reference(alarm, alarm) not in watched:
                    stack.problems.append(f"{name} does not watch {alarm}")


def indexes(template):
    return {name: {index["IndexName"] for index in resource["Properties"].get("GlobalSecondaryIndexes", [])}
            for name, resource in template["Resources"].items() if resource["Type"] == "AWS::DynamoDB::Table"}


def check_indexes(template, released):
    """DynamoDB creates or deletes one index of a table in an update. A new table has all of its indexes at once."""
    before, after = indexes(released), indexes(template)
    return [f"{table} creates or deletes more than one index since the last release: {', '.join(sorted(changed))}"
            for table in before.keys() & after.keys() if len(changed := before[table] ^ after[table]) > 1]


def last_release(file):
    """Returns the text of a template at the last tag of a version, or None if there is none."""
    git = functools.partial(subprocess.run, capture_output=True, text=True)
    tag = git(["git", "describe", "--tags", "--abbrev=0", "--match=v[0-9]*"])
    if tag.returncode:
        return None
    return git(["git", "show", f"{tag.stdout.strip()}:{file}"], check=True).stdout


def stacks(template):
    """Returns the stack of each environment of samconfig.toml, and stacks in which each pair of alternatives occurs
    that the rules of the template allow: no condition of the template depends on more than two choices."""
    for name, environment in tomlkit.parse(pathlib.Path("samconfig.toml").read_text()).unwrap().items():
        if isinstance(environment, dict) and "deploy" in environment:
            values = dict(pair.split("=", 1) for pair in environment["deploy"]["parameters"]["parameter_overrides"])
            if "alarms" in values.get("Monitoring", ""):
                values |= RECEIVER
            stack = Stack(template, values, environment["global"]["parameters"]["stack_name"])
            stack.problems += stack.refused
            yield f"environment {name}", stack
    covered = set()
    for alternatives in itertools.product(*map(enumerate, CHOICES)):
        pairs = set(itertools.combinations(enumerate(number for number, _ in alternatives), 2))
        if pairs - covered:
            values = {name: value for _, alternative in alternatives for name, value in alternative.items()}
            stack = Stack(template, values)
            if not stack.refused:
                covered |= pairs
                yield " ".join(f"{name}={value}" for name, value in values.items()), stack
    values = {name: value for choice in CHOICES for name, value in max(choice, key=len).items()}
    yield "all options", Stack(template, values)
    yield "a long name of the stack", Stack(template, {}, "toggleadmin-of-the-department-of-many-words")
    yield f"{OPERATIONS} operations, all options", Stack(with_operations(template, OPERATIONS), values)


def main():
    problems = collections.defaultdict(list)
    for file in FILES:
        for folder in sys.argv[1:]:
            pathlib.Path(folder, file).with_suffix(".json").write_text(json.dumps(read(file), indent=2))
        if released := last_release(file):
            for problem in check_indexes(read(file), yaml_parse(released)):
                problems[problem].append("every stack")
    for case, stack in stacks(read("template.yaml")):
        if case.startswith(COUNTED):
            nested = "".join(f", {name} {len(of.resources)}" for name, of in stack.nested.items())
            print(f"{case}: {len(stack.resources)} resources{nested}, {len(stack.paths())} paths, {stack.size:,} bytes")
        for problem in stack.problems:
            problems[problem].append(case)
    for problem, cases in problems.items():
        print(f"template.yaml: {problem} ({len(cases)} cases, such as {cases[0]})", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
