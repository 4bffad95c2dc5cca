"""Tests scripts/stack.py without AWS. `make test-deploy` runs it against an emulator.

    scripts/python-tool.sh python scripts/stack_test.py
"""

import contextlib
import datetime
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import stack

CONFIG = """
[default.global.parameters]
stack_name = "service-dev"
[default.deploy.parameters]
parameter_overrides = ["Stage=dev"]

[restored.global.parameters]
stack_name = "service-restored"
[restored.deploy.parameters]
confirm_changeset = true
parameter_overrides = [
  "Stage=restored", 'LogRetentionDays=30', # "Tracing=true",
  # "ThrottlingRateLimit=5000",
  "Monitoring=alarms",
]
tags = ["stage=restored"]

[wrong.global.parameters]
stack_name = "service-wrong"
[wrong.deploy.parameters]
parameter_overrides = "Stage=wrong"

[local.build.parameters]
parallel = true
"""
NOW = datetime.datetime(2026, 11, 26, tzinfo=datetime.timezone.utc)


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        pathlib.Path("samconfig.toml").write_text(CONFIG)
        self.aws = mock.MagicMock()
        for patch in mock.patch("boto3.client", return_value=self.aws), mock.patch("time.sleep"):
            patch.start()
            self.addCleanup(patch.stop)

    def refused(self, call, *arguments):
        """Returns what is printed by a call that ends the program."""
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed), self.assertRaises(SystemExit) as ended:
            call(*arguments)
        return printed.getvalue() + (ended.exception.code if isinstance(ended.exception.code, str) else "")

    def test_parameters_are_read_as_toml(self):
        environment = stack.Environment("restored")
        self.assertEqual({"Stage": "restored", "LogRetentionDays": "30", "Monitoring": "alarms"}, environment.parameters)
        self.assertEqual({"stage": "restored"}, environment.tags)
        self.assertEqual("service-dev", stack.Environment("dev").stack)

    def test_wrong_arguments(self):
        known = "samconfig.toml has dev, restored, wrong\n"
        self.assertEqual("unknown ENV 'production': " + known, self.refused(stack.main, "deploy", "production"))
        self.assertEqual("unknown ENV 'local': " + known, self.refused(stack.main, "outputs", "local"))
        self.assertEqual("unknown ENV '': " + known, self.refused(stack.main, "outputs"))
        self.assertIn('must be a list of texts "NAME=value"', self.refused(stack.Environment, "wrong"))
        self.assertIn("unknown action 'destroy': check, deploy", self.refused(stack.main, "destroy", "dev"))
        self.assertIn("unknown NOW 'yes'", self.refused(stack.main, "check", "dev", "yes"))
        self.assertRegex(self.refused(stack.main, "logs", "dev", "authorize"), "unknown FN 'authorize': one of .* authorizer ")

    def test_modified_tree(self):
        with mock.patch("stack.version", return_value="0.1.0+1a2b3c4d.modified"):
            self.assertIn("commit them first", self.refused(stack.main, "check", "restored"))
            stack.main("check", "dev", "1")
        with mock.patch("stack.version", return_value="0.1.0+1a2b3c4d"):
            stack.main("check", "restored")

    def test_delete_asks_for_the_name(self):
        for answer in "", "yes\n", "service-dev\n":
            with mock.patch("sys.stdin", io.StringIO(answer)):
                self.assertIn("not deleted", self.refused(stack.main, "delete", "restored"))
        self.aws.delete_stack.assert_not_called()

    def test_logs_of_one_function_of_a_log_group(self):
        self.aws.get_function_configuration.return_value = {"LoggingConfig": {"LogGroup": "service-Logs-1"}}
        function = {
            "LogicalResourceId": "GetFeatureFunction", "PhysicalResourceId": "service-GetFeatureFunction-1",
            "ResourceType": "AWS::Lambda::Function",
        }  # fmt: skip
        events = [
            {"eventId": str(number), "message": f"line {number}\n", "logStreamName": f"2026/11/26/service-{name}-1[7]0123"}
            for number, name in enumerate(["GetFeatureFunction", "GetFeaturesFunction", "GetFeatureFunction"])
        ]
        self.aws.get_paginator.side_effect = lambda operation: mock.MagicMock(**{
            "paginate.return_value": [{"StackResourceSummaries": [function], "events": events}],
        })
        with mock.patch("time.sleep", side_effect=[None, KeyboardInterrupt]):
            self.assertEqual("line 0\nline 2\n", self.refused(stack.main, "logs", "dev", "get-feature"))

    def test_logging_role(self):
        environment = stack.Environment("restored")
        for role in None, "arn:aws-cn:iam::123456789012:role/service-restored-GatewayAccountRole-1":
            self.aws.get_account.return_value = {"cloudwatchRoleArn": role} if role else {}
            stack.check_logging_role(environment)
        other = "arn:aws-cn:iam::123456789012:role/service-GatewayAccountRole-1"
        self.aws.get_account.return_value = {"cloudwatchRoleArn": other}
        self.assertIn(f"with {other}.\nTo use this role", self.refused(stack.check_logging_role, environment))
        environment.parameters["ApiGatewayAccount"] = "external"
        stack.check_logging_role(environment)

    def test_alarm_that_is_watched(self):
        nothing = {"RollbackTriggers": [], "MonitoringTimeInMinutes": 0}
        self.assertEqual(nothing, stack.rollback_configuration({"ReleaseAlarm": "arn:alarm"}, "1"))
        self.assertEqual(nothing, stack.rollback_configuration({}, ""))
        self.assertEqual(
            {
                "RollbackTriggers": [{"Arn": "arn:alarm", "Type": "AWS::CloudWatch::CompositeAlarm"}],
                "MonitoringTimeInMinutes": 10,
            },
            stack.rollback_configuration({"ReleaseAlarm": "arn:alarm"}, ""),
        )

    def test_concurrency(self):
        environment = stack.Environment("restored")
        stack.check_concurrency(environment)
        environment.parameters |= {"AuthorizerConcurrency": "20", "ClientConcurrency": "100", "ClientApi": "true"}
        for limit, want in (220, None), (219, "reserves a concurrency of 120, but this account has 219"), (10, "has 10 in"):
            self.aws.get_account_settings.return_value = {"AccountLimit": {"ConcurrentExecutions": limit}}
            if want:
                self.assertIn(want, self.refused(stack.check_concurrency, environment))
            else:
                stack.check_concurrency(environment)

    def test_protection_against_deletion(self):
        environment = stack.Environment("restored")
        stack.protect(environment)
        self.aws.update_termination_protection.assert_not_called()
        environment.parameters["DeletionProtection"] = "true"
        stack.protect(environment)
        with mock.patch("sys.stdin", io.StringIO("service-restored\n")), contextlib.redirect_stdout(io.StringIO()):
            stack.main("delete", "restored")
        protected = [call.kwargs["EnableTerminationProtection"] for call in self.aws.update_termination_protection.mock_calls]
        self.assertEqual([True, False], protected)

    def test_events_of_nested_stacks(self):
        event = {"Timestamp": NOW, "ResourceType": stack.NESTED}
        of_stacks = {
            "arn:service": [
                event | {"EventId": "2", "PhysicalResourceId": "arn:nested"},
                event | {"EventId": "1", "PhysicalResourceId": "arn:service"},
                event | {"EventId": "0", "Timestamp": NOW - datetime.timedelta(minutes=1)},
            ],
            "arn:nested": [event | {"EventId": "3", "PhysicalResourceId": "arn:nested"}],
        }
        self.aws.get_paginator.return_value.paginate.side_effect = lambda StackName: [{"StackEvents": of_stacks[StackName]}]
        self.assertEqual(["2", "1", "3"], [found["EventId"] for found in stack.events("arn:service", NOW)])
        self.assertEqual(["2", "1", "0", "3"], [found["EventId"] for found in stack.events("arn:service")])

    def test_a_function_that_does_not_work_cancels_the_update(self):
        event = {
            "EventId": "1", "Timestamp": NOW, "LogicalResourceId": "ConsoleFunction",
            "ResourceType": "AWS::Lambda::Function", "ResourceStatus": "CREATE_COMPLETE",
            "PhysicalResourceId": "service-ConsoleFunction-1",
        }  # fmt: skip
        self.aws.get_paginator.return_value.paginate.return_value = [{"StackEvents": [event]}]
        crashed = {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorType":"Runtime.ExitError"}')}
        for responses, exists, statuses, want, cancelled in (
            ([{}], True, ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"], "UPDATE_COMPLETE", 0),
            ([crashed, {}], True, ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"], "UPDATE_COMPLETE", 0),
            ([crashed] * 4, True, ["UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE"], "UPDATE_ROLLBACK_COMPLETE", 1),
            ([crashed] * 4, True, ["UPDATE_COMPLETE"], "a function does not work", 0),
            ([], True, ["UPDATE_ROLLBACK_COMPLETE"], "UPDATE_ROLLBACK_COMPLETE", 0),
            ([], False, ["CREATE_COMPLETE"], "CREATE_COMPLETE", 0),
        ):
            event["ResourceStatus"] = "UPDATE_COMPLETE" if exists else "CREATE_COMPLETE"
            self.aws.invoke.side_effect = responses
            self.aws.cancel_update_stack.reset_mock()
            self.aws.describe_stacks.side_effect = [
                {"Stacks": [{"StackStatus": status, "StackId": "arn:service"}]} for status in statuses
            ]
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(want, stack.follow("service", NOW, exists))
            self.assertEqual(cancelled, self.aws.cancel_update_stack.call_count)


if __name__ == "__main__":
    unittest.main()
