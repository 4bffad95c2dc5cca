package samtemplate_test

import (
	"testing"

	"toggleadmin/pkg/samtemplate"
)

const scenery = `Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: dev}
  Zones: {Type: CommaDelimitedList, Default: 'a, b,c'}
  Count: {Type: Number, Default: 3}
Mappings:
  Sizes: {small: {memory: 128}, large: {memory: 1024}}
Conditions:
  IsDev: !Equals [!Ref Stage, dev]
  IsProd: !Equals [!Ref Stage, prod]
  Either: !Or [!Condition IsDev, {Condition: IsProd}]
  Both: !And [{Condition: IsDev}, {Condition: IsProd}]
  NotDev: !Not [{Condition: IsDev}]
Resources:
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: !Ref Stage}}
  Logs: {Type: AWS::Logs::LogGroup, Properties: {RetentionInDays: 30}}
  Role: {Type: AWS::IAM::Role}
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      StreamSpecification: {StreamViewType: NEW_IMAGE}
Outputs:
  X:
    Value: `

func TestFunctions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value, want string }{
		{"plain", "text", "text"},
		{"number", "007", "007"},
		{"Ref of a parameter", "!Ref Stage", "dev"},
		{"Ref of a number", "!Ref Count", "3"},
		{"Ref of a resource", "!Ref Things", "Things"},
		{"Ref in the long form", "{Ref: Api}", "Api"},
		{"Ref of pseudo parameters", "!Join ['/', [!Ref AWS::Region, !Ref AWS::AccountId, !Ref AWS::StackName, !Ref AWS::URLSuffix]]",
			"eu-west-1/123456789012/stack/amazonaws.com"},
		{"GetAtt of a table", "!GetAtt Things.Arn", "arn:aws:dynamodb:eu-west-1:123456789012:table/Things"},
		{"GetAtt in the long form", "{Fn::GetAtt: [Things, Arn]}", "arn:aws:dynamodb:eu-west-1:123456789012:table/Things"},
		{"GetAtt of a stream", "!GetAtt Things.StreamArn",
			"arn:aws:dynamodb:eu-west-1:123456789012:table/Things/stream/2000-01-01T00:00:00.000"},
		{"GetAtt of a log group", "!GetAtt Logs.Arn", "arn:aws:logs:eu-west-1:123456789012:log-group:Logs:*"},
		{"GetAtt of a role", "!GetAtt Role.Arn", "arn:aws:iam::123456789012:role/Role"},
		{"Sub", "!Sub 'https://${Api}.${AWS::Region}/${Stage}/${Things.Arn}'",
			"https://Api.eu-west-1/dev/arn:aws:dynamodb:eu-west-1:123456789012:table/Things"},
		{"Sub with names", "!Sub ['${a}-${Stage}', {a: !Ref Count}]", "3-dev"},
		{"Sub with a literal", "!Sub '${!Stage} $5 ${Stage}'", "${Stage} $5 dev"},
		{"Join with NoValue", "!Join [',', [a, !Ref AWS::NoValue, b]]", "a,b"},
		{"Join of a list parameter", "!Join ['', !Ref Zones]", "abc"},
		{"Select", "!Select [1, !Ref Zones]", "b"},
		{"Select of Split", "!Select ['2', !Split ['-', x-y-z]]", "z"},
		{"FindInMap", "!FindInMap [Sizes, !If [IsDev, small, large], memory]", "128"},
		{"If true", "!If [IsDev, yes it is, !Ref Stage]", "yes it is"},
		{"If false", "!If [NotDev, 1, !If [Both, 2, 3]]", "3"},
		{"If Or", "!If [Either, 1, 2]", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustParse(t, scenery+tt.value+"\n",
				samtemplate.Settings{Region: "eu-west-1", AccountID: "123456789012", StackName: "stack"})
			if got.Outputs["X"] != tt.want {
				t.Errorf("got %q, want %q", got.Outputs["X"], tt.want)
			}
		})
	}
}

