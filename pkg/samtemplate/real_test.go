package samtemplate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// TestRealTemplate loads the project's own template and looks at what must come out of it.
func TestRealTemplate(t *testing.T) {
	t.Parallel()
	got, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{
		Region: "eu-west-1", AccountID: "123456789012",
		Parameters: map[string]string{"DynamoDBEndpoint": "http://127.0.0.1:8000", "ApiGatewayAccount": "external"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range got.Resources {
		if resource.LogicalID == "GatewayAccount" || resource.LogicalID == "GatewayAccountRole" {
			t.Errorf("%s is made though ApiGatewayAccount is external", resource.LogicalID)
		}
	}
	want := samtemplate.Authorizer{Name: "Token", Function: "AuthorizerFunction", IdentityHeaders: []string{"Authorization"}}
	if diff := cmp.Diff(want, got.API.Authorizer); diff != "" {
		t.Errorf("authorizer:\n%s", diff)
	}
	functions := map[string]samtemplate.Function{}
	for _, function := range got.Functions {
		functions[function.Name] = function
	}
	const tables = "arn:aws:dynamodb:eu-west-1:123456789012:table/"
	wantFunction := samtemplate.Function{
		LogicalID: "DeleteOwnTokenFunction", Name: "delete-own-token", MemoryMB: 512, Timeout: 10 * time.Second, AsyncRetries: 2,
		Role: "DeleteOwnTokenRole",
		Environment: map[string]string{
			"DYNAMODB_ENDPOINT": "http://127.0.0.1:8000", "PERSONAL_ACCESS_TOKENS_TABLE": "PersonalAccessTokens", "USERS_TABLE": "Users",
		},
		Policies: []samtemplate.Statement{
			{
				Effect: "Allow", Actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"},
				Resources: []string{"arn:aws:logs:eu-west-1:123456789012:log-group:DeleteOwnTokenLogs:*"},
			},
			{
				Effect: "Allow", Actions: []string{"dynamodb:GetItem", "dynamodb:DeleteItem"},
				Resources: []string{tables + "PersonalAccessTokens"},
			},
			{Effect: "Allow", Actions: []string{"dynamodb:UpdateItem"}, Resources: []string{tables + "Users"}},
		},
	}
	if diff := cmp.Diff(wantFunction, functions["delete-own-token"]); diff != "" {
		t.Errorf("function:\n%s", diff)
	}
	id := samtemplate.Attribute{Name: "id", Type: "N"}
	name := samtemplate.Attribute{Name: "name", Type: "S"}
	userID := samtemplate.Attribute{Name: "userId", Type: "N"}
	wantTables := []samtemplate.Table{
		{Name: "FeatureTypes", Hash: samtemplate.Attribute{Name: "id", Type: "S"}, StreamViewType: "NEW_AND_OLD_IMAGES"},
		{Name: "Features", Hash: name, Indexes: []samtemplate.Index{{
			Name: "staleness", Hash: samtemplate.Attribute{Name: "staleness", Type: "S"},
			Range: samtemplate.Attribute{Name: "createdAt", Type: "S"}, Projection: "KEYS_ONLY",
		}}},
		{Name: "ContextFields", Hash: name},
		{Name: "Feedback", Hash: userID, Range: samtemplate.Attribute{Name: "feedbackId", Type: "S"}},
		{Name: "Users", Hash: id, Indexes: []samtemplate.Index{{
			Name: "email", Hash: samtemplate.Attribute{Name: "email", Type: "S"}, Projection: "KEYS_ONLY",
		}}},
		{Name: "PersonalAccessTokens", Hash: userID, Range: id},
		{Name: "ApiTokens", Hash: samtemplate.Attribute{Name: "id", Type: "S"}},
		{
			Name: "Traffic", Hash: samtemplate.Attribute{Name: "period", Type: "S"},
			Range: samtemplate.Attribute{Name: "pathDayShard", Type: "S"}, TTLAttribute: "expiresAt",
		},
	}
	for i := range wantTables {
		wantTables[i].LogicalID = wantTables[i].Name
	}
	if diff := cmp.Diff(wantTables, got.Tables); diff != "" {
		t.Errorf("tables:\n%s", diff)
	}
	if got := got.Outputs["PersonalAccessTokensTable"]; got != "PersonalAccessTokens" {
		t.Errorf("output: got %q", got)
	}
}
