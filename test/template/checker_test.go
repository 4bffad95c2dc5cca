package template_test

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

// checker collects problems of a template, one line each.
type checker struct {
	resources []samtemplate.Resource
	problems  []string
	runbook   []string        // its sections
	metrics   map[string]bool // "namespace name" of metrics that AWS, the code or a metric filter writes
}

func newChecker(tb testing.TB) *checker {
	tb.Helper()
	c := &checker{metrics: metricsOfAWS()}
	for _, heading := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(read(tb, "docs/runbook.md"), -1) {
		c.runbook = append(c.runbook, strings.Split(heading[1], ", ")...)
	}
	files, _ := filepath.Glob(root + "pkg/*/*/*.go")
	for _, file := range files {
		content, err := os.ReadFile(file)
		assert.OK(tb, err)
		for _, namespace := range regexp.MustCompile(`"(ToggleAdmin/\w+)"`).FindAllSubmatch(content, -1) {
			for _, name := range regexp.MustCompile(`"(\w+)"`).FindAllSubmatch(content, -1) {
				c.metrics[string(namespace[1])+" "+string(name[1])] = true
			}
		}
	}
	return c
}

// metricsOfAWS returns "namespace name" of the metrics of AWS that the template uses.
func metricsOfAWS() map[string]bool {
	metrics := map[string]bool{}
	for namespace, names := range map[string][]string{
		"AWS/ApiGateway": {"Count", "4XXError", "5XXError", "Latency", "IntegrationLatency"},
		"AWS/Lambda": {
			"Invocations", "Errors", "Throttles", "Duration", "IteratorAge",
			"UrlRequestCount", "Url4xxCount", "Url5xxCount", "UrlRequestLatency",
		},
		"AWS/Logs": {"IncomingLogEvents"},
		"AWS/SQS":  {"ApproximateNumberOfMessagesVisible"},
		"AWS/DynamoDB": {
			"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents", "WriteThrottleEvents",
		},
		"AWS/CertificateManager": {"DaysToExpiry"},
	} {
		for _, name := range names {
			metrics[namespace+" "+name] = true
		}
	}
	return metrics
}

func (c *checker) check(resources []samtemplate.Resource) []string {
	c.resources, c.problems = resources, nil
	c.metricFilters()
	c.properties()
	c.functions()
	c.permissions()
	c.alarms()
	c.releaseAlarm()
	c.dashboard()
	c.gatewayResponses()
	return c.problems
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// expect compares values by their texts.
func (c *checker) expect(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.problem("%s is %v, want %v", what, got, want)
	}
}

func (c *checker) ofType(typ string) (found []samtemplate.Resource) {
	for _, r := range c.resources {
		if r.Type == typ {
			found = append(found, r)
		}
	}
	return found
}

// complete reports whether the resources are those with the parameters everything.
func (c *checker) complete() bool { return len(c.ofType("AWS::ApiGateway::DomainName")) > 0 }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// expected is the value of a property.
type expected struct {
	resource string // a type or a logical id
	property string
	value    any
}

