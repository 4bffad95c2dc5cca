package template

import (
	"fmt"
	"strings"
)

// checkRoles: a role is one function's and trusts Lambda alone; the others do one thing each.
func checkRoles(c *checker) {
	owner := map[string]string{}
	for i := range c.t.Functions {
		f := &c.t.Functions[i]
		want := strings.TrimSuffix(f.LogicalID, "Function") + "Role"
		c.want("the role of function "+f.Name, f.Role, want)
		owner[f.Role] = "lambda.amazonaws.com"
	}
	owner["ScheduleRole"], owner["GatewayAccountRole"] = "scheduler.amazonaws.com", "apigateway.amazonaws.com"
	for _, role := range c.ofType("AWS::IAM::Role") {
		if owner[role.LogicalID] == "" {
			c.problem("role %s: nothing here says what it is for", role.LogicalID)
		}
		got := c.statements(At(role.Properties, "AssumeRolePolicyDocument"))
		c.compare("role "+role.LogicalID, got, map[string]bool{"sts:AssumeRole by " + owner[role.LogicalID]: true})
	}
	c.scheduleRole()
	for _, account := range c.ofType("AWS::ApiGateway::Account") {
		role := c.resource("GatewayAccountRole", "AWS::IAM::Role")
		arn := fmt.Sprint(At(account.Properties, "CloudWatchRoleArn"))
		c.want(account.LogicalID+" has its role", strings.HasSuffix(arn, ":role/GatewayAccountRole"), true)
		if managed := texts(At(role, "ManagedPolicyArns")); len(managed) != 1 ||
			!strings.HasSuffix(managed[0], ":policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs") {
			c.problem("role GatewayAccountRole: the permission to write the access log is missing, or not the only one: %v", managed)
		}
	}
}

// scheduleRole: it calls the scheduled function by its alias, and the schedule has it.
func (c *checker) scheduleRole() {
	want := map[string]bool{}
	for i := range c.t.Functions {
		f := &c.t.Functions[i]
		if len(f.Schedules) == 0 {
			continue
		}
		want["lambda:InvokeFunction on alias of "+f.LogicalID] = true
		events, _ := At(c.resource(f.LogicalID, "AWS::Serverless::Function"), "Events").(map[string]any)
		for name, event := range events {
			if At(event, "Type") == "ScheduleV2" {
				c.want(name+" of "+f.LogicalID+" has its role", strings.HasSuffix(fmt.Sprint(At(event, "Properties", "RoleArn")), ":role/ScheduleRole"), true)
				c.want("OmitName of "+name+" of "+f.LogicalID+": else all stacks' would have one name", At(event, "Properties", "OmitName"), true)
			}
		}
	}
	got := map[string]bool{}
	for _, policy := range items(At(c.resource("ScheduleRole", "AWS::IAM::Role"), "Policies")) {
		for permission := range c.statements(At(policy, "PolicyDocument")) {
			got[permission] = true
		}
	}
	c.compare("role ScheduleRole", got, want)
}

// statements gives what a policy document allows: "action on place", or "action by principal".
func (c *checker) statements(document any) map[string]bool {
	allowed := map[string]bool{}
	for _, s := range items(At(document, "Statement")) {
		if At(s, "Effect") != "Allow" {
			c.problem("the effect %v is not known here", At(s, "Effect"))
		}
		for _, action := range texts(At(s, "Action")) {
			if service, ok := At(s, "Principal", "Service").(string); ok {
				allowed[action+" by "+service] = true
				continue
			}
			if account, ok := At(s, "Principal", "AWS").(string); ok {
				allowed[action+" by "+account[strings.LastIndex(account, ":")+1:]] = true
				continue
			}
			for _, resource := range texts(At(s, "Resource")) {
				allowed[action+" on "+c.place(resource)] = true
			}
		}
	}
	return allowed
}

// checkWildcards: no statement allows everything, or on everything. A key's policy speaks of the key itself; a trace is no resource.
func checkWildcards(c *checker) {
	for i := range c.t.Resources {
		r := &c.t.Resources[i]
		walk(r.Properties, func(key string, value any) {
			text, ok := value.(string)
			switch {
			case !ok || !strings.Contains(text, "*"):
			case key == "Action" && (r.Type != "AWS::KMS::Key" || text != "kms:*"):
				c.problem("%s: the action %s is more than one", r.LogicalID, text)
			case key == "Resource" && r.Type != "AWS::KMS::Key" && r.LogicalID != "TracingPolicy" && c.place(text) == text:
				c.problem("%s: the resource %s is more than one", r.LogicalID, text)
			}
		})
	}
}

// checkNames: no resource has a fixed name, which a second stack, or a replacement, would find taken.
func checkNames(c *checker) {
	fixed := []struct{ typ, property string }{
		{"AWS::DynamoDB::Table", "TableName"}, {"AWS::Serverless::Function", "FunctionName"}, {"AWS::IAM::Role", "RoleName"},
		{"AWS::SQS::Queue", "QueueName"}, {"AWS::SNS::Topic", "TopicName"}, {"AWS::Logs::LogGroup", "LogGroupName"},
		{"AWS::CloudWatch::Alarm", "AlarmName"}, {"AWS::CloudWatch::Dashboard", "DashboardName"}, {"AWS::Serverless::Api", "Name"},
		{"AWS::Logs::MetricFilter", "FilterName"},
	}
	for _, f := range fixed {
		for _, r := range c.ofType(f.typ) {
			if name := r.Properties[f.property]; name != nil {
				c.problem("%s has the fixed name %v", r.LogicalID, name)
			}
		}
	}
}
