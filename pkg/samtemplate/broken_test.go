package samtemplate_test

import (
	"testing"

	"toggleadmin/pkg/samtemplate"
)

// The parts that a broken template is put together from. What is broken stands in line 4 unless the test says otherwise.
const (
	goodFunction = "CodeUri: functions/f/, Runtime: provided.al2023, Handler: bootstrap"
	goodTable    = "BillingMode: PAY_PER_REQUEST, KeySchema: [{AttributeName: id, KeyType: HASH}], " +
		"AttributeDefinitions: [{AttributeName: id, AttributeType: S}]"
)

func function(properties string) string {
	return api + "  F: {Type: AWS::Serverless::Function, Properties: {" + properties + "}}\n"
}

func withEvent(event string) string { return function(goodFunction + ", Events: {E: " + event + "}") }

func withRoute(properties string) string {
	return withEvent("{Type: Api, Properties: {RestApiId: !Ref Api, " + properties + "}}")
}

func table(properties string) string {
	return api + "  T: {Type: AWS::DynamoDB::Table, Properties: {" + properties + "}}\n"
}

func withAPI(properties string) string {
	return "Transform: AWS::Serverless-2016-10-31\nResources:\n  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev, " +
		properties + "}}\n  F: {Type: AWS::Serverless::Function, Properties: {" + goodFunction + "}}\n"
}

