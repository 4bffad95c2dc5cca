package samtemplate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// roles has a function with a role of its own and a policy that is attached to it on a condition.
const roles = `Transform: AWS::Serverless-2016-10-31
Parameters:
  Traced: {Type: String, Default: 'false'}
Conditions:
  Traced: !Equals [!Ref Traced, 'true']
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: !Ref Traced
      Auth:
        DefaultAuthorizer: Token
        Authorizers: {Token: {FunctionArn: !Ref CheckFunction.Alias, FunctionPayloadType: REQUEST, Identity: {Headers: [Authorization]}}}
  Alarm: {Type: AWS::CloudWatch::Alarm, Properties: {Value: !Ref Api.Stage, Arn: !GetAtt Other.Arn}}
  Other: {Type: AWS::CloudWatch::Alarm}
  CheckFunction:
    Type: AWS::Serverless::Function
    Properties:
      {CodeUri: functions/check/, Runtime: provided.al2023, Handler: bootstrap, Role: !GetAtt CheckRole.Arn, AutoPublishAlias: live}
  CheckRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {}
      Policies:
        - PolicyName: own
          PolicyDocument: {Statement: [{Effect: Allow, Action: logs:PutLogEvents, Resource: some}]}
  Tracing:
    Type: AWS::IAM::Policy
    Condition: Traced
    Properties: {PolicyDocument: {Statement: [{Effect: Allow, Action: xray:PutTraceSegments, Resource: '*'}]}, Roles: [!Ref CheckRole]}
`

// TestRoles: a function may do what its role's policies say, and those that are attached to the role.
func TestRoles(t *testing.T) {
	t.Parallel()
	own := samtemplate.Statement{Effect: "Allow", Actions: []string{"logs:PutLogEvents"}, Resources: []string{"some"}}
	traces := samtemplate.Statement{Effect: "Allow", Actions: []string{"xray:PutTraceSegments"}, Resources: []string{"*"}}
	for traced, want := range map[string][]samtemplate.Statement{"false": {own}, "true": {own, traces}} {
		got := mustParse(t, roles, samtemplate.Settings{Parameters: map[string]string{"Traced": traced}})
		if diff := cmp.Diff(want, got.Functions[0].Policies); diff != "" || got.Functions[0].Role != "CheckRole" {
			t.Errorf("traced: %s: role %q\n%s", traced, got.Functions[0].Role, diff)
		}
	}
}

// TestParts: the alias leads to its function, the API's stage has its name.
func TestParts(t *testing.T) {
	t.Parallel()
	got := mustParse(t, roles, samtemplate.Settings{})
	if got.API.Authorizer.Function != "CheckFunction" {
		t.Errorf("the authorizer is %q", got.API.Authorizer.Function)
	}
	for _, resource := range got.Resources {
		want := map[string]any{"Value": "false", "Arn": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:Other"}
		if diff := cmp.Diff(want, resource.Properties); resource.LogicalID == "Alarm" && diff != "" {
			t.Error(diff)
		}
	}
}

// TestBrokenRoles: what cannot be read here is refused.
func TestBrokenRoles(t *testing.T) {
	t.Parallel()
	role := func(properties string) string {
		return function(goodFunction+", Role: !GetAtt R.Arn") + "  R: {Type: AWS::IAM::Role, Properties: {" + properties + "}}\n"
	}
	for _, tt := range []struct{ name, content, want string }{
		{"a role from elsewhere", function(goodFunction + ", Role: 'arn:aws:iam::1:role/x'"),
			`4: Resources.F.Properties: Role: "arn:aws:iam::1:role/x" is no role of this template`},
		{"a managed policy", role("AssumeRolePolicyDocument: {}, ManagedPolicyArns: [x]"),
			"5: Resources.R.Properties.ManagedPolicyArns: ManagedPolicyArns is not known"},
		{"policies beside a role", function(goodFunction+", Role: !GetAtt R.Arn, Policies: [{Statement: [{Effect: Allow, Action: a, Resource: b}]}]") +
			"  R: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: {}}}\n",
			"4: Resources.F.Properties.Policies[0]: has no effect beside Role"},
		{"an alias that is none", function(goodFunction) + "  X: {Type: AWS::CloudWatch::Alarm, Properties: {A: !Ref F.Alias}}\n",
			"5: Resources.X.Properties.A: the part Alias of F (AWS::Serverless::Function) is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := samtemplate.Parse("template.yaml", []byte(tt.content), samtemplate.Settings{})
			if err == nil || err.Error() != "template.yaml:"+tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}