func expectedProperties() []expected {
	// the name of the message in the log lines of functions
	messageKey := lambdacontext.ReplaceAttr(nil, slog.String(slog.MessageKey, "")).Key
	largeResponse := fmt.Sprint("{ $.", lambdahttp.ResponseBytes, " > ", lambdahttp.LargeResponse, " }")
	countLines := func(metric string) []map[string]any {
		return []map[string]any{
			{"MetricNamespace": "ToggleAdmin/local", "MetricName": metric, "MetricValue": 1, "Unit": "Count"},
		}
	}
	return []expected{
		{"AWS::DynamoDB::Table", "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", true},
		{"AWS::DynamoDB::Table", "SSESpecification.SSEEnabled", true},
		{"AWS::DynamoDB::Table", "DeletionProtectionEnabled", false},
		{"FeatureTypes", "StreamSpecification.StreamViewType", "NEW_AND_OLD_IMAGES"},
		{"Events", "StreamSpecification.StreamViewType", "NEW_IMAGE"},
		{"Events", "TimeToLiveSpecification.AttributeName", "expiresAt"},
		{"Feedback", "TimeToLiveSpecification", nil},
		{"Traffic", "TimeToLiveSpecification.AttributeName", "expiresAt"},
		{"Usage", "TimeToLiveSpecification.AttributeName", "expiresAt"},
		// the maximum
		{"AWS::SQS::Queue", "MessageRetentionPeriod", 1209600},
		{"AWS::SQS::Queue", "SqsManagedSseEnabled", true},
		// if its policy is wrong, alarms are lost without an error
		{"AWS::SNS::Topic", "KmsMasterKeyId", nil},
		{"AWS::SNS::Subscription", "TopicArn", "AlarmTopic"},
		{"AWS::Logs::LogGroup", "RetentionInDays", 30},
		{"AWS::CloudWatch::Alarm", "AlarmActions", "[AlarmTopic]"},
		{"AWS::CloudWatch::Alarm", "OKActions", "[AlarmTopic]"},
		// not for a single event
		{"TrafficMalformedAlarm", "Threshold", 10},
		// without invocations there are no data
		{"SweepMissingAlarm", "TreatMissingData", "breaching"},
		{"SweepMissingAlarm", "ComparisonOperator", "LessThanThreshold"},
		{"DeliverySweepMissingAlarm", "TreatMissingData", "breaching"},
		{"DeliverySweepMissingAlarm", "ComparisonOperator", "LessThanThreshold"},
		// edge endpoints have error pages of their own
		{"AWS::Serverless::Api", "EndpointConfiguration.Type", "REGIONAL"},
		// otherwise SAM creates a stage called Stage
		{"AWS::Serverless::Api", "OpenApiVersion", "3.0.1"},
		// otherwise changes can stay undeployed
		{"AWS::Serverless::Api", "AlwaysDeploy", true},
		// the web pages load 80 kB compressed
		{"AWS::Serverless::Api", "MinimumCompressionSize", 1024},
		{"AWS::Serverless::Api", "SecurityPolicy", "SecurityPolicy_TLS13_1_2_PQ_2025_09"},
		// traces would contain credentials
		{"AWS::Serverless::Api", "MethodSettings", []map[string]any{
			{
				"ResourcePath": "/*", "HttpMethod": "*",
				"DataTraceEnabled": false, "LoggingLevel": "OFF", "MetricsEnabled": false,
				"ThrottlingBurstLimit": 200, "ThrottlingRateLimit": 100,
			},
			{
				"ResourcePath": "/~1console~1{proxy+}", "HttpMethod": "GET",
				"DataTraceEnabled": false, "LoggingLevel": "OFF", "MetricsEnabled": false,
				"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 10,
			},
		}},
		{"AWS::Serverless::Api", "Auth.Authorizers.Token.Identity", "map[Headers:[Authorization] ReauthorizeEvery:0]"},
		{"AWS::ApiGateway::DomainName", "SecurityPolicy", "TLS_1_2"},
		{"AWS::ApiGateway::Account", "CloudWatchRoleArn", "arn:aws:iam::000000000000:role/GatewayAccountRole"},
		{"NotFoundPermission", "SourceArn", "arn:aws:execute-api:us-east-1:000000000000:Api/*/*/*"},
		{"CompileSnapshotsFunction", "Events.Log.Properties.FunctionResponseTypes", "[ReportBatchItemFailures]"},
		{"CompileSnapshotsFunction", "Events.Log.Properties.MaximumRetryAttempts", 5},
		{"NotFoundPermission", "FunctionName", "NotFoundFunction"},
		{"AWS::Serverless::Function", "LoggingConfig.LogFormat", "JSON"},
		// lines and hours without an event cost nothing
		{"AWS::Serverless::Function", "LoggingConfig.SystemLogLevel", "WARN"},
		{"ThrottledRequests", "MetricTransformations", countLines("throttledRequests")},
		{"WebhookSecretErrors", "MetricTransformations", countLines("webhookSecretErrors")},
		{"WebhookSecretErrors", "FilterPattern", `{ $.` + messageKey + ` = "` + webhook.UnreadableParameter + `" }`},
		{"LargeResponses", "FilterPattern", largeResponse},
		{"LargeResponsesAlarm", "Threshold", lambdahttp.LargeResponse},
		{"AuthorizerFunction", "Timeout", 3},
		{"AuthorizerFunction", "DeploymentPreference.Role", "arn:aws:iam::000000000000:role/CodeDeployRole"},
		{"ClientFunction", "DeploymentPreference.Role", "arn:aws:iam::000000000000:role/DeliveryCodeDeployRole"},
		{"ClientFunction", "DeploymentPreference.Alarms", "[ClientErrorsAlarm]"},
		{"ReevaluateStalenessFunction", "Events.Lifetimes.Properties.BisectBatchOnFunctionError", true},
		{"ReevaluateStalenessFunction", "Events.Lifetimes.Properties.FunctionResponseTypes", "[ReportBatchItemFailures]"},
		{"ReevaluateStalenessFunction", "Events.Lifetimes.Properties.ParallelizationFactor", 2},
		{"ReevaluateStalenessFunction", "Events.Lifetimes.Properties.MaximumRetryAttempts", 10},
		{"ReevaluateStalenessFunction", "Events.Lifetimes.Properties.MaximumRecordAgeInSeconds", 3600},
		// Events wait for the bus in order for 12 hours; a stream keeps them for 24 hours. Two minutes of three with a
		// wait of a minute or more are an alarm within minutes of the first error.
		{"PublishEventsFunction", "Events.Log.Properties.BisectBatchOnFunctionError", true},
		{"PublishEventsFunction", "Events.Log.Properties.FunctionResponseTypes", "[ReportBatchItemFailures]"},
		{"PublishEventsFunction", "Events.Log.Properties.ParallelizationFactor", 1},
		{"PublishEventsFunction", "Events.Log.Properties.MaximumRetryAttempts", -1},
		{"PublishEventsFunction", "Events.Log.Properties.MaximumRecordAgeInSeconds", 43200},
		{"PublishEventsFunction", "Events.Log.Properties.FilterCriteria.Filters", `[map[Pattern:{"eventName":["INSERT"]}]]`},
		{"StreamAgeAlarm", "Threshold", 60000},
		{"StreamAgeAlarm", "EvaluationPeriods", 5},
		{"StreamAgeAlarm", "DatapointsToAlarm", 3},
		{"DeliveryStreamAgeAlarm", "Threshold", 60000},
		{"DeliveryStreamAgeAlarm", "EvaluationPeriods", 5},
		{"DeliveryStreamAgeAlarm", "DatapointsToAlarm", 3},
		// with a name, all stacks would use the same one
		{"SweepStalenessFunction", "Events.EachMinute.Properties.OmitName", true},
		{"SweepStalenessFunction", "Events.EachMinute.Properties.ScheduleExpression", "rate(1 minute)"},
		{"SweepStalenessFunction", "Events.EachMinute.Properties.RoleArn", "arn:aws:iam::000000000000:role/ScheduleRole"},
		// the next sweep does the same, and starts after the timeout
		{"SweepStalenessFunction", "EventInvokeConfig.MaximumRetryAttempts", 0},
		{"SweepStalenessFunction", "Timeout", 50},
		{"SweepChangeRequestsFunction", "Events.EachMinute.Properties.ScheduleExpression", "rate(1 minute)"},
		{"SweepChangeRequestsFunction", "EventInvokeConfig.MaximumRetryAttempts", 0},
		{"SweepChangeRequestsFunction", "Timeout", 50},
		{"AnnounceExpiringTokensFunction", "Events.EachHour.Properties.ScheduleExpression", "rate(60 minutes)"},
		{"AnnounceExpiringTokensFunction", "Events.EachHour.Properties.OmitName", true},
		{"WebhookRule", "Targets", []map[string]any{{
			"Id":               "webhook",
			"Arn":              "arn:aws:sqs:" + account + "WebhookQueue",
			"DeadLetterConfig": map[string]any{"Arn": "arn:aws:sqs:" + account + "WebhookFailures"},
			"InputPath":        "$.detail",
		}}},
		// Together more than three days, for invocations that cannot start. Lambda requires six times the timeout.
		{"WebhookQueue", "RedrivePolicy.maxReceiveCount", 1000},
		{"WebhookQueue", "VisibilityTimeout", 300},
		{"WebhookQueue", "RedrivePolicy.deadLetterTargetArn", "arn:aws:sqs:us-east-1:000000000000:WebhookFailures"},
		{"DeliverWebhookFunction", "Timeout", 30},
		// less than MaximumConcurrency would throttle invocations, and each would count as a receive
		{"DeliverWebhookFunction", "ReservedConcurrentExecutions", nil},
		{"WebhookQueuePolicy", "Queues", "[WebhookQueue WebhookFailures]"},
		{"WebhookQueuePolicy", "PolicyDocument.Statement", []map[string]any{{
			"Effect":    "Allow",
			"Principal": map[string]any{"Service": "events.amazonaws.com"},
			"Action":    []string{"sqs:SendMessage"},
			"Resource":  "*",
			"Condition": map[string]any{
				"ArnEquals": map[string]any{"aws:SourceArn": "arn:aws:events:" + account + "rule/WebhookRule"},
			},
		}}},
		{"AWS::WAFv2::WebACLAssociation", "ResourceArn", "arn:aws:apigateway:us-east-1::/restapis/Api/stages/Api-Stage"},
	}
}

