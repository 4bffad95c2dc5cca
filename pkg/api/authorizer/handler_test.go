package authorizer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/issuer"
)

// TestCredentials checks that an unknown credential costs the same calls as a wrong secret, that neither is written as
// seen, and that none of them needs the issuer.
func TestCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	assert.OK(t, f.users.Create(t.Context(), user.User{ID: 4, Kind: user.ServiceAccount, Name: "Pipeline", Username: "ci",
		Role: access.RoleViewer}))
	tokens := map[string]access.Token{"API": f.apiToken(t, nil), "LIMITED-API": f.apiToken(t, new(now().Add(time.Millisecond))),
		"EXPIRED-API": f.apiToken(t, new(now()))}
	for i, name := range []string{"ADMIN", "EDITOR", "VIEWER", "SERVICE"} {
		tokens[name] = f.pat(t, int64(i+1), time.Millisecond)
	}
	for name, owner := range map[string]int64{"REVOKED": 11, "DELETED": 12, "DISABLED": 14} {
		tokens[name] = f.pat(t, owner, time.Minute)
	}
	_, id, _ := tokens["REVOKED"].Selector.PATIDs()
	assert.OK(t, f.pats.Delete(t.Context(), pat.AnyKind, 11, id))
	f.Delete(t, f.Tables["Users"], user.Key(12))
	tokens["EXPIRED"], tokens["UNKNOWN"] = f.pat(t, 1, 0), tokens["ADMIN"].At(access.PATSelector(1, 99))
	tokens["ANOTHER"], tokens["UNKNOWN-API"] = tokens["ADMIN"].At(access.PATSelector(2, 1)), tokens["API"].At(access.Selector{1})
	var names []string
	for name, token := range tokens {
		names = append(names, "<"+name+">", token.Reveal(), "<WRONG "+name+">", wrongSecret(token), "<ID "+name+">",
			token.Selector.String())
	}
	replacer := strings.NewReplacer(names...)
	for _, test := range []struct {
		headers string
		calls   string // a token's first use is recorded
		want    string // principal, effect and context
	}{
		{"<ADMIN>", "BatchGetItem UpdateItem", "user:1 Allow map[name:Admin permissions:ADMIN role:Admin tokenId:1 userId:1]"},
		{
			headers: "<EDITOR>",
			calls:   "BatchGetItem UpdateItem",
			want: "user:2 Allow map[name:Editor permissions:CREATE_CONTEXT_FIELD,UPDATE_CONTEXT_FIELD," +
				"DELETE_CONTEXT_FIELD,CREATE_SEGMENT,UPDATE_SEGMENT,DELETE_SEGMENT,READ_CLIENT_API_TOKEN," +
				"CREATE_PROJECT,READ_ROLE,CREATE_TAG_TYPE,UPDATE_TAG_TYPE,DELETE_TAG_TYPE role:Editor tokenId:2 userId:2]",
		},
		{"<VIEWER>", "BatchGetItem UpdateItem", "user:3 Allow map[name:Viewer permissions: role:Viewer tokenId:3 userId:3]"},
		{"Bearer <VIEWER>", "BatchGetItem", "user:3 Allow map[name:Viewer permissions: role:Viewer tokenId:3 userId:3]"},
		{" \tbEaReR   <VIEWER>\t ", "BatchGetItem", "user:3 Allow map[name:Viewer permissions: role:Viewer tokenId:3 userId:3]"},
		{"<SERVICE>", "BatchGetItem UpdateItem", "user:4 Allow map[kind:service-account name:ci permissions: role:Viewer tokenId:4 userId:4]"},
		{"<API>", "GetItem UpdateItem", "api-token:<ID API> Allow map[name:API token ci permissions:ADMIN role:Admin tokenId:<ID API>]"},
		{"<API>", "GetItem", "api-token:<ID API> Allow map[name:API token ci permissions:ADMIN role:Admin tokenId:<ID API>]"},
		{
			headers: "<LIMITED-API>",
			calls:   "GetItem UpdateItem",
			want:    "api-token:<ID LIMITED-API> Allow map[name:API token ci permissions:ADMIN role:Admin tokenId:<ID LIMITED-API>]",
		},
		{"", "", denied},
		{" \t ", "", denied},
		{"Bearer ", "", denied},
		{"Bearer<ADMIN>", "", denied},
		{"Bearer\t<ADMIN>", "", denied},
		{"Bearer \t<ADMIN>", "", denied},
		{"Bearer bearer <ADMIN>", "", denied},
		{"Basic <ADMIN>", "", denied},
		{"<ADMIN>A", "", denied},
		{"a.b.c", "", denied},
		{"*:development.v2_HzmhXbXto6jRt2aLU2YaQg_" + strings.Repeat("A", 43), "", denied}, // a client token
		{"<ADMIN>; <API>", "", denied},
		{"<ADMIN>; <ADMIN>", "", denied},
		{"<ADMIN>, <ADMIN>", "", denied},
		{"<UNKNOWN>", "BatchGetItem", denied},
		{"<ANOTHER>", "BatchGetItem", denied},
		{"<WRONG ADMIN>", "BatchGetItem", denied},
		{"<REVOKED>", "BatchGetItem", denied},
		{"<EXPIRED>", "BatchGetItem", denied},
		{"<DISABLED>", "BatchGetItem", denied},
		{"<DELETED>", "BatchGetItem", denied},
		{"<UNKNOWN-API>", "GetItem", denied},
		{"<WRONG API>", "GetItem", denied},
		{"<EXPIRED-API>", "GetItem", denied},
	} {
		a, tap, log := f.authenticator(t, nil)
		got := authorize(t, a, strings.Split(replacer.Replace(test.headers), "; ")...)
		want := []string{test.headers, test.calls, replacer.Replace(test.want)}
		assert.Equal(t, want, []string{test.headers, tap.Calls() + log.String(), got})
	}
	stored, err := f.apiTokens.Get(t.Context(), tokens["API"].Selector)
	assert.OK(t, err)
	assert.Equal(t, new(now()), stored.SeenAt)
	assert.Equal(t, 0, f.issuer.Fetches(issuer.MetadataPath))
}

