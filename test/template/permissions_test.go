package template_test

import (
	"cmp"
	"fmt"
	"strings"

	"toggleadmin/pkg/local/samtemplate"
)

const account = "us-east-1:000000000000:"

// permissions checks the policies of all roles, except what package test/usage checks: the permissions for tables. A
// permission is an action and a resource.
func (c *checker) permissions() {
	want := map[string]map[string]bool{"ScheduleRole": {}}
	services := map[string]string{
		"ScheduleRole": "scheduler.amazonaws.com", "GatewayAccountRole": "apigateway.amazonaws.com",
		"CodeDeployRole": "codedeploy.us-east-1.amazonaws.com",
	}
	managed := map[string]string{
		"GatewayAccountRole": "[arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
		"CodeDeployRole":     "[arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]",
	}
	for _, f := range c.ofType("AWS::Serverless::Function") {
		role := strings.TrimSuffix(f.LogicalID, "Function") + "Role"
		services[role], want[role] = "lambda.amazonaws.com", c.needed(f)
		if invokedBy(f, "ScheduleV2") {
			target := f.LogicalID
			if alias, ok := f.Properties["AutoPublishAlias"].(string); ok {
				target += ":" + alias
			}
			want["ScheduleRole"]["lambda:InvokeFunction arn:aws:lambda:"+account+"function:"+target] = true
		}
	}
	for _, role := range c.ofType("AWS::IAM::Role") {
		id := role.LogicalID
		trust := statements(at(role.Properties, "AssumeRolePolicyDocument"), "Principal")
		c.expect("what "+id+" trusts", sortedKeys(trust), "[sts:AssumeRole map[Service:"+services[id]+"]]")
		c.expect("ManagedPolicyArns of "+id, fmt.Sprint(list(role.Properties["ManagedPolicyArns"])),
			cmp.Or(managed[id], "[]"))
		c.compare(id, c.granted(id, list(role.Properties["Policies"])), want[id])
	}
}

// needed returns the permissions that a function needs by its properties.
func (c *checker) needed(f samtemplate.Resource) map[string]bool {
	group := " arn:aws:logs:" + account + "log-group:" + fmt.Sprint(at(f.Properties, "LoggingConfig.LogGroup")) + ":*"
	needed := map[string]bool{"logs:CreateLogStream" + group: true, "logs:PutLogEvents" + group: true}
	if f.Properties["Tracing"] == "Active" {
		needed["xray:PutTelemetryRecords *"], needed["xray:PutTraceSegments *"] = true, true
	}
	for _, queue := range c.queues(f) {
		needed["sqs:SendMessage "+queue] = true
	}
	events, _ := f.Properties["Events"].(map[string]any)
	for _, event := range events {
		if stream, ok := at(event, "Properties.Stream").(string); ok {
			for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator"} {
				needed["dynamodb:"+action+" "+stream] = true
			}
			needed["dynamodb:ListStreams "+stream[:strings.LastIndex(stream, "/")]+"/*"] = true
		}
		if queue, ok := at(event, "Properties.Queue").(string); ok {
			for _, action := range []string{"ReceiveMessage", "DeleteMessage", "GetQueueAttributes", "ChangeMessageVisibility"} {
				needed["sqs:"+action+" "+queue] = true
			}
		}
	}
	variables, _ := at(f.Properties, "Environment.Variables").(map[string]any)
	if bus := variables["EVENT_BUS"]; bus != nil && bus != "" {
		needed["sqs:SendMessage arn:aws:sqs:"+account+fmt.Sprint(variables["REJECTED_EVENTS_QUEUE"])] = true
		needed["events:PutEvents arn:aws:events:"+account+"event-bus/"+fmt.Sprint(bus)] = true
	}
	if name, ok := variables["WEBHOOK_SECRET_NAME"].(string); ok {
		needed["sqs:SendMessage arn:aws:sqs:"+account+fmt.Sprint(variables["WEBHOOK_FAILURES"])] = true
		needed["ssm:GetParameter arn:aws:ssm:"+account+"parameter"+name] = true
		secret := strings.TrimPrefix(name, "/aws/reference/secretsmanager/")
		needed["secretsmanager:GetSecretValue arn:aws:secretsmanager:"+account+"secret:"+secret+"-??????"] = true
	}
	return needed
}

// granted returns the permissions of a role by its own policies.
func (c *checker) granted(role string, policies []any) map[string]bool {
	granted := map[string]bool{}
	for _, policy := range policies {
		for permission := range statements(at(policy, "PolicyDocument"), "Resource") {
			action, resource, _ := strings.Cut(permission, " ")
			if strings.Contains(action, "*") || strings.Contains(resource, "*") && !strings.HasSuffix(resource, ":*") &&
				!strings.HasSuffix(resource, "/stream/*") && !strings.HasPrefix(action, "xray:") {
				c.problem("%s has the permission %s with a wildcard", role, permission)
			}
			if !strings.Contains(resource, ":table/") || strings.Contains(resource, "/stream/") {
				granted[permission] = true
			}
		}
	}
	return granted
}

// statements returns the actions of a policy document, each with every resource or with its principal.
func statements(document any, member string) map[string]bool {
	found := map[string]bool{}
	for _, s := range list(at(document, "Statement")) {
		for _, action := range texts(at(s, "Action")) {
			for _, other := range texts(at(s, member)) {
				found[strings.TrimPrefix(fmt.Sprint(at(s, "Effect"), " ", action, " ", other), "Allow ")] = true
			}
		}
	}
	return found
}

// texts returns the items of a list as texts, or one other value as a text.
func texts(value any) (all []string) {
	items, ok := value.([]any)
	if !ok {
		items = []any{value}
	}
	for _, item := range items {
		all = append(all, fmt.Sprint(item))
	}
	return all
}

func (c *checker) compare(who string, got, want map[string]bool) {
	for _, permission := range sortedKeys(want) {
		if !got[permission] {
			c.problem("%s lacks the permission %s", who, permission)
		}
	}
	for _, permission := range sortedKeys(got) {
		if !want[permission] {
			c.problem("%s has the permission %s, which it does not need", who, permission)
		}
	}
}
