package samtemplate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	typeAPI         = "AWS::Serverless::Api"
	typeApplication = "AWS::Serverless::Application"
	typeFunction    = "AWS::Serverless::Function"
	typeTable       = "AWS::DynamoDB::Table"
	typeQueue       = "AWS::SQS::Queue"
	typeBus         = "AWS::Events::EventBus"
	typeRule        = "AWS::Events::Rule"
	typeRole        = "AWS::IAM::Role"
	typeLogGroup    = "AWS::Logs::LogGroup"
)

// ignoredTypes are the resource types, by prefix, that the local gateway does not need.
var ignoredTypes = []string{
	"AWS::ApiGateway::", "AWS::CloudWatch::", "AWS::Events::", "AWS::IAM::", "AWS::Lambda::Permission", "AWS::Logs::",
	"AWS::Route53::", "AWS::SNS::", "AWS::SQS::QueuePolicy", "AWS::WAFv2::",
}

// attributes are the supported attributes by resource type, with the names that SAM adds to a logical id: Alias and
// Stage.
var attributes = map[string]string{
	typeTable + " Arn":                                 "arn:aws:dynamodb:REGION:ACCOUNT:table/ID",
	typeTable + " StreamArn":                           "arn:aws:dynamodb:REGION:ACCOUNT:table/ID/stream/2000-01-01T00:00:00.000",
	typeFunction + " Arn":                              "arn:aws:lambda:REGION:ACCOUNT:function:ID",
	typeFunction + " Alias":                            "arn:aws:lambda:REGION:ACCOUNT:function:ID:live",
	typeFunction + " Url FunctionUrl":                  "https://ID.lambda-url.REGION.on.aws/",
	typeAPI + " Stage":                                 "ID-Stage",
	typeQueue + " Arn":                                 "arn:aws:sqs:REGION:ACCOUNT:ID",
	typeQueue + " QueueName":                           "ID",
	typeLogGroup + " Arn":                              "arn:aws:logs:REGION:ACCOUNT:log-group:ID:*",
	typeRole + " Arn":                                  "arn:aws:iam::ACCOUNT:role/ID",
	typeBus + " Arn":                                   "arn:aws:events:REGION:ACCOUNT:event-bus/ID",
	"AWS::Events::Archive Arn":                         "arn:aws:events:REGION:ACCOUNT:archive/ID",
	typeRule + " Arn":                                  "arn:aws:events:REGION:ACCOUNT:rule/ID",
	"AWS::CloudWatch::Alarm Arn":                       "arn:aws:cloudwatch:REGION:ACCOUNT:alarm:ID",
	"AWS::CloudWatch::CompositeAlarm Arn":              "arn:aws:cloudwatch:REGION:ACCOUNT:alarm:ID",
	"AWS::ApiGateway::DomainName RegionalDomainName":   "ID.execute-api.REGION.amazonaws.com",
	"AWS::ApiGateway::DomainName RegionalHostedZoneId": "Z0000000000000",
}

func (r *reader) addAPI(t *Template, found *resource, properties *yaml.Node, values map[string]any) {
	var p struct {
		StageName string
		Auth      struct {
			DefaultAuthorizer string
			Authorizers       map[string]struct {
				FunctionArn, FunctionPayloadType string
				Identity                         struct {
					Headers          []string
					ReauthorizeEvery int // seconds
				}
			}
		}
		AccessLogSetting       struct{ DestinationArn, Format string }
		GatewayResponses       map[string]GatewayResponse
		MinimumCompressionSize *int
		DefinitionBody         struct {
			OpenAPI, Info ignored

			Paths map[string]map[string]method
		}

		AlwaysDeploy, Description, DisableExecuteAPIEndpoint, EndpointAccessMode, EndpointConfiguration, MethodSettings,
		OpenAPIVersion, SecurityPolicy, Tags, TracingEnabled ignored
	}
	r.convert(properties, values, &p)
	t.API.LogicalID, t.API.Stage, t.API.AccessLogFormat = found.id, p.StageName, p.AccessLogSetting.Format
	t.API.MinimumCompressionSize, t.API.GatewayResponses = p.MinimumCompressionSize, p.GatewayResponses
	if arn := p.AccessLogSetting.DestinationArn; arn != "" {
		t.API.AccessLogGroup = r.owner(found.at, typeLogGroup, arn, "Arn")
	}
	if name := p.Auth.DefaultAuthorizer; name != "" {
		a := p.Auth.Authorizers[name]
		only(r, found.at, "the number of authorizers", len(p.Auth.Authorizers), 1)
		only(r, found.at, "FunctionPayloadType", a.FunctionPayloadType, "REQUEST")
		t.API.Authorizer = Authorizer{
			Name: name, Function: r.owner(found.at, typeFunction, a.FunctionArn, "Arn", "Alias"),
			TTL: time.Duration(a.Identity.ReauthorizeEvery) * time.Second,
		}
	}
	for path := range pairs(get(get(properties, "DefinitionBody"), "paths")) {
		methods := p.DefinitionBody.Paths[path.Value]
		for _, name := range slices.Sorted(maps.Keys(methods)) {
			r.addRoute(t, path, name, methods[name])
		}
	}
}

// method is a method of a path in the OpenAPI document of an API.
type method struct {
	Security    []map[string]ignored
	Responses   ignored
	Integration struct{ Type, HTTPMethod, Credentials, URI string } `json:"x-amazon-apigateway-integration"`
}

