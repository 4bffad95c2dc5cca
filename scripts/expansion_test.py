"""Breaks template.yaml in one place at a time, and expects the problem that scripts/expansion.py reports:

    scripts/python-tool.sh python scripts/expansion_test.py
"""

import pathlib
import unittest

import expansion

TEXT = pathlib.Path("template.yaml").read_text()
GRADUAL = {"DeploymentPreference": "Canary10Percent5Minutes"}
EVENTS = {"Events": "true"}


def broken(old, new):
    if old not in TEXT:
        raise ValueError(f"template.yaml does not contain {old!r}")
    return expansion.parse(TEXT.replace(old, new))


class Template(unittest.TestCase):
    def expect(self, problem, values, old, new):
        problems = expansion.Stack(broken(old, new), values).problems
        self.assertTrue(any(problem in found for found in problems), f"{problem!r} is not in {problems}")

    def test_member_without_value(self):
        self.expect("AnnounceExpiringTokensFunctionDeploymentGroup.AlarmConfiguration.Alarms has no member: Name",
                    GRADUAL, "PassthroughCondition: true", "PassthroughCondition: false")

    def test_missing_member(self):
        self.expect("AlarmSubscription lacks Protocol", {"AlarmEmail": "ops@example.com"},
                    "Protocol: email", "Protocol: !Ref AWS::NoValue")

    def test_missing_resource(self):
        for old, new in (
            ("!Ref AlarmTopic}\n", "!Ref EventBus}\n"),
            ("!GetAtt RecordTrafficFailures.Arn", "!GetAtt WebhookFailures.Arn"),
            ("DependsOn: Api\n", "DependsOn: EventBus\n"),
            ("'${Features.Arn}/index/staleness'", "'${EventBus.Arn}/index/staleness'"),
        ):
            with self.subTest(new):
                self.expect(f"refers to {'Webhook' if 'Webhook' in new else 'EventBus'}", {}, old, new)

    def test_missing_resource_only_with_a_condition(self):
        stack = expansion.Stack(broken("Ref AlarmTopic}\n", "Ref EventBus}\n"), EVENTS)
        self.assertEqual([], stack.problems)

    def test_alarms(self):
        action = "AlarmActions: [!Ref AlarmTopic], "
        self.expect("Api5xxAlarm notifies no topic", {}, action, "")
        self.expect("AuthorizerFunctionDeploymentGroup does not watch AuthorizerErrorsAlarm", GRADUAL,
                    "!If [HasAlarms, !Ref AuthorizerErrorsAlarm, !Ref AWS::NoValue]", "!Ref Api5xxAlarm")
        self.expect("ListContextFieldsFunctionDeploymentGroup watches no alarm", GRADUAL,
                    "Alarms: [!If [HasAlarms", "Other: [!If [HasAlarms")

    def test_number_of_resources(self):
        topic = "AlarmTopic: {Type: AWS::SNS::Topic}\n"
        topics = "".join(topic.replace("Alarm", f"  Alarm{i}") for i in range(300))
        self.expect("resources are more than 450", {}, topic, topic + topics)

    def test_sizes(self):
        resource = "Resource: [!GetAtt NotFoundLogs.Arn"
        self.expect("the inline policies of NotFoundRole have", {},
                    resource, resource + ", !GetAtt NotFoundLogs.Arn" * 100)
        self.expect("the trust policy of AuthorizerRole has", {}, "Principal: {Service: lambda.amazonaws.com}",
                    f"Principal: {{Service: [{', '.join(['lambda.amazonaws.com'] * 80)}]}}")
        event = "Console: {Type: Api, Properties: {RestApiId: !Ref Api, Path: '/console'"
        self.assertIn(event, TEXT)
        rest = TEXT.partition(event)[2].partition("\n")[0]
        more = "".join(f"        {event.replace('onsole', f'onsole{i}')}{rest}\n" for i in range(50))
        self.expect("the resource policy of ", {}, "        Files: {Type: Api", f"{more}        Files: {{Type: Api")

    def test_indexes(self):
        template = expansion.parse(TEXT)
        released = expansion.parse(TEXT)
        for name in "first", "second":
            self.assertEqual([], expansion.check_indexes(template, released))
            properties = template["Resources"]["Feedback"]["Properties"]
            properties.setdefault("GlobalSecondaryIndexes", []).append({"IndexName": name})
        self.assertIn("Feedback creates or deletes more than one index", expansion.check_indexes(template, released)[0])
        del released["Resources"]["Feedback"]  # a new table
        self.assertEqual([], expansion.check_indexes(template, released))


unittest.main()