func TestHeader(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	valid := f.pat(t, 1, time.Minute)
	a, _, _ := f.authenticator(t, nil)
	for _, test := range []struct{ event, principal string }{
		{`{"headers":{"AUTHORIZATION":"T"},"multiValueHeaders":{"AUTHORIZATION":["T"]}}`, "user:1"},
		{`{"headers":{"Authorization":"T"}}`, "user:1"},
		{`{"multiValueHeaders":{"Authorization":["T"]}}`, "user:1"},
		{"{}", "anonymous"},
		{`{"headers":{},"multiValueHeaders":{"Authorization":[]}}`, "anonymous"},
		{`{"multiValueHeaders":{"Authorization":["T"],"authorization":["T"]}}`, "anonymous"},
		{`{"headers":{"Authorization":"T","authorization":"T"}}`, "anonymous"},
		{`{"headers":{"X-Authorization":"T"},"multiValueHeaders":{"Proxy-Authorization":["T"]}}`, "anonymous"},
	} {
		var event authorizer.Request
		assert.OK(t, json.Unmarshal([]byte(strings.ReplaceAll(test.event, `"T"`, `"`+valid.Reveal()+`"`)), &event))
		got, err := a.Authorize(t.Context(), event)
		assert.OK(t, err)
		assert.Equal(t, test.principal, got.PrincipalID)
	}
}

func TestPolicyIsForTheWholeStage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ arn, resource string }{
		{api + "/dev/GET/api/admin/context", api + "/dev/*"},
		{api + "/prod/*/api/admin/context", api + "/prod/*"},
		{api + "/dev/GET/", api + "/dev/*"},
		{api + "/dev/GET", api + "/dev/*"},
		{api + "/dev/PUT/api/admin/feedback/a%2Fb//c/", api + "/dev/*"},
		{api, api},
		{"", ""},
	} {
		event := request("malformed")
		event.MethodArn = test.arn
		got, err := (&authorizer.Authenticator{}).Authorize(t.Context(), event)
		assert.OK(t, err)
		assert.Equal(t, events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{{
			Action: []string{"execute-api:Invoke"}, Effect: "Deny", Resource: []string{test.resource},
		}}}, got.PolicyDocument)
	}
}

// TestFailedLookup checks that a failure of DynamoDB is an error, not a Deny, and that the error does not contain its
// text.
func TestFailedLookup(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.pat(t, 1, time.Minute)
	known := token.Reveal()
	for _, header := range []string{known, f.apiToken(t, nil).Reveal(), token.At(access.PATSelector(7, 7)).Reveal(),
		f.issuer.Token(now(), nil)} {
		a, _, log := f.authenticator(t,
			func(c *database.Call) (*http.Response, error) { return c.Refuse("AccessDeniedException") })
		got, err := a.Authorize(t.Context(), request(header))
		assert.Equal(t, "the credential could not be looked up", fmt.Sprint(got.PrincipalID, err))
		begin := `"level":"ERROR","msg":"authorize","apiRequestId":"` + requestID + `","cause":`
		if text := log.String(); !strings.Contains(text, begin) || !strings.Contains(text, "AccessDeniedException") ||
			strings.Contains(text, header) {
			t.Errorf("log %s", text)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		a, _, _ := f.authenticator(t, (*database.Call).Hang)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begin := time.Now()
		if _, err := a.Authorize(ctx, request(known)); err == nil || time.Since(begin) != 4500*time.Millisecond {
			t.Errorf("error %v after %s", err, time.Since(begin))
		}
	})
}

func TestFunction(t *testing.T) {
	t.Parallel()
	env := &app.Env{Now: now, Local: true, Logger: slog.New(slog.DiscardHandler), Vars: map[string]string{
		"USERS_TABLE": "x", "API_TOKENS_TABLE": "x", "EVENTS_TABLE": "x", "PERSONAL_ACCESS_TOKENS_TABLE": "x",
		"IDENTIFIERS_TABLE": "x", "EVENT_LOG_DAYS": "400", "OIDC_CLIENT_ID": "x", "OIDC_ISSUER": "http://127.0.0.1",
		"OIDC_DEFAULT_ROLE": "Viewer", "ACCESS_TABLE": "x", "GROUPS_MAX_AGE_DAYS": "30",
	}}
	construct := app.Find(authorizer.Functions(), "authorizer")
	handler, err := construct(env)
	assert.OK(t, err)
	got, err := handler.Invoke(t.Context(),
		[]byte(`{"type":"REQUEST","methodArn":"a/b/c","headers":{"Authorization":"x"}}`))
	if err != nil || !strings.Contains(string(got), `"principalId":"anonymous"`) {
		t.Errorf("%s, %v", got, err)
	}
	env.Local = false
	for _, test := range []struct{ issuer, client, defaultRole string }{
		{"http://127.0.0.1", "c", ""}, // only local
		{"https://a.example", "", ""},
		{"", "c", ""},
		{"", "", "Viewer"},
		{"https://a.example", "c", "viewer"},
	} {
		env.Vars["OIDC_ISSUER"] = test.issuer
		env.Vars["OIDC_CLIENT_ID"] = test.client
		env.Vars["OIDC_DEFAULT_ROLE"] = test.defaultRole
		if _, err := construct(env); err == nil || !strings.Contains(err.Error(), "OIDC_") {
			t.Errorf("%v: error %v", test, err)
		}
	}
}