func (r *reader) addRoute(t *Template, path *yaml.Node, name string, m method) {
	if m.Integration.URI == "" { // under sam local
		return
	}
	if name == "x-amazon-apigateway-any-method" {
		name = "any"
	}
	what := path.Value + " " + name + ": "
	only(r, path, what+"type", m.Integration.Type, "aws_proxy")
	only(r, path, what+"httpMethod", m.Integration.HTTPMethod, "POST")
	if m.Security != nil {
		only(r, path, what+"security", fmt.Sprint(m.Security), "[map[NONE:[]]]")
	}
	role := ""
	if arn := m.Integration.Credentials; arn != "" {
		role = r.owner(path, typeRole, arn, "Arn")
	}
	_, function, _ := strings.Cut(strings.TrimSuffix(m.Integration.URI, "/invocations"), "/functions/")
	t.API.Routes = append(t.API.Routes, Route{
		Path: path.Value, Method: strings.ToUpper(name), Function: r.owner(path, typeFunction, function, "Arn", "Alias"),
		Role: role, Authorized: m.Security == nil,
	})
}

type keySchema []struct{ AttributeName, KeyType string }

func (r *reader) addTable(t *Template, found *resource, properties *yaml.Node, values map[string]any) {
	var p struct {
		BillingMode            string
		AttributeDefinitions   []struct{ AttributeName, AttributeType string }
		KeySchema              keySchema
		GlobalSecondaryIndexes []struct {
			IndexName  string
			KeySchema  keySchema
			Projection struct {
				ProjectionType   string
				NonKeyAttributes []string
			}
		}
		StreamSpecification     struct{ StreamViewType string }
		TimeToLiveSpecification struct {
			AttributeName string
			Enabled       bool
		}

		DeletionProtectionEnabled, PointInTimeRecoverySpecification, SSESpecification ignored
	}
	r.convert(properties, values, &p)
	only(r, found.at, "BillingMode", p.BillingMode, "PAY_PER_REQUEST")
	types := map[string]string{}
	for _, a := range p.AttributeDefinitions {
		types[a.AttributeName] = a.AttributeType
	}
	key := func(schema keySchema) (hash, sort Attribute) {
		for _, element := range schema {
			attribute := Attribute{Name: element.AttributeName, Type: types[element.AttributeName]}
			if element.KeyType == "HASH" {
				hash = attribute
			} else {
				sort = attribute
			}
		}
		return hash, sort
	}
	table := Table{Name: found.id, StreamViewType: p.StreamSpecification.StreamViewType}
	table.Hash, table.Range = key(p.KeySchema)
	for _, index := range p.GlobalSecondaryIndexes {
		hash, sort := key(index.KeySchema)
		table.Indexes = append(table.Indexes, Index{
			Name: index.IndexName, Hash: hash, Range: sort, Projection: index.Projection.ProjectionType,
			NonKeyAttributes: index.Projection.NonKeyAttributes,
		})
	}
	if p.TimeToLiveSpecification.Enabled {
		table.TTLAttribute = p.TimeToLiveSpecification.AttributeName
	}
	t.Tables = append(t.Tables, table)
}

func (r *reader) addQueue(t *Template, found *resource, properties *yaml.Node, values map[string]any) {
	var p struct {
		VisibilityTimeout int // seconds
		RedrivePolicy     struct {
			DeadLetterTargetArn string
			MaxReceiveCount     int
		}

		MessageRetentionPeriod, SqsManagedSseEnabled ignored
	}
	p.VisibilityTimeout = 30 // the default of SQS
	r.convert(properties, values, &p)
	queue := Queue{
		LogicalID: found.id, VisibilityTimeout: time.Duration(p.VisibilityTimeout) * time.Second,
		MaxReceiveCount: p.RedrivePolicy.MaxReceiveCount,
	}
	if arn := p.RedrivePolicy.DeadLetterTargetArn; arn != "" {
		queue.DeadLetterQueue = r.owner(found.at, typeQueue, arn, "Arn")
	}
	t.Queues = append(t.Queues, queue)
}

func (r *reader) addRule(t *Template, found *resource, properties *yaml.Node, values map[string]any) {
	var p struct {
		EventBusName string
		EventPattern struct {
			Source     []string
			DetailType []any `json:"detail-type"` // texts, or {prefix: text}
		}
		Targets []struct {
			Arn, InputPath string

			ID, DeadLetterConfig ignored
		}
	}
	r.convert(properties, values, &p)
	if bus := r.resources[p.EventBusName]; bus == nil || bus.typ != typeBus {
		r.fail(found.at, "EventBusName must be a bus of this template")
	}
	only(r, found.at, "EventPattern.source", fmt.Sprint(p.EventPattern.Source), "[toggleadmin]")
	rule := Rule{}
	for _, pattern := range p.EventPattern.DetailType {
		switch v := pattern.(type) {
		case string:
			rule.Types = append(rule.Types, v)
		case map[string]any:
			only(r, found.at, "EventPattern.detail-type", fmt.Sprint(v), "map[prefix:toggleadmin.]")
		}
	}
	for _, target := range p.Targets {
		only(r, found.at, "InputPath", target.InputPath, "$.detail")
		rule.Queue = r.owner(found.at, typeQueue, target.Arn, "Arn")
		t.Rules = append(t.Rules, rule)
	}
}
