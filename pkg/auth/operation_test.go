package auth_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/lambdahttp"
)

// outcome is what came of a request: a refusal's status, name and message, or the principal that the handler saw.
type outcome struct {
	Status        int
	Name, Message string
	Principal     auth.Principal
}

// send sends a request with an authorizer's context through Require, all the way by the event, and says what came of it.
func send(t *testing.T, operation auth.Operation, authorizer map[string]any) outcome {
	t.Helper()
	var got outcome
	reached := false
	handler := lambdahttp.New(auth.Require(operation, func(_ http.ResponseWriter, r *http.Request) error {
		got.Principal, reached = auth.PrincipalFrom(r.Context()), true
		return nil
	}), lambdahttp.Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now, NewID: func() string { return "id" }})
	payload, err := json.Marshal(events.APIGatewayProxyRequest{
		Resource: "/", HTTPMethod: "GET",
		// None of these counts: the principal is the authorizer's word alone.
		Headers:        map[string]string{"Authorization": pat, "principalId": "user:1", "userId": "1", "permissions": "ADMIN"},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: authorizer},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := handler.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	var answer events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	got.Status = answer.StatusCode
	if answer.Body != "" {
		if err := json.Unmarshal([]byte(answer.Body), &got); err != nil {
			t.Fatal(err)
		}
	}
	if reached != (got.Status == http.StatusOK) {
		t.Errorf("status %d, but the handler is reached: %t", got.Status, reached)
	}
	return got
}

// contextOf is what a function gets of a principal: its context beside its id, all of it strings.
func contextOf(p auth.Principal) map[string]any {
	context := p.Context()
	context["principalId"] = p.ID
	context["integrationLatency"] = 12 // API Gateway's own, the one number
	return context
}

func operations() []auth.Operation {
	return []auth.Operation{
		auth.UpdateFeedback, auth.ListFeatureTypes, auth.UpdateFeatureTypeLifetime, auth.ListContextFields, auth.CreateServiceAccountToken, auth.GetTrafficUsage, auth.DeleteOwnToken,
	}
}

func TestEveryOperationWithEveryKindOfCredential(t *testing.T) {
	t.Parallel()
	var (
		may        = outcome{Status: 200}
		anonymous  = outcome{Status: 401, Name: "AuthenticationRequired", Message: "You need a valid credential in the Authorization header."}
		noUser401  = outcome{Status: 401, Name: "AuthenticationRequired", Message: "This operation requires a token that identifies a user."}
		noUser403  = outcome{Status: 403, Name: "NoAccessError", Message: "You need a token that identifies a user to perform this operation."}
		needsAdmin = outcome{Status: 403, Name: "NoAccessError", Message: `You need the "ADMIN" permission to perform this operation.`}
	)
	credentials := map[string]auth.Principal{
		"no credential":                  {},
		"an API token":                   auth.APITokenPrincipal(auth.PATSelector(1, 1)),
		"an Admin's PAT":                 auth.UserPrincipal(1, auth.RoleAdmin),
		"an Editor's PAT":                auth.UserPrincipal(2, auth.RoleEditor),
		"a Viewer's PAT":                 auth.UserPrincipal(3, auth.RoleViewer),
		"a PAT of an unknown role":       auth.UserPrincipal(4, "Owner"),
		"a token without ADMIN and user": {ID: "api-token:x"}, // none is made like this today
	}
	// The columns: no credential, API token, Admin, any other user, neither.
	for operation, want := range map[auth.Operation][5]outcome{
		auth.UpdateFeedback:            {anonymous, noUser401, may, may, noUser401},
		auth.ListFeatureTypes:          {anonymous, may, may, may, may},
		auth.UpdateFeatureTypeLifetime: {anonymous, may, may, needsAdmin, needsAdmin},
		auth.ListContextFields:         {anonymous, may, may, may, may},
		auth.CreateServiceAccountToken: {anonymous, may, may, needsAdmin, needsAdmin},
		auth.GetTrafficUsage:           {anonymous, may, may, needsAdmin, needsAdmin},
		auth.DeleteOwnToken:            {anonymous, noUser403, may, may, noUser403},
	} {
		for name, principal := range credentials {
			t.Run(string(operation)+" with "+name, func(t *testing.T) {
				t.Parallel()
				column := map[string]int{"no credential": 0, "an API token": 1, "an Admin's PAT": 2, "a token without ADMIN and user": 4}
				expected := want[3]
				if i, other := column[name]; other {
					expected = want[i]
				}
				context := contextOf(principal)
				if principal.ID == "" {
					context = nil
				}
				if expected.Status == http.StatusOK {
					expected.Principal = principal
				}
				if diff := cmp.Diff(expected, send(t, operation, context)); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestAContextThatNoAuthorizerMadeIs401(t *testing.T) {
	t.Parallel()
	for name, context := range map[string]map[string]any{
		"null":                        nil,
		"empty":                       {},
		"no principal":                {"userId": "1", "permissions": "ADMIN"},
		"an empty principal":          {"principalId": "", "userId": "1", "permissions": "ADMIN"},
		"a principal that is none":    {"principalId": 1, "userId": "1", "permissions": "ADMIN"},
		"a user id of 0":              {"principalId": "user:0", "userId": "0", "permissions": "ADMIN"},
		"a user id that is none":      {"principalId": "user:x", "userId": "x", "permissions": "ADMIN"},
		"an empty user id":            {"principalId": "user:", "userId": "", "permissions": "ADMIN"},
		"a user id beyond 2147483647": {"principalId": "user:2147483648", "userId": "2147483648", "permissions": "ADMIN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, operation := range operations() {
				if got := send(t, operation, context); got.Status != http.StatusUnauthorized {
					t.Errorf("%s: %+v", operation, got)
				}
			}
		})
	}
}

func TestPermissionsAreReadAsAListOfWords(t *testing.T) {
	t.Parallel()
	for text, admin := range map[string]bool{
		"ADMIN": true, "X,ADMIN": true, "ADMIN,X": true, "": false, "admin": false, "ADMIN ": false, "XADMIN": false, "ADMINX": false, "X": false, ",": false,
	} {
		got := send(t, auth.GetTrafficUsage, map[string]any{"principalId": "user:1", "userId": "1", "permissions": text})
		if (got.Status == http.StatusOK) != admin {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for name, value := range map[string]any{"absent": nil, "a boolean": true, "a list": []string{"ADMIN"}} {
		if got := send(t, auth.GetTrafficUsage, map[string]any{"principalId": "user:1", "permissions": value}); got.Status != http.StatusForbidden {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAnOperationWithoutARuleIsRefused(t *testing.T) {
	t.Parallel()
	if got := send(t, "no-such-operation", contextOf(auth.UserPrincipal(1, auth.RoleAdmin))); got.Status != http.StatusInternalServerError {
		t.Errorf("%+v", got)
	}
}

func TestOperationsAreNamedAsTheirFunctions(t *testing.T) {
	t.Parallel()
	for _, operation := range operations() {
		if _, err := os.Stat("../../functions/" + string(operation)); err != nil {
			t.Error(err)
		}
	}
}
