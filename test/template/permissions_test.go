package template_test

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"toggleadmin/pkg/samtemplate"
)

const (
	account = "us-east-1:000000000000:"

	// The local name of a function has no name of a stack.
	functionsOfStack = "arn:aws:lambda:" + account + "function:GetAvailableChangeRequestReviewersFunction*"
)

// permissions checks the policies of all roles, except what package test/e2e checks: the permissions for tables. A
// permission is an action and a resource.
func (c *checker) permissions() {
	want := map[string]map[string]bool{
		"ScheduleRole": {}, "DeliveryScheduleRole": {},
		// scripts/expansion.py compares the pattern with the names of functions
		"ApiRole": {"lambda:InvokeFunction " + functionsOfStack: true},
	}
	const codeDeploy = "codedeploy.us-east-1.amazonaws.com"
	services := map[string]string{
		"ScheduleRole": "scheduler.amazonaws.com", "DeliveryScheduleRole": "scheduler.amazonaws.com",
		"CodeDeployRole": codeDeploy, "DeliveryCodeDeployRole": codeDeploy,
		"GatewayAccountRole": "apigateway.amazonaws.com", "ApiRole": "apigateway.amazonaws.com",
	}
	const shiftTraffic = "[arn:aws:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]"
	managed := map[string]string{
		"CodeDeployRole": shiftTraffic, "DeliveryCodeDeployRole": shiftTraffic,
		"GatewayAccountRole": "[arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
	}
	for _, f := range c.ofType("AWS::Serverless::Function") {
		role := roleID(f.Properties["Role"])
		services[role] = "lambda.amazonaws.com"
		if want[role] == nil {
			want[role] = map[string]bool{}
		}
		maps.Copy(want[role], c.needed(f))
		events, _ := f.Properties["Events"].(map[string]any)
		for _, event := range events {
			if at(event, "Type") == "ScheduleV2" {
				schedule := want[roleID(at(event, "Properties.RoleArn"))]
				schedule["lambda:InvokeFunction arn:aws:lambda:"+account+"function:"+f.LogicalID] = true
			}
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

// roleID returns the logical id of the role with an ARN.
func roleID(arn any) string {
	return strings.TrimPrefix(fmt.Sprint(arn), "arn:aws:iam::000000000000:role/")
}

// need is a permission that a function needs if it has something.
type need struct {
	has      string // LogGroup, Tracing, Stream, Streams, Queue, Secret, or a variable
	actions  []string
	resource string // VALUE stands for what the function has
}

func needs() []need {
	return []need{
		{
			"LogGroup", []string{"logs:CreateLogStream", "logs:PutLogEvents"},
			"arn:aws:logs:" + account + "log-group:VALUE:*",
		},
		{"Tracing", []string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, "*"},
		{
			"Queue", []string{
				"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility",
			},
			"VALUE",
		},
		{"Stream", []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}, "VALUE"},
		{"Streams", []string{"dynamodb:ListStreams"}, "VALUE"},
		{"EVENT_BUS", []string{"events:PutEvents"}, "arn:aws:events:" + account + "event-bus/VALUE"},
		{"REJECTED_EVENTS_QUEUE", []string{"sqs:SendMessage"}, "arn:aws:sqs:" + account + "VALUE"},
		{"WEBHOOK_FAILURES", []string{"sqs:SendMessage"}, "arn:aws:sqs:" + account + "VALUE"},
		{"WEBHOOK_SECRET_NAME", []string{"ssm:GetParameter"}, "arn:aws:ssm:" + account + "parameterVALUE"},
		{"CLIENT_ORIGIN_SECRET", []string{"ssm:GetParameter"}, "arn:aws:ssm:" + account + "parameterVALUE"},
		{
			"Secret", []string{"secretsmanager:GetSecretValue"},
			"arn:aws:secretsmanager:" + account + "secret:VALUE-??????",
		},
	}
}

// needed returns the permissions that a function needs by its properties.
func (c *checker) needed(f samtemplate.Resource) map[string]bool {
	has := map[string]any{"LogGroup": at(f.Properties, "LoggingConfig.LogGroup")}
	variables, _ := at(f.Properties, "Environment.Variables").(map[string]any)
	maps.Copy(has, variables)
	if name, ok := has["WEBHOOK_SECRET_NAME"].(string); ok {
		has["Secret"] = strings.TrimPrefix(name, "/aws/reference/secretsmanager/")
	}
	if f.Properties["Tracing"] == "Active" {
		has["Tracing"] = true
	}
	events, _ := f.Properties["Events"].(map[string]any)
	for _, event := range events {
		source, _ := at(event, "Properties").(map[string]any)
		if stream, ok := source["Stream"].(string); ok {
			has["Stream"], has["Streams"] = stream, stream[:strings.LastIndex(stream, "/")]+"/*"
		}
		if source["Queue"] != nil {
			has["Queue"] = source["Queue"]
		}
	}
	needed := map[string]bool{}
	for _, queue := range c.queues(f) {
		needed["sqs:SendMessage "+queue] = true
	}
	for _, need := range needs() {
		if value := has[need.has]; value != nil && value != "" {
			for _, action := range need.actions {
				needed[action+" "+strings.ReplaceAll(need.resource, "VALUE", fmt.Sprint(value))] = true
			}
		}
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
				!strings.HasSuffix(resource, "/stream/*") && !strings.HasPrefix(action, "xray:") && resource != functionsOfStack {
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
