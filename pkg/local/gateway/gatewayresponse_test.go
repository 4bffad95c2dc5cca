package gateway_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

func TestGatewayResponseIsFilledIn(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(policyOf(`{"Action":"*","Effect":"Deny","Resource":"*"}`, `{"reason":"expired"}`)))
	s.config.API.GatewayResponses["ACCESS_DENIED"] = samtemplate.GatewayResponse{
		StatusCode: 401,
		Headers: map[string]string{
			"WWW-Authenticate": "'Bearer'", "cache-control": "'no-store'", "X-Request-Id": "context.requestId",
			"X-Empty":  "context.authorizer.none",
			"X-Quotes": "'it''s $context.path'",
		},
		Templates: map[string]string{"application/json": `{"id":"$context.requestId",` +
			`"type":"$context.error.responseType","who":"$context.authorizer.principalId",` +
			`"why":"$context.authorizer.reason","text":$context.error.messageString,"raw":"$context.error.message",` +
			`"none":"$context.authorizer.none",` +
			`"path":"$context.path","resource":"$context.resourcePath","price":"5$","method":"$context.httpMethod."}`},
	}
	base := s.start(t)
	r := send(t, "GET", base+"/things/a%2Fb", "", "x-amzn-RequestId: "+chosenUUID)
	wantStatus(t, r, http.StatusUnauthorized)
	const message = "User is not authorized to access this resource with an explicit deny in an identity-based policy"
	want := map[string]any{
		"id": chosenUUID, "type": "ACCESS_DENIED", "who": "user:1", "why": "expired", "text": message, "raw": message, "none": "",
		"path": "/things/a%2Fb", "resource": "/things/{id}", "price": "5$", "method": "GET.",
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(r.text), &got); err != nil {
		t.Fatalf("%v in %s", err, r.text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	for name, want := range map[string][]string{
		"Www-Authenticate": {"Bearer"}, "Cache-Control": {"no-store"}, "X-Request-Id": {chosenUUID}, "X-Empty": nil,
		"X-Quotes": {"it''s $context.path"}, "Content-Type": {"application/json"}, "X-Amzn-Errortype": {"AccessDeniedException"},
		"X-Amzn-Requestid": {chosenUUID},
	} {
		if diff := cmp.Diff(want, r.Header.Values(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDefault4XXAnd5XX(t *testing.T) {
	t.Parallel()
	custom := func(text string, status int) samtemplate.GatewayResponse {
		return samtemplate.GatewayResponse{
			StatusCode: status, Headers: map[string]string{"X-From": "'" + text + "'"},
			Templates: map[string]string{"application/json": `"` + text + `"`},
		}
	}
	s := newSetup(fails(errors.New("boom")), fails(errors.New("boom")))
	s.config.API.GatewayResponses["DEFAULT_4XX"] = custom("4", 0)
	s.config.API.GatewayResponses["DEFAULT_5XX"] = custom("5", 0)
	base := s.start(t)
	for _, tt := range []struct {
		name, path, body string
		status           int
	}{
		{"MissingAuthenticationToken", "/nothing", `"4"`, 403},
		{"AuthorizerConfigurationError", "/things", `"5"`, 500},
		{"BadGateway", "/open", `"5"`, 502},
	} {
		r := send(t, "GET", base+tt.path, "")
		wantStatus(t, r, tt.status)
		equal(t, tt.name, r.text, tt.body)
	}
	s.config.API.GatewayResponses["DEFAULT_5XX"] = custom("5", 503)
	base = s.start(t)
	wantStatus(t, send(t, "GET", base+"/open", ""), 503)
	wantStatus(t, send(t, "GET", base+"/things", ""), 503)

	s.config.API.GatewayResponses["AUTHORIZER_CONFIGURATION_ERROR"] = custom("own", 0)
	base = s.start(t)
	r := send(t, "GET", base+"/things", "")
	wantStatus(t, r, 500)
	equal(t, "own body", r.text, `"own"`)
}

func TestDefaultBodies(t *testing.T) {
	t.Parallel()
	s := newSetup(fails(errors.New("boom")), says(allowAll))
	s.config.API.GatewayResponses["MISSING_AUTHENTICATION_TOKEN"] = samtemplate.GatewayResponse{Headers: map[string]string{"X-A": "'b'"}}
	base := s.start(t)
	equal(t, "502", send(t, "GET", base+"/open", "").text, `{"message": "Internal server error"}`)
	r := send(t, "GET", base+"/nothing", "")
	equal(t, "with headers only", r.text, `{"message":"Missing Authentication Token"}`)
	equal(t, "header", r.Header.Get("X-A"), "b")
}

func TestTooLargeCannotBeCustomised(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	for _, name := range []string{"REQUEST_TOO_LARGE", "DEFAULT_4XX"} {
		s.config.API.GatewayResponses[name] = samtemplate.GatewayResponse{StatusCode: 400, Templates: map[string]string{"application/json": "no"}}
	}
	base := s.start(t)
	r := send(t, "POST", base+"/open", string(make([]byte, 2<<20))) // each becomes \u0000
	wantStatus(t, r, http.StatusRequestEntityTooLarge)
	equal(t, "body", r.text, `{"message":"Request Too Long"}`)
}
