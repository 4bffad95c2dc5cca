package template_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// searches returns the metrics that the dashboard shows of all functions, queues and tables. The metrics of a table do
// not contain those of its indexes.
func searches() []search {
	return []search{
		{"AWS/Lambda,FunctionName", []string{"Errors", "Duration"}},
		{"AWS/SQS,QueueName", []string{"ApproximateNumberOfMessagesVisible"}},
		{"AWS/DynamoDB,TableName", []string{
			"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents", "WriteThrottleEvents",
		}},
		{"AWS/DynamoDB,TableName,GlobalSecondaryIndexName", []string{"ReadThrottleEvents", "WriteThrottleEvents"}},
	}
}

type search struct {
	schema  string // namespace and dimensions
	metrics []string
}

// dashboard checks that it shows every alarm, the functions and queues of the stack, and only metrics that exist. In a
// row "." repeats the namespace of the row before.
func (c *checker) dashboard() {
	for _, dashboard := range c.ofType("AWS::CloudWatch::Dashboard") {
		body := fmt.Sprint(dashboard.Properties["DashboardBody"])
		if !json.Valid([]byte(body)) {
			c.problem("%s is not JSON", dashboard.LogicalID)
		}
		for _, alarm := range c.ofType("AWS::CloudWatch::Alarm") {
			if !strings.Contains(body, ":alarm:"+alarm.LogicalID+`"`) {
				c.problem("%s does not show %s", dashboard.LogicalID, alarm.LogicalID)
			}
		}
		namespace := ""
		for _, row := range regexp.MustCompile(`\["([\w/]+|\.)", "(\w+)"`).FindAllStringSubmatch(body, -1) {
			if row[1] != "." {
				namespace = row[1]
			}
			if !c.metrics[namespace+" "+row[2]] {
				c.problem("%s: nothing writes the metric %s %s", dashboard.LogicalID, namespace, row[2])
			}
		}
		for _, search := range searches() {
			for _, metric := range search.metrics {
				if text := fmt.Sprintf(`SEARCH('{%s} MetricName=\"%s\" `, search.schema, metric); !strings.Contains(body, text) {
					c.problem("%s does not search for %s %s", dashboard.LogicalID, search.schema, metric)
				}
			}
		}
	}
}
