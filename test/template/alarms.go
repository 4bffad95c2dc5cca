package template

import (
	"fmt"
	"slices"
	"strings"
)

// watched is what an alarm must watch.
type watched struct {
	namespace, metric string
	dimensions        map[string]string
}

func (w watched) String() string {
	words := []string{w.namespace, w.metric}
	for _, name := range sortedKeys(w.dimensions) {
		words = append(words, "of", name, w.dimensions[name])
	}
	return strings.Join(words, " ")
}

// alarms are those that the template must have, by logical id: what is there decides which.
func (c *checker) alarms() map[string]watched {
	stack := c.stack()
	api := map[string]string{"ApiName": stack, "Stage": c.t.API.Stage}
	one := func(name, value string) map[string]string { return map[string]string{name: value} }
	all := map[string]watched{
		"Api5xxAlarm":            {"AWS/ApiGateway", "5XXError", api},
		"ApiLatencyAlarm":        {"AWS/ApiGateway", "Latency", api},
		"ApiThrottlesAlarm":      {"ToggleAdmin/" + stack, "throttledRequests", nil},
		"FunctionThrottlesAlarm": {"AWS/Lambda", "Throttles", nil},
	}
	for i := range c.t.Functions {
		f := &c.t.Functions[i]
		all[strings.TrimSuffix(f.LogicalID, "Function")+"ErrorsAlarm"] = watched{"AWS/Lambda", "Errors", one("FunctionName", f.LogicalID)}
		if len(f.Streams) > 0 {
			all["StreamAgeAlarm"] = watched{"AWS/Lambda", "IteratorAge", one("FunctionName", f.LogicalID)}
		}
		if len(f.Schedules) > 0 {
			all["SweepMissingAlarm"] = watched{"AWS/Lambda", "Invocations", one("FunctionName", f.LogicalID)}
			all["StalenessBehindAlarm"] = watched{"ToggleAdmin/Staleness", "left", one("functionName", f.LogicalID)}
		}
		if len(f.LogSubscriptions) > 0 {
			all["TrafficMalformedAlarm"] = watched{"ToggleAdmin/Traffic", "malformed", one("functionName", f.LogicalID)}
		}
	}
	for _, queue := range c.t.Queues {
		all[queue+"Alarm"] = watched{"AWS/SQS", "ApproximateNumberOfMessagesVisible", one("QueueName", queue)}
	}
	for _, table := range c.t.Tables {
		for _, kind := range []string{"Read", "Write"} {
			all[table.LogicalID+kind+"ThrottlesAlarm"] = watched{"AWS/DynamoDB", kind + "ThrottleEvents", one("TableName", table.LogicalID)}
		}
	}
	for _, domain := range c.ofType("AWS::ApiGateway::DomainName") {
		certificate := fmt.Sprint(domain.Properties["RegionalCertificateArn"])
		all["CertificateAlarm"] = watched{"AWS/CertificateManager", "DaysToExpiry", one("CertificateArn", certificate)}
	}
	return all
}

// stack gives the stack's name, as the template's own metric filter spells it.
func (c *checker) stack() string {
	for _, filter := range c.ofType("AWS::Logs::MetricFilter") {
		for _, transformation := range items(filter.Properties["MetricTransformations"]) {
			if name, ok := strings.CutPrefix(fmt.Sprint(At(transformation, "MetricNamespace")), "ToggleAdmin/"); ok {
				return name
			}
		}
	}
	c.problem("no metric filter counts throttled requests")
	return ""
}

// checkAlarms: each function, table, queue, stream and schedule has its alarms, on a metric that exists, and each tells the one topic.
func checkAlarms(c *checker) {
	wanted := c.alarms()
	there := map[string]bool{}
	for _, alarm := range c.ofType("AWS::CloudWatch::Alarm") {
		id, properties := alarm.LogicalID, alarm.Properties
		there[id] = true
		want, known := wanted[id]
		if !known {
			c.problem("alarm %s: nothing here says what it watches", id)
		}
		got := watched{fmt.Sprint(properties["Namespace"]), fmt.Sprint(properties["MetricName"]), map[string]string{}}
		for _, dimension := range items(properties["Dimensions"]) {
			got.dimensions[fmt.Sprint(At(dimension, "Name"))] = fmt.Sprint(At(dimension, "Value"))
		}
		c.want("what alarm "+id+" watches", got, want)
		c.metricExists("alarm "+id, got.namespace, got.metric)
		for _, key := range []string{"AlarmActions", "OKActions"} {
			c.want(key+" of alarm "+id, properties[key], []any{alarmTopic})
		}
		for _, key := range []string{"AlarmDescription", "Period", "EvaluationPeriods", "DatapointsToAlarm", "Threshold", "ComparisonOperator"} {
			if properties[key] == nil || properties[key] == "" {
				c.problem("alarm %s has no %s", id, key)
			}
		}
		missing := "notBreaching"
		if id == "SweepMissingAlarm" {
			missing = "breaching" // what does not run writes nothing
			c.want("ComparisonOperator of alarm "+id, properties["ComparisonOperator"], "LessThanThreshold")
		}
		c.want("TreatMissingData of alarm "+id, properties["TreatMissingData"], missing)
	}
	for _, id := range sortedKeys(wanted) {
		if !there[id] {
			c.problem("alarm %s is missing: nothing watches %s", id, wanted[id])
		}
	}
}

// awsMetrics are the metrics of AWS's services that are used here. Sources: the metrics pages of each service's developer guide.
func awsMetrics() Metrics {
	return Metrics{
		"AWS/ApiGateway":         {"Count", "4XXError", "5XXError", "Latency", "IntegrationLatency"},
		"AWS/Lambda":             {"Invocations", "Errors", "Throttles", "Duration", "IteratorAge"},
		"AWS/SQS":                {"ApproximateNumberOfMessagesVisible"},
		"AWS/DynamoDB":           {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents", "WriteThrottleEvents"},
		"AWS/CertificateManager": {"DaysToExpiry"},
	}
}

// metricExists: AWS writes it, or the code does, or a metric filter of the template.
func (c *checker) metricExists(who, namespace, name string) {
	if slices.Contains(awsMetrics()[namespace], name) || slices.Contains(c.metrics[namespace], name) {
		return
	}
	for _, filter := range c.ofType("AWS::Logs::MetricFilter") {
		for _, transformation := range items(filter.Properties["MetricTransformations"]) {
			if At(transformation, "MetricNamespace") == namespace && At(transformation, "MetricName") == name {
				return
			}
		}
	}
	c.problem("%s: nothing writes the metric %s %s", who, namespace, name)
}