func (c *checker) properties() {
	for _, want := range expectedProperties() {
		found := false
		for _, r := range c.resources {
			if want.resource == r.Type || want.resource == r.LogicalID {
				found = true
				c.expect(want.property+" of "+r.LogicalID, at(r.Properties, want.property), want.value)
			}
		}
		if c.complete() && !found {
			c.problem("there is no %s", want.resource)
		}
	}
	for _, r := range c.resources {
		if r.Type == "AWS::DynamoDB::Table" || strings.HasPrefix(r.LogicalID, "GatewayAccount") {
			c.expect("DeletionPolicy of "+r.LogicalID, r.DeletionPolicy, "RetainExceptOnCreate")
			c.expect("UpdateReplacePolicy of "+r.LogicalID, r.UpdateReplacePolicy, "Retain")
		}
		// A second stack, or a replacement, would find a fixed name in use.
		kind := r.Type[strings.LastIndex(r.Type, ":")+1:]
		for _, name := range []string{kind + "Name", map[string]string{"Api": "Name", "MetricFilter": "FilterName"}[kind]} {
			if r.Properties[name] != nil && kind != "DomainName" && kind != "Policy" {
				c.problem("%s has the fixed name %v", r.LogicalID, r.Properties[name])
			}
		}
	}
}

// functions checks that every function has a role and a log group, and that the groups are used.
func (c *checker) functions() {
	used := map[string]bool{"AccessLogs": true}
	for _, f := range c.ofType("AWS::Serverless::Function") {
		used[fmt.Sprint(at(f.Properties, "LoggingConfig.LogGroup"))] = true
		c.expect("BuildMethod of "+f.LogicalID, f.Metadata["BuildMethod"], "go1.x")
		// A queue has a dead-letter queue.
		if asynchronous(f) && f.LogicalID != "DeliverWebhookFunction" && c.queues(f) == nil {
			c.problem("%s has no OnFailure destination: events that fail every time are lost", f.LogicalID)
		}
		if timeout, _ := f.Properties["Timeout"].(int); !asynchronous(f) && timeout >= 29 {
			c.problem("%s has a timeout of %d s: API Gateway waits 29 s", f.LogicalID, timeout)
		}
		// Only a canary needs an alias and its versions, which are two resources of a function. SAM retains versions,
		// and Lambda refuses one that equals the one that a rolled-back deployment has left.
		gradual := f.LogicalID == "AuthorizerFunction" || f.LogicalID == "ClientFunction"
		c.expect("whether "+f.LogicalID+" has a canary", f.Properties["DeploymentPreference"] != nil, gradual)
		c.expect("whether "+f.LogicalID+" has an alias", f.Properties["AutoPublishAlias"] != nil, gradual)
		c.expect("whether the versions of "+f.LogicalID+" are deleted", f.DeletionPolicy == "Delete", gradual)
	}
	for _, group := range c.ofType("AWS::Logs::LogGroup") {
		if !used[group.LogicalID] {
			c.problem("no function writes to %s", group.LogicalID)
		}
	}
}

