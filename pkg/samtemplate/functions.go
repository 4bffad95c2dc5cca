package samtemplate

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// destination names the queue for what failed every time.
type destination struct {
	OnFailure struct{ Type, Destination string }
}

// queue returns the logical id of a destination's queue; empty: there is none.
func (r *reader) queue(at *yaml.Node, d destination) string {
	if d.OnFailure.Destination == "" {
		return ""
	}
	only(r, at, "OnFailure.Type", d.OnFailure.Type, "SQS")
	return r.owner(at, typeQueue, d.OnFailure.Destination, "Arn")
}

func (r *reader) addFunction(t *Template, found *resource, properties *yaml.Node, values map[string]any) {
	var p struct {
		CodeURI, Runtime, Handler, Role string
		Timeout                         int // seconds
		FunctionURLConfig               *struct{ AuthType string }
		EventInvokeConfig               struct {
			MaximumRetryAttempts     int
			MaximumEventAgeInSeconds ignored
			DestinationConfig        destination
		}

		Architectures, AutoPublishAlias, DeploymentPreference, Description, Environment,
		Events,
		LoggingConfig, MemorySize, ReservedConcurrentExecutions, Tracing, VersionDescription ignored
	}
	p.Timeout, p.EventInvokeConfig.MaximumRetryAttempts = 3, 2 // Lambda's defaults
	r.convert(properties, values, &p)
	only(r, found.at, "Runtime", p.Runtime, "provided.al2023")
	only(r, found.at, "Handler", p.Handler, "bootstrap")
	parent, name := path.Split(path.Clean(p.CodeURI))
	only(r, found.at, "CodeUri in the folder", parent, "functions/")
	f := Function{
		LogicalID: found.id, Name: name, Timeout: time.Duration(p.Timeout) * time.Second,
		AsyncRetries:   p.EventInvokeConfig.MaximumRetryAttempts,
		AsyncOnFailure: r.queue(found.at, p.EventInvokeConfig.DestinationConfig),
	}
	if p.FunctionURLConfig != nil {
		only(r, found.at, "AuthType", p.FunctionURLConfig.AuthType, "NONE")
		f.HasURL = true
	}
	if variables := get(get(properties, "Environment"), "Variables"); variables.Kind != 0 &&
		variables.Decode(&f.Environment) != nil {
		r.fail(variables, "every environment variable must be a text")
	}
	if p.Role != "" {
		f.Role = r.owner(found.at, typeRole, p.Role, "Arn")
		f.Policies = r.statements(f.Role)
	}
	for name, event := range pairs(get(properties, "Events")) {
		properties := get(event, "Properties")
		switch typ := text(event, "Type"); typ {
		case "DynamoDB":
			f.Streams = append(f.Streams, r.stream(properties))
		case "SQS":
			f.Queues = append(f.Queues, r.queueMapping(properties))
		case "ScheduleV2":
			f.Schedules = append(f.Schedules, Schedule{Name: found.id + name.Value, Every: r.rate(properties)})
		case "CloudWatchLogs":
			f.LogSubscriptions = append(f.LogSubscriptions, r.logSubscription(properties))
		default:
			r.fail(name, "the event type %q is not supported by the local gateway", typ)
		}
	}
	t.Functions = append(t.Functions, f)
}

// statements returns what the inline policies of a function's role allow.
func (r *reader) statements(role string) (statements []Statement) {
	if known, read := r.allowed[role]; read || role == "" {
		return known
	}
	var p struct {
		AssumeRolePolicyDocument, PermissionsBoundary ignored

		Policies []struct {
			PolicyName     ignored
			PolicyDocument struct {
				Version   ignored
				Statement []Statement
			}
		}
	}
	r.decode(r.resolve(r.resources[role].properties), &p)
	for _, policy := range p.Policies {
		statements = append(statements, policy.PolicyDocument.Statement...)
	}
	r.allowed[role] = statements
	return statements
}

func (r *reader) stream(properties *yaml.Node) Stream {
	var p struct {
		Stream, StartingPosition                                        string
		BatchSize, MaximumBatchingWindowInSeconds, MaximumRetryAttempts int
		FunctionResponseTypes                                           []string
		DestinationConfig                                               destination
		FilterCriteria                                                  struct{ Filters []struct{ Pattern string } }

		BisectBatchOnFunctionError, MaximumRecordAgeInSeconds, ParallelizationFactor ignored
	}
	p.BatchSize, p.MaximumRetryAttempts = 100, -1 // Lambda's defaults
	r.decode(properties, &p)
	only(r, properties, "StartingPosition", p.StartingPosition, "TRIM_HORIZON")
	only(r, properties, "MaximumBatchingWindowInSeconds", p.MaximumBatchingWindowInSeconds, 0)
	only(r, properties, "FunctionResponseTypes", strings.Join(p.FunctionResponseTypes, ""), "ReportBatchItemFailures")
	table := r.owner(properties, typeTable, p.Stream, "StreamArn")
	if found := r.find(table); found != nil && get(found.properties, "StreamSpecification").Kind == 0 {
		r.fail(properties, "the table %s has no StreamSpecification", table)
	}
	var names []string
	for _, f := range p.FilterCriteria.Filters {
		var pattern struct {
			EventName []string `json:"eventName"`
		}
		d := json.NewDecoder(strings.NewReader(f.Pattern))
		d.DisallowUnknownFields()
		if err := d.Decode(&pattern); err != nil || len(pattern.EventName) == 0 {
			r.fail(properties, "the filter %s is not supported by the local gateway, only one of eventName", f.Pattern)
		}
		names = append(names, pattern.EventName...)
	}
	return Stream{
		Table: table, BatchSize: p.BatchSize, RetryAttempts: p.MaximumRetryAttempts,
		OnFailure: r.queue(properties, p.DestinationConfig), EventNames: names,
	}
}

func (r *reader) queueMapping(properties *yaml.Node) QueueMapping {
	var p struct {
		Queue                                     string
		BatchSize, MaximumBatchingWindowInSeconds int
		FunctionResponseTypes                     []string

		ScalingConfig ignored
	}
	p.BatchSize = 10 // Lambda's default
	r.decode(properties, &p)
	only(r, properties, "MaximumBatchingWindowInSeconds", p.MaximumBatchingWindowInSeconds, 0)
	only(r, properties, "FunctionResponseTypes", strings.Join(p.FunctionResponseTypes, ""), "ReportBatchItemFailures")
	return QueueMapping{Queue: r.owner(properties, typeQueue, p.Queue, "Arn"), BatchSize: p.BatchSize}
}

// rate returns the period of a schedule.
func (r *reader) rate(properties *yaml.Node) time.Duration {
	var p struct {
		ScheduleExpression             string
		OmitName, RoleArn, RetryPolicy ignored
	}
	r.decode(properties, &p)
	var minutes int
	if _, err := fmt.Sscanf(p.ScheduleExpression, "rate(%d minute", &minutes); err != nil || minutes < 1 {
		r.fail(properties, "ScheduleExpression %q is not supported by the local gateway, only rate(N minutes)",
			p.ScheduleExpression)
	}
	return time.Duration(minutes) * time.Minute
}

func (r *reader) logSubscription(properties *yaml.Node) LogSubscription {
	var p struct{ LogGroupName, FilterPattern string }
	r.decode(properties, &p)
	only(r, properties, "FilterPattern", p.FilterPattern, "")
	if group := r.resources[p.LogGroupName]; group == nil || group.typ != typeLogGroup {
		r.fail(properties, "LogGroupName %q is not a log group of this template", p.LogGroupName)
	}
	return LogSubscription{LogGroup: p.LogGroupName}
}