// TestBrokenTemplates: whatever is not known is refused with file, line and place, in one line.
func TestBrokenTemplates(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"empty", "", "1: the template: is empty"},
		{"no YAML", "a: [", "1: the template: is not YAML: did not find expected node content"},
		{"a text", "hello", `1: the template: must be a map, not "hello"`},
		{"two documents", api + "---\na: b\n", "4: the template: holds more than one YAML document"},
		{"a key twice", api + "  Api: {}\n", `4: Resources: the key "Api" stands there twice`},
		{"a merge key", api + "  <<: {}\n", "4: Resources: a key must be plain text"},
		{"binary", api + "  X: !!binary aGk=\n", "4: Resources.X: the YAML type !!binary is not known"},
		{"no transform", "Resources: {}\n", "1: the template: Transform is missing: only AWS::Serverless-2016-10-31 is known"},
		{"another transform", "Transform: X\nResources: {}\n", `1: Transform: "X" is not known: only AWS::Serverless-2016-10-31`},
		{"unknown section", api + "Hooks: {}\n", "4: Hooks: Hooks is not known"},
		{"a function in a mapping", api + "Mappings: {A: {B: {C: !FindInMap [A, B, C]}}}\nOutputs: {O: {Value: !FindInMap [A, B, C]}}\n",
			"4: Mappings.A.B.C: Fn::FindInMap is not allowed here"},
		{"no resources", "Transform: AWS::Serverless-2016-10-31\n", "1: the template: Resources is missing"},
		{"no API", "Transform: AWS::Serverless-2016-10-31\nResources: {}\n", "1: Resources: there is no AWS::Serverless::Api"},
		{"two APIs", api + "  B: {Type: AWS::Serverless::Api, Properties: {StageName: b}}\n",
			"4: Resources.B: is a second API beside Api: only one is known"},
		{"unknown globals", api + "Globals: {HttpApi: {}}\n", "4: Globals.HttpApi: HttpApi is not known"},
		{"unknown global property", function(goodFunction) + "Globals:\n  Function: {Layers: [x]}\n",
			"6: Globals.Function.Layers: Layers is not known"},
		{"unknown resource type", api + "  X: {Type: AWS::S3::Bucket}\n",
			"4: Resources.X: the resource type AWS::S3::Bucket is not known"},
		{"unknown resource attribute", api + "  X: {Type: AWS::IAM::Role, CreationPolicy: {}}\n",
			"4: Resources.X.CreationPolicy: CreationPolicy is not known"},
		{"unknown dependency", api + "  X: {Type: AWS::IAM::Role, DependsOn: Y}\n", `4: Resources.X: DependsOn: there is no resource "Y"`},
		{"unknown condition", api + "  X: {Type: AWS::IAM::Role, Condition: Y}\n", `4: Resources.X.Condition: there is no condition "Y"`},
		{"a broken reference in what is not played", api + "  X: {Type: AWS::IAM::Role, Properties: {A: [!GetAtt Y.Arn]}}\n",
			`4: Resources.X.Properties.A[0]: "Y" is no parameter and no resource`},
		{"a resource that is not made", api + "  X: {Type: AWS::IAM::Role, Condition: N}\nConditions: {N: !Equals [a, b]}\n" +
			"Outputs: {O: {Value: !Ref X}}\n",
			"6: Outputs.O.Value: the resource X is not made: its condition N is false"},

		{"function property", function(goodFunction + ", Layers: [x]"), "4: Resources.F.Properties.Layers: Layers is not known"},
		{"function runtime", function("Runtime: nodejs24.x"),
			`4: Resources.F.Properties.Runtime: "nodejs24.x" is not known: only provided.al2023`},
		{"function folder", function("CodeUri: src/f, Runtime: provided.al2023, Handler: bootstrap"),
			`4: Resources.F.Properties: CodeUri: "src/f" is no folder functions/<name>/`},
		{"function timeout", function(goodFunction + ", Timeout: 901"),
			`4: Resources.F.Properties.Timeout: "901" is no integer from 1 to 900`},
		{"function variable", function(goodFunction + ", Environment: {Variables: {A: [b]}}"),
			"4: Resources.F.Properties.Environment.Variables.A: must be a text, not a list"},
		{"policy template", function(goodFunction + ", Policies: [{DynamoDBCrudPolicy: {TableName: t}}]"),
			"4: Resources.F.Properties.Policies[0].DynamoDBCrudPolicy: DynamoDBCrudPolicy is not known"},
		{"managed policy", function(goodFunction + ", Policies: [AdministratorAccess]"),
			`4: Resources.F.Properties.Policies[0]: only inline policy documents are known, not "AdministratorAccess"`},
		{"policy condition", function(goodFunction + ", Policies: [{Statement: [{Effect: Allow, Action: a, Resource: b, Condition: {}}]}]"),
			"4: Resources.F.Properties.Policies[0].Statement[0].Condition: Condition is not known"},
		{"policy effect", function(goodFunction + ", Policies: [{Statement: [{Effect: allow, Action: a, Resource: b}]}]"),
			`4: Resources.F.Properties.Policies[0].Statement[0]: the effect "allow" is not known`},

		{"event type", withEvent("{Type: SQS, Properties: {}}"), "4: Resources.F.Properties.Events.E: the event type SQS is not known"},
		{"event of no API", withEvent("{Type: Api, Properties: {Path: /, Method: get}}"),
			"4: Resources.F.Properties.Events.E.Properties: RestApiId is missing"},
		{"event of another API", withEvent("{Type: Api, Properties: {RestApiId: abc123, Path: /, Method: get}}"),
			`4: Resources.F.Properties.Events.E: RestApiId: "abc123" is not the API Api`},
		{"event property", withRoute("Path: /, Method: get, RequestParameters: []"),
			"4: Resources.F.Properties.Events.E.Properties.RequestParameters: RequestParameters is not known"},
		{"event method", withRoute("Path: /, Method: fetch"), `4: Resources.F.Properties.Events.E: the method "fetch" is not known`},
		{"event authorizer", withRoute("Path: /, Method: get, Auth: {Authorizer: AWS_IAM}"),
			`4: Resources.F.Properties.Events.E: the authorizer "AWS_IAM" is not known`},
		{"event path without slash", withRoute("Path: a, Method: get"),
			`4: Resources.F.Properties.Events.E: the path "a" does not start with a slash`},
		{"event path with half a variable", withRoute("Path: '/a{id}', Method: get"),
			`4: Resources.F.Properties.Events.E: the path "/a{id}" has a segment "a{id}" that is not known`},
		{"event path greedy in the middle", withRoute("Path: '/{a+}/b', Method: get"),
			`4: Resources.F.Properties.Events.E: the path "/{a+}/b" has a segment "{a+}" that is not known`},
		{"same route twice", function(goodFunction + ", Events: {A: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /, Method: any}}," +
			" B: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /, Method: x-amazon-apigateway-any-method}}}"),
			"4: Resources.F.Properties.Events.B: ANY / belongs to F already"},
		{"two variables below one parent", function(goodFunction +
			", Events: {A: {Type: Api, Properties: {RestApiId: !Ref Api, Path: '/{a}', Method: get}}," +
			" B: {Type: Api, Properties: {RestApiId: !Ref Api, Path: '/{b}/c', Method: get}}}"),
			`4: Resources.F.Properties.Events.B: the path "/{b}/c" has {b} where another has {a}`},

		{"API property", withAPI("BinaryMediaTypes: ['*/*']"), "3: Resources.Api.Properties.BinaryMediaTypes: BinaryMediaTypes is not known"},
		{"authorizer type", withAPI("Auth: {DefaultAuthorizer: A, Authorizers: {A: {FunctionArn: !GetAtt F.Arn}}}"),
			"3: Resources.Api.Properties.Auth.Authorizers.A: FunctionPayloadType is missing: only REQUEST is known"},
		{"authorizer of another account",
			withAPI("Auth: {DefaultAuthorizer: A, Authorizers: {A: {FunctionArn: x, FunctionPayloadType: REQUEST}}}"),
			`3: Resources.Api.Properties.Auth.Authorizers.A: FunctionArn: "x" is no function of this template`},
		{"authorizer cache", withAPI("Auth: {DefaultAuthorizer: A, Authorizers: {A: {FunctionArn: !GetAtt F.Arn, " +
			"FunctionPayloadType: REQUEST, Identity: {ReauthorizeEvery: 3601}}}}"),
			`3: Resources.Api.Properties.Auth.Authorizers.A.Identity.ReauthorizeEvery: "3601" is no integer from 0 to 3600`},
		{"two authorizers", withAPI("Auth: {DefaultAuthorizer: A, Authorizers: {A: {FunctionArn: !GetAtt F.Arn, " +
			"FunctionPayloadType: REQUEST}, B: {}}}"),
			"3: Resources.Api.Properties.Auth.Authorizers.B: B is not known"},
		{"gateway response type", withAPI("GatewayResponses: {TEAPOT: {}}"),
			"3: Resources.Api.Properties.GatewayResponses.TEAPOT: API Gateway has no response type TEAPOT"},
		{"gateway response status", withAPI("GatewayResponses: {THROTTLED: {StatusCode: many}}"),
			`3: Resources.Api.Properties.GatewayResponses.THROTTLED.StatusCode: "many" is no integer from 100 to 599`},
		{"gateway response header", withAPI("GatewayResponses: {THROTTLED: {ResponseParameters: {Headers: {A: b}}}}"),
			"3: Resources.Api.Properties.GatewayResponses.THROTTLED: the header A must be a constant in single quotes or a context " +
				`variable, not "b"`},
		{"gateway response path", withAPI("GatewayResponses: {THROTTLED: {ResponseParameters: {Paths: {A: b}}}}"),
			"3: Resources.Api.Properties.GatewayResponses.THROTTLED.ResponseParameters.Paths: Paths is not known"},

		{"table property", table(goodTable + ", TableName: t"), "4: Resources.T.Properties.TableName: TableName is not known"},
		{"table billing", table("KeySchema: []"), "4: Resources.T.Properties: BillingMode is missing: only PAY_PER_REQUEST is known"},
		{"table without key", table("BillingMode: PAY_PER_REQUEST"), "4: Resources.T.Properties: KeySchema must have one or two keys"},
		{"table key undefined", table("BillingMode: PAY_PER_REQUEST, KeySchema: [{AttributeName: id, KeyType: HASH}]"),
			`4: Resources.T.Properties.KeySchema[0]: "id" is not in AttributeDefinitions`},
		{"table key order", table("BillingMode: PAY_PER_REQUEST, AttributeDefinitions: [{AttributeName: id, AttributeType: S}], " +
			"KeySchema: [{AttributeName: id, KeyType: RANGE}]"),
			`4: Resources.T.Properties.KeySchema[0]: KeyType must be HASH here, not "RANGE"`},
		{"table attribute unused", table("BillingMode: PAY_PER_REQUEST, KeySchema: [{AttributeName: id, KeyType: HASH}], " +
			"AttributeDefinitions: [{AttributeName: id, AttributeType: S}, {AttributeName: b, AttributeType: S}]"),
			"4: Resources.T.Properties: AttributeDefinitions: b is in no key"},
		{"table attribute type", table("BillingMode: PAY_PER_REQUEST, AttributeDefinitions: [{AttributeName: id, AttributeType: M}]"),
			`4: Resources.T.Properties.AttributeDefinitions[0]: the attribute type "M" is not known`},
		{"index projection", table(goodTable + ", GlobalSecondaryIndexes: [{IndexName: i, " +
			"KeySchema: [{AttributeName: id, KeyType: HASH}], Projection: {ProjectionType: NONE}}]"),
			`4: Resources.T.Properties.GlobalSecondaryIndexes[0]: the projection "NONE" is not known`},
		{"local index", table(goodTable + ", LocalSecondaryIndexes: []"),
			"4: Resources.T.Properties.LocalSecondaryIndexes: LocalSecondaryIndexes is not known"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := samtemplate.Parse("template.yaml", []byte(tt.content), samtemplate.Settings{})
			if want := "template.yaml:" + tt.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
