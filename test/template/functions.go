package template

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/samtemplate"
)

// checkFunctions: built by Go, called by an alias that each deployment moves and takes back on an alarm, and behind the API done before
// the gateway gives up.
func checkFunctions(c *checker) {
	const gateway = 29 * time.Second
	for _, r := range c.ofType("AWS::Serverless::Function") {
		c.want("BuildMethod of "+r.LogicalID, r.Metadata["BuildMethod"], "go1.x")
		c.want("AutoPublishAlias of "+r.LogicalID, r.Properties["AutoPublishAlias"], "live")
		c.want("AutoPublishAliasAllProperties of "+r.LogicalID, r.Properties["AutoPublishAliasAllProperties"], true)
		c.want("the alarms of the deployment of "+r.LogicalID, At(r.Properties, "DeploymentPreference", "Alarms"),
			[]any{"Api5xxAlarm", "ApiLatencyAlarm", strings.TrimSuffix(r.LogicalID, "Function") + "ErrorsAlarm"})
	}
	for i := range c.t.Functions {
		f := &c.t.Functions[i]
		if f.Timeout >= gateway && BehindAPI(c.t, f.LogicalID) || f.Name == "authorizer" && f.Timeout > 8*time.Second {
			c.problem("function %s may take %s: API Gateway ends before it", f.Name, f.Timeout)
		}
	}
}

// BehindAPI says whether requests lead to a function, its authorizer included.
func BehindAPI(t *samtemplate.Template, function string) bool {
	return function == t.API.Authorizer.Function ||
		slices.ContainsFunc(t.API.Routes, func(r samtemplate.Route) bool { return r.Function == function })
}

// checkLogs: each function, and the API, writes JSON to a group of its own, which forgets.
func checkLogs(c *checker) {
	groups := map[string]bool{}
	for _, group := range c.ofType("AWS::Logs::LogGroup") {
		groups[group.LogicalID] = true
		if days := fmt.Sprint(group.Properties["RetentionInDays"]); days == "<nil>" || days == "0" || days == "" {
			c.problem("%s has no retention: it keeps its logs for ever", group.LogicalID)
		}
	}
	used := map[string]bool{}
	for _, function := range c.ofType("AWS::Serverless::Function") {
		want := strings.TrimSuffix(function.LogicalID, "Function") + "Logs"
		c.want("the log group of "+function.LogicalID, At(function.Properties, "LoggingConfig", "LogGroup"), want)
		c.want("the log format of "+function.LogicalID, At(function.Properties, "LoggingConfig", "LogFormat"), "JSON")
		used[want] = true
	}
	c.want("the log group of the API", c.t.API.AccessLogGroup, "AccessLogs")
	used["AccessLogs"] = true
	for _, name := range sortedKeys(used) {
		if !groups[name] {
			c.problem("%s is missing: there is no such log group", name)
		}
	}
	for _, name := range sortedKeys(groups) {
		if !used[name] {
			c.problem("%s: nothing writes to it", name)
		}
	}
}

// checkSources: nothing that is written while a mapping is made is missed, a failure is told by its record, repeated a bounded number of
// times, and kept; a type with much to do holds up no other. A sweep ends before the next begins, and none is repeated.
func checkSources(c *checker) {
	for i := range c.t.Functions {
		f := &c.t.Functions[i]
		who := "the stream of function " + f.Name
		for _, s := range f.Streams {
			c.want("StartingPosition of "+who, s.StartingPosition, "TRIM_HORIZON")
			c.want("BisectBatchOnFunctionError of "+who, s.Bisect, true)
			c.want("ReportBatchItemFailures of "+who, s.ReportFailures, true)
			c.want("ParallelizationFactor of "+who, s.ParallelizationFactor, 10)
			c.want("MaximumRetryAttempts of "+who, s.RetryAttempts, 10)
			c.want("MaximumRecordAgeInSeconds of "+who, s.RecordAge, time.Hour)
			if s.OnFailure == "" {
				c.problem("%s has no OnFailure destination: what is given up is not kept", who)
			}
		}
		asynchronous := len(f.Schedules)+len(f.LogSubscriptions) > 0
		if asynchronous && f.AsyncOnFailure == "" {
			c.problem("the asynchronous calls of function %s have no OnFailure destination: what is given up is not kept", f.Name)
		}
		for _, s := range f.Schedules {
			c.want("the schedule of function "+f.Name, s.Every, time.Minute)
			c.want("the retries of function "+f.Name, f.AsyncRetries, 0)
			if f.Timeout >= s.Every {
				c.problem("function %s may take %s: the next one begins before it ends", f.Name, f.Timeout)
			}
		}
		for _, s := range f.LogSubscriptions {
			c.want("the log group that function "+f.Name+" reads", s.LogGroup, c.t.API.AccessLogGroup)
		}
	}
}