// TestBrokenFunctions: each is refused with the place of the value.
func TestBrokenFunctions(t *testing.T) {
	t.Parallel()
	const place = "template.yaml:27: Outputs.X.Value: "
	tests := []struct{ name, value, want string }{
		{"unknown tag", "!ImportValue x", place + "the function !ImportValue is not known"},
		{"unknown function", "{Fn::Base64: x}", "template.yaml:27: Outputs.X.Value.Fn::Base64: the function Fn::Base64 is not known"},
		{"unknown function in a branch not taken", "!If [IsDev, 1, !GetAZs '']",
			"template.yaml:27: Outputs.X.Value[2]: the function !GetAZs is not known"},
		{"function with company", "{Ref: Api, Other: 1}", "template.yaml:27: Outputs.X.Value.Ref: Ref has other keys beside it"},
		{"Ref of nothing", "!Ref Nothing", place + `"Nothing" is no parameter and no resource`},
		{"Ref of a list", "!Ref [a]", place + "Ref wants a name, not a list"},
		{"unknown pseudo parameter", "!Ref AWS::NotificationARNs", place + `"AWS::NotificationARNs" is no parameter and no resource`},
		{"NoValue where a value must be", "!Ref AWS::NoValue", place + "Value wants a text, not nothing"},
		{"unknown attribute", "!GetAtt Api.RootResourceId",
			place + "the attribute RootResourceId of Api (AWS::Serverless::Api) is not known"},
		{"GetAtt of a resource that is no more", "!GetAtt Gone.Arn", place + `"Gone" is no parameter and no resource`},
		{"GetAtt without attribute", "!GetAtt Things", place + "Fn::GetAtt wants a resource and an attribute"},
		{"Sub of nothing", "!Sub '${Nothing}'", place + `"Nothing" is no parameter and no resource`},
		{"Sub of a list", "!Sub '${Zones}'", place + "Fn::Sub: Zones is a list"},
		{"Sub without end", "!Sub '${Stage'", place + "Fn::Sub has ${ without }"},
		{"Sub of a map", "!Sub {a: b}", place + "Fn::Sub wants a text, or a list of a text and a map"},
		{"Join of one", "!Join [a]", place + "Fn::Join wants a separator and a list"},
		{"Join of a map", "!Join [a, [{b: c}]]", "template.yaml:27: Outputs.X.Value[1][0]: Fn::Join wants a text, not a map"},
		{"Select out of range", "!Select [3, !Ref Zones]", place + `Fn::Select: there is no item "3"`},
		{"Select by a word", "!Select [x, !Ref Zones]", place + `Fn::Select: there is no item "x"`},
		{"Split by nothing", "!Split ['', abc]", place + "Fn::Split wants a separator that is not empty"},
		{"FindInMap of nothing", "!FindInMap [Sizes, medium, memory]", place + "Fn::FindInMap: there is no Sizes.medium.memory"},
		{"If of nothing", "!If [Nothing, 1, 2]", place + `there is no condition "Nothing"`},
		{"If of two", "!If [IsDev, 1]", place + "Fn::If wants a condition and two values"},
		{"Equals outside conditions", "!Equals [a, b]", place + "Fn::Equals is only allowed in conditions"},
		{"a list as output", "!Ref Zones", place + "Value wants a text, not a list"},
		{"an anchor", "&a x", place + "YAML anchors and aliases are not supported: CloudFormation has none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := samtemplate.Parse("template.yaml", []byte(scenery+tt.value+"\n"), samtemplate.Settings{})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestBrokenConditions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, conditions, want string }{
		{"a circle", "{A: !Not [{Condition: B}], B: !Not [{Condition: A}]}", "Conditions.B[0]: the condition A refers to itself"},
		{"of nothing", "{A: !Not [{Condition: B}]}", `Conditions.A[0]: there is no condition "B"`},
		{"a text", "{A: 'true'}", `Conditions.A: a condition wants Fn::Equals, Fn::Not, Fn::And, Fn::Or or Condition, not "true"`},
		{"another function", "{A: !Sub x}", "Conditions.A: Fn::Sub is no condition"},
		{"Equals of three", "{A: !Equals [a, b, c]}", "Conditions.A: Fn::Equals wants two values"},
		{"And of one", "{A: !And [!Equals [a, b]]}", "Conditions.A: Fn::And wants two to ten conditions"},
		{"Not of two", "{A: !Not [!Equals [a, b], !Equals [a, b]]}", "Conditions.A: Fn::Not wants a list of one condition"},
		{"a list", "[a]", "Conditions: must be a map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := samtemplate.Parse("template.yaml", []byte(api+"Conditions: "+tt.conditions+"\n"), samtemplate.Settings{})
			if want := "template.yaml:4: " + tt.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