// metricOfFailures returns the metric that shows that a function without a caller fails. A function that reads a stream
// reports what it has left without an error, so only the age of the stream's records shows it. One that fails every
// time in an hour leaves a message in its queue, which has an alarm.
func metricOfFailures(f samtemplate.Resource) string {
	switch {
	case f.LogicalID == "AnnounceExpiringTokensFunction":
		return ""
	case invokedBy(f, "DynamoDB"):
		return "IteratorAge"
	}
	return "Errors"
}

// asynchronous reports whether a function is invoked other than by the API.
func asynchronous(f samtemplate.Resource) bool {
	return invokedBy(f, "CloudWatchLogs", "DynamoDB", "ScheduleV2", "SQS")
}

func invokedBy(f samtemplate.Resource, types ...any) bool {
	events, _ := f.Properties["Events"].(map[string]any)
	for _, event := range events {
		if slices.Contains(types, at(event, "Type")) {
			return true
		}
	}
	return false
}

// queues returns the ARNs of a function's OnFailure destinations.
func (c *checker) queues(f samtemplate.Resource) (arns []string) {
	walk(f.Properties, "", func(parent map[string]any, key, _ string) {
		if key == "OnFailure" {
			arns = append(arns, fmt.Sprint(at(parent[key], "Destination")))
		}
	})
	return arns
}

