package template

import (
	"encoding/json"
	"fmt"
	"strings"
)

// checkDashboard: it is JSON, shows all alarms, and every metric on it exists.
func checkDashboard(c *checker) {
	text, _ := c.resource("Dashboard", "AWS::CloudWatch::Dashboard")["DashboardBody"].(string)
	var body struct {
		Widgets []struct {
			Type       string
			Properties struct {
				Title, Region string
				Alarms        []string
				Metrics       [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		c.problem("Dashboard is no JSON: %v", err)
		return
	}
	shown := map[string]bool{}
	for _, widget := range body.Widgets {
		if widget.Properties.Title == "" {
			c.problem("Dashboard: a widget has no title")
		}
		for _, arn := range widget.Properties.Alarms {
			shown[arn[strings.LastIndex(arn, ":")+1:]] = true
		}
		if widget.Type == "metric" && (widget.Properties.Region == "" || len(widget.Properties.Metrics) == 0) {
			c.problem("Dashboard: the widget %s shows nothing", widget.Properties.Title)
		}
		var before []string
		for _, row := range widget.Properties.Metrics {
			before = c.metricRow(widget.Properties.Title, before, row)
		}
	}
	for _, id := range sortedKeys(c.alarms()) {
		if !shown[id] && id != "CertificateAlarm" { // only made where there is a domain
			c.problem("Dashboard does not show alarm %s", id)
		}
	}
}

// metricRow reads [namespace, metric, dimension, value, …, {options}], in which "." is the same place of the row before and "..." all of
// its places but the last ones that follow. It gives the row written out.
func (c *checker) metricRow(widget string, before []string, row []any) []string {
	var full []string
	for i, item := range row {
		text, ok := item.(string)
		switch {
		case !ok: // options
		case text == "..." && i == 0:
			rest := 0
			for _, later := range row[1:] {
				if _, isText := later.(string); isText {
					rest++
				}
			}
			full = append(full, before[:max(len(before)-rest, 0)]...)
		case text == "." && i < len(before):
			full = append(full, before[i])
		default:
			full = append(full, text)
		}
	}
	if len(full) < 2 || len(full)%2 != 0 {
		c.problem("Dashboard: the widget %s has a row %v that is no metric", widget, row)
		return full
	}
	c.metricExists("the widget "+widget+" of Dashboard", full[0], full[1])
	for i := 2; i < len(full); i += 2 {
		c.dimension(widget, full[i], full[i+1])
	}
	return full
}

// dimension: a dimension's value is a resource of the template.
func (c *checker) dimension(widget, name, value string) {
	typ := map[string]string{
		"FunctionName": "AWS::Serverless::Function", "functionName": "AWS::Serverless::Function",
		"QueueName": "AWS::SQS::Queue", "TableName": "AWS::DynamoDB::Table",
	}[name]
	switch {
	case typ != "":
		for _, r := range c.ofType(typ) {
			if r.LogicalID == value {
				return
			}
		}
	case name == "ApiName" && value == c.stack(), name == "Stage" && value == c.t.API.Stage:
		return
	}
	c.problem("Dashboard: the widget %s names %s, which is not there", widget, fmt.Sprint(name, " ", value))
}
