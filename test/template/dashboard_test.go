package template_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// searches are metrics that the dashboard shows of all functions, queues and tables. The metrics of a table do not
// contain those of its indexes.
const searches = `
	AWS/Lambda,FunctionName | Errors Duration
	AWS/SQS,QueueName | ApproximateNumberOfMessagesVisible
	AWS/DynamoDB,TableName | ConsumedReadCapacityUnits ConsumedWriteCapacityUnits ReadThrottleEvents WriteThrottleEvents
	AWS/DynamoDB,TableName,GlobalSecondaryIndexName | ReadThrottleEvents WriteThrottleEvents
`

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
		for _, row := range c.searches {
			for metric := range strings.FieldsSeq(row[1]) {
				if search := fmt.Sprintf(`SEARCH('{%s} MetricName=\"%s\" `, row[0], metric); !strings.Contains(body, search) {
					c.problem("%s does not search for %s %s", dashboard.LogicalID, row[0], metric)
				}
			}
		}
	}
}
