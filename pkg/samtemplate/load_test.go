package samtemplate_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// api is the smallest API; sections follow it.
const api = `Transform: AWS::Serverless-2016-10-31
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: dev}}
`

func mustParse(tb testing.TB, content string, s samtemplate.Settings) *samtemplate.Template {
	tb.Helper()
	template, err := samtemplate.Parse("template.yaml", []byte(content), s)
	if err != nil {
		tb.Fatal(err)
	}
	return template
}

// TestLoadSmall reads everything that the model has from one small template.
func TestLoadSmall(t *testing.T) {
	t.Parallel()
	got := mustParse(t, `
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: dev}
Conditions:
  Never: !Equals [!Ref Stage, never]
Globals:
  Function:
    Runtime: provided.al2023
    Handler: bootstrap
    Timeout: 10
    Environment: {Variables: {COMMON: 1, BOTH: global}}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: !Ref Stage
      Auth:
        DefaultAuthorizer: Token
        Authorizers:
          Token:
            FunctionArn: !GetAtt CheckFunction.Arn
            FunctionPayloadType: REQUEST
            Identity: {Headers: [Authorization], ReauthorizeEvery: 60}
      AccessLogSetting: {DestinationArn: somewhere, Format: '{"status":"$context.status"}'}
      GatewayResponses:
        THROTTLED:
          StatusCode: 429
          ResponseParameters: {Headers: {Retry-After: "'1'"}}
          ResponseTemplates: {application/json: '{"id":"$context.requestId"}'}
  CheckFunction: {Type: AWS::Serverless::Function, Properties: {CodeUri: functions/check/}}
  ListThingsFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/list-things/
      MemorySize: 512
      Timeout: 5
      Environment: {Variables: {BOTH: own, TABLE: !Ref Things}}
      Policies:
        - Statement: [{Effect: Allow, Action: dynamodb:Scan, Resource: [!GetAtt Things.Arn, !Sub '${Things.Arn}/index/*']}]
      Events:
        List: {Type: Api, Properties: {RestApiId: !Ref Api, Path: '/things/{id}', Method: get}}
        Rest: {Type: Api, Properties: {RestApiId: !Ref Api, Path: '/{proxy+}', Method: any, Auth: {Authorizer: NONE}}}
        Other:
          Type: Api
          Properties: {RestApiId: !Ref Api, Path: '/things/{id}', Method: x-amazon-apigateway-any-method, Auth: {Authorizer: NONE}}
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: N}, {AttributeName: at, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}, {AttributeName: at, KeyType: RANGE}]
      GlobalSecondaryIndexes:
        - IndexName: byTime
          KeySchema: [{AttributeName: at, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [name]}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}
  Unmade: {Type: AWS::Logs::LogGroup, Condition: Never}
Outputs:
  Table: {Value: !Ref Things}
  Hidden: {Condition: Never, Value: !Ref Unmade}
`, samtemplate.Settings{Region: "eu-west-1", AccountID: "123456789012", Parameters: map[string]string{"Stage": "test"}})
	if n := len(got.Resources); n != 4 {
		t.Errorf("%d resources, want the 4 that are made", n)
	}
	got.Resources = nil
	arn := "arn:aws:dynamodb:eu-west-1:123456789012:table/Things"
	id, at := samtemplate.Attribute{Name: "id", Type: "N"}, samtemplate.Attribute{Name: "at", Type: "S"}
	want := &samtemplate.Template{
		API: samtemplate.API{
			LogicalID: "Api", Stage: "test", AccessLogFormat: `{"status":"$context.status"}`,
			Authorizer: samtemplate.Authorizer{
				Name: "Token", Function: "CheckFunction", IdentityHeaders: []string{"Authorization"}, TTL: time.Minute,
			},
			Routes: []samtemplate.Route{
				{Path: "/things/{id}", Method: "GET", Function: "ListThingsFunction", Authorized: true},
				{Path: "/{proxy+}", Method: "ANY", Function: "ListThingsFunction"},
				{Path: "/things/{id}", Method: "ANY", Function: "ListThingsFunction"},
			},
			GatewayResponses: map[string]samtemplate.GatewayResponse{"THROTTLED": {
				StatusCode: 429, Headers: map[string]string{"Retry-After": "'1'"},
				Templates: map[string]string{"application/json": `{"id":"$context.requestId"}`},
			}},
		},
		Functions: []samtemplate.Function{
			{
				LogicalID: "CheckFunction", Name: "check", MemoryMB: 128, Timeout: 10 * time.Second,
				Environment: map[string]string{"COMMON": "1", "BOTH": "global"}, AsyncRetries: 2,
			},
			{
				LogicalID: "ListThingsFunction", Name: "list-things", MemoryMB: 512, Timeout: 5 * time.Second,
				Environment: map[string]string{"COMMON": "1", "BOTH": "own", "TABLE": "Things"}, AsyncRetries: 2,
				Policies: []samtemplate.Statement{
					{Effect: "Allow", Actions: []string{"dynamodb:Scan"}, Resources: []string{arn, arn + "/index/*"}},
				},
			},
		},
		Tables: []samtemplate.Table{{
			LogicalID: "Things", Name: "Things", Hash: id, Range: at, StreamViewType: "NEW_IMAGE", TTLAttribute: "expiresAt",
			Indexes: []samtemplate.Index{{Name: "byTime", Hash: at, Projection: "INCLUDE", NonKeyAttributes: []string{"name"}}},
		}},
		Outputs: map[string]string{"Table": "Things"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDefaultsOfMissingProperties: what SAM and Lambda take where the template says nothing.
func TestDefaultsOfMissingProperties(t *testing.T) {
	t.Parallel()
	got := mustParse(t, api+`
  F: {Type: AWS::Serverless::Function, Properties: {CodeUri: functions/f, Runtime: provided.al2023, Handler: bootstrap, Events:
    {E: {Type: Api, Properties: {RestApiId: !Ref Api, Path: /, Method: GET}}}}}
`, samtemplate.Settings{})
	want := samtemplate.Function{LogicalID: "F", Name: "f", MemoryMB: 128, Timeout: 3 * time.Second, Environment: map[string]string{}, AsyncRetries: 2}
	if diff := cmp.Diff([]samtemplate.Function{want}, got.Functions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]samtemplate.Route{{Path: "/", Method: "GET", Function: "F"}}, got.API.Routes); diff != "" {
		t.Errorf("without an authorizer nothing is authorized:\n%s", diff)
	}
}

func TestLoadFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := samtemplate.Load(filepath.Join(folder, "none.yaml"), samtemplate.Settings{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: got %v", err)
	}
	file := filepath.Join(folder, "template.yaml")
	if err := os.WriteFile(file, []byte(api+"  X: {Type: AWS::S3::Bucket}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := samtemplate.Load(file, samtemplate.Settings{})
	want := file + ":4: Resources.X: the resource type AWS::S3::Bucket is not known"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(api)
	f.Add("a: &a [*a]")
	f.Add(scenery + "!FindInMap [Sizes, !If [IsDev, small, large], memory]\n")
	f.Add(function(goodFunction + ", Policies: [{Statement: [{Effect: Allow, Action: a, Resource: b}]}]"))
	f.Add(withRoute("Path: '/a/{b}', Method: get, Auth: {Authorizer: NONE}"))
	f.Add(withAPI("GatewayResponses: {THROTTLED: {ResponseParameters: {Headers: {A: \"'b'\"}}}}"))
	f.Add(table(goodTable + ", TimeToLiveSpecification: {AttributeName: e, Enabled: true}"))
	f.Add(api + "Outputs: {X: {Value: !Sub '${A'}}")
	f.Add("Transform: AWS::Serverless-2016-10-31\nConditions: {A: !Not [{Condition: A}]}\nResources: {}\n")
	f.Fuzz(func(t *testing.T, content string) {
		_, err := samtemplate.Parse("template.yaml", []byte(content), samtemplate.Settings{})
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}