// metricFilters adds the metrics of metric filters.
func (c *checker) metricFilters() {
	for _, filter := range c.ofType("AWS::Logs::MetricFilter") {
		for _, metric := range list(filter.Properties["MetricTransformations"]) {
			c.metrics[fmt.Sprint(at(metric, "MetricNamespace"), " ", at(metric, "MetricName"))] = true
		}
	}
}

// alarms checks that alarms watch metrics that exist, that the runbook describes them, and that nothing important is
// without an alarm.
func (c *checker) alarms() {
	sections, watched := map[string]bool{}, map[string]bool{}
	for _, section := range c.runbook {
		sections[section] = true
	}
	for _, alarm := range c.ofType("AWS::CloudWatch::Alarm") {
		if !sections[alarm.LogicalID] {
			c.problem("docs/runbook.md has no section for %s", alarm.LogicalID)
		}
		delete(sections, alarm.LogicalID)
		for _, metric := range alarmMetrics(alarm) {
			what := fmt.Sprint(at(metric, "Namespace"), " ", at(metric, "MetricName"))
			for _, d := range list(at(metric, "Dimensions")) {
				watched[what+" "+fmt.Sprint(at(d, "Value"))] = true
			}
			if !c.metrics[what] {
				c.problem("%s: nothing writes the metric %s", alarm.LogicalID, what)
			}
		}
		if alarm.Properties["AlarmDescription"] == nil || alarm.Properties["TreatMissingData"] == nil {
			c.problem("%s has no AlarmDescription or no TreatMissingData", alarm.LogicalID)
		}
	}
	if c.complete() && len(sections) > 0 {
		c.problem("docs/runbook.md has sections for %v, which are not alarms of the template", sections)
	}
	needed := []string{"AWS/ApiGateway 5XXError local", "AWS/ApiGateway Latency local",
		"AWS/Lambda Errors AuthorizerFunction",
		"AWS/Lambda Invocations SweepStalenessFunction", "AWS/Lambda Invocations SweepSnapshotsFunction",
		"AWS/Lambda Invocations SweepUsageFunction", "AWS/Lambda Invocations SweepChangeRequestsFunction"}
	for _, f := range c.ofType("AWS::Serverless::Function") {
		if f.Properties["FunctionUrlConfig"] != nil {
			needed = append(needed, "AWS/Lambda Url5xxCount "+f.LogicalID, "AWS/Lambda Throttles "+f.LogicalID)
		}
		if metric := metricOfFailures(f); asynchronous(f) && metric != "" {
			needed = append(needed, "AWS/Lambda "+metric+" "+f.LogicalID)
		}
	}
	for _, queue := range c.ofType("AWS::SQS::Queue") {
		if queue.Properties["RedrivePolicy"] != nil {
			continue // its messages get to a dead-letter queue
		}
		needed = append(needed, "AWS/SQS ApproximateNumberOfMessagesVisible "+queue.LogicalID)
	}
	for _, what := range needed {
		if !watched[what] {
			c.problem("no alarm watches %s", what)
		}
	}
}

// notOfARelease are the alarms that do not roll a release back, because other stacks cause them, or a change of hours
// ago, or a message in a queue keeps them active.
func notOfARelease() []string {
	return []string{
		"AccessLogAlarm", "ApiThrottlesAlarm", "CertificateAlarm", "DeliveryFailuresAlarm", "FailureQueuesAlarm",
		"FunctionThrottlesAlarm", "KeptTogglesAlarm", "LargeResponsesAlarm", "SnapshotSizeAlarm", "StalenessBehindAlarm",
		"TrafficMalformedAlarm", "WebhookSecretAlarm",
	}
}

// releaseAlarm checks that the alarm that rolls a release back consists of all others.
func (c *checker) releaseAlarm() {
	rule := ""
	for _, r := range c.ofType("AWS::CloudWatch::CompositeAlarm") {
		rule = fmt.Sprint(r.Properties["AlarmRule"])
	}
	for _, alarm := range c.ofType("AWS::CloudWatch::Alarm") {
		part := strings.Contains(rule, `ALARM("`+alarm.LogicalID+`")`)
		c.expect("whether "+alarm.LogicalID+" rolls a release back", part, !slices.Contains(notOfARelease(), alarm.LogicalID))
	}
}

// alarmMetrics returns the metrics of an alarm: its own, or those of its expression.
func alarmMetrics(alarm samtemplate.Resource) (metrics []any) {
	for _, query := range list(alarm.Properties["Metrics"]) {
		if metric := at(query, "MetricStat.Metric"); metric != nil {
			metrics = append(metrics, metric)
		}
	}
	if metrics == nil {
		metrics = []any{alarm.Properties}
	}
	return metrics
}
