"""Breaks template.yaml in one place at a time, and expects the problem that scripts/expansion.py reports:

    scripts/python-tool.sh python scripts/expansion_test.py
"""

import pathlib
import unittest

import expansion

TEXT = pathlib.Path("template.yaml").read_text()
ALARMS = {"Monitoring": "alarms", "AlarmEmail": "ops@example.com"}
GRADUAL = {"DeploymentPreference": "Canary10Percent5Minutes", **ALARMS}
NO_VALUE = {"Ref": "AWS::NoValue"}


class Template(unittest.TestCase):
    def setUp(self):
        self.template = expansion.parse(TEXT)
        self.resources = self.template["Resources"]

    def properties(self, name):
        return self.resources[name]["Properties"]

    def statement(self, role):
        return self.properties(role)["Policies"][0]["PolicyDocument"]["Statement"][0]

    def expect(self, problem, values):
        problems = expansion.Stack(self.template, values).problems
        self.assertTrue(any(problem in found for found in problems), f"{problem!r} is not in {problems}")

    def test_member_without_value(self):
        self.properties("Traffic")["TimeToLiveSpecification"] = {"AttributeName": NO_VALUE, "Enabled": NO_VALUE}
        self.expect("Traffic.TimeToLiveSpecification has no member", {})

    def test_missing_member(self):
        self.properties("AlarmSubscription")["Protocol"] = NO_VALUE
        self.expect("AlarmSubscription lacks Protocol", ALARMS)

    def test_missing_resource(self):
        self.statement("PublicRole")["Resource"] = [{"Fn::GetAtt": ["WebhookQueue", "Arn"]}]
        self.statement("FeedbackRole")["Resource"] = [{"Fn::Sub": "${WebhookFailures.Arn}/*"}]
        self.resources["StalenessFailures"]["DependsOn"] = "WebhookRule"
        self.resources["Traffic"]["Properties"]["Tags"] = [{"Key": "bus", "Value": {"Ref": "EventBus"}}]
        missing = "WebhookQueue", "WebhookFailures", "WebhookRule", "EventBus"
        for name in missing:
            self.expect(f"refers to {name}, which does not exist", {})
        stack = expansion.Stack(self.template, {"SendEventsToBus": "true", "WebhookSecretName": "/webhook"})
        self.assertEqual([], stack.problems)

    def test_alarms(self):
        alarms = self.properties("AuthorizerFunction")["DeploymentPreference"]["Alarms"]
        alarms.pop()
        self.expect("AuthorizerFunctionDeploymentGroup does not watch AuthorizerErrorsAlarm", GRADUAL)
        alarms.clear()
        self.expect("AuthorizerFunctionDeploymentGroup watches no alarm", GRADUAL)

    def test_number_of_resources(self):
        self.resources |= {f"Topic{i}": {"Type": "AWS::SNS::Topic"} for i in range(300)}
        self.expect("resources are more than 475", {})

    def test_operations(self):
        self.template = expansion.with_operations(self.template, 350)
        self.expect("resources are more than 475", {})
        self.expect("paths are more than 270", {})

    def test_parents_of_paths(self):
        paths = self.properties("Api")["DefinitionBody"]["paths"]
        paths["/a/b/{c}"] = paths["/health"]
        added = expansion.Stack(self.template, {}).paths() - expansion.Stack(expansion.parse(TEXT), {}).paths()
        self.assertEqual({"/a", "/a/b", "/a/b/{c}"}, added)

    def test_integrations(self):
        resource = self.statement("ApiRole")["Resource"]
        self.statement("ApiRole")["Resource"] = {"Fn::Sub": resource["Fn::Sub"][0].replace("${Stack}", "${AWS::StackName}-")}
        short, long = (expansion.Stack(self.template, {}, name).problems for name in ("toggleadmin-staging", "long-" * 9))
        self.assertEqual([], short)
        self.assertIn("API Gateway may not invoke the function of get /api/admin/feature-types", long)
        del self.properties("Api")["DefinitionBody"]["paths"]["/health"]["get"]["x-amazon-apigateway-integration"]["credentials"]
        self.expect("API Gateway may not invoke the function of get /health", {})

    def test_sizes(self):
        self.template["Globals"]["Function"]["Environment"]["Variables"]["LONG"] = "x" * 3000
        self.expect("the variables of ConsoleFunction have", {})
        statement = self.statement("PublicRole")
        statement["Resource"] = [statement["Resource"]] * 100
        self.expect("the inline policies of PublicRole have", {})
        trust = self.properties("CodeDeployRole")["AssumeRolePolicyDocument"]["Statement"]
        trust *= 20
        self.expect("the trust policy of CodeDeployRole has", {})

    def test_indexes(self):
        released = expansion.parse(TEXT)
        for name in "first", "second":
            self.assertEqual([], expansion.check_indexes(self.template, released))
            self.properties("Feedback").setdefault("GlobalSecondaryIndexes", []).append({"IndexName": name})
        problems = expansion.check_indexes(self.template, released)
        self.assertIn("Feedback creates or deletes more than one index", problems[0])
        del released["Resources"]["Feedback"]  # a new table
        self.assertEqual([], expansion.check_indexes(self.template, released))


unittest.main()
