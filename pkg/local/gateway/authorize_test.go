package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/gateway"
)

// policyOf is an authorizer's answer with these statements, and perhaps a context.
func policyOf(statements, context string) string {
	if context == "" {
		context = "{}"
	}
	return `{"principalId":"user:1","policyDocument":{"Version":"2012-10-17","Statement":` + statements + `},"context":` + context + `}`
}

func TestAuthorizerEvent(t *testing.T) {
	t.Parallel()
	authorizer := &capture{}
	s := newSetup(says(ok), func(ctx context.Context, payload []byte) ([]byte, error) {
		_, _ = authorizer.Invoke(ctx, payload)
		return []byte(allowAll), nil
	})
	base := s.start(t)
	send(t, "PUT", base+"/things/a%20b/?x=1&x=2", "ignored", "Authorization: Bearer t", "User-Agent: u")
	var e events.APIGatewayCustomAuthorizerRequestTypeRequest
	decode(t, authorizer.text(t), &e)
	equal(t, "type", e.Type, "REQUEST")
	equal(t, "method ARN", e.MethodArn, "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/PUT/things/a%20b/")
	equal(t, "resource", e.Resource, "/things/{id}")
	equal(t, "path", e.Path, "/things/a%20b/")
	equal(t, "method", e.HTTPMethod, "PUT")
	equal(t, "parameter", e.PathParameters["id"], "a%20b")
	equal(t, "header", e.Headers["Authorization"], "Bearer t")
	equal(t, "last query value", e.QueryStringParameters["x"], "2")
	equal(t, "request id", e.RequestContext.RequestID, fmt.Sprintf(fixedUUID, 2))
	equal(t, "resource path", e.RequestContext.ResourcePath, "/things/{id}")
	equal(t, "stage", e.RequestContext.Stage, "prod")
	equal(t, "source IP", e.RequestContext.Identity.SourceIP, "127.0.0.1")
	if diff := cmp.Diff(map[string][]string{"x": {"1", "2"}}, e.MultiValueQueryStringParameters); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	m := authorizer.members(t)
	if _, there := m["body"]; there {
		t.Error("the event has a body")
	}
	requestContext, _ := m["requestContext"].(map[string]any)
	if _, there := requestContext["authorizer"]; there || requestContext["path"] != "/things/a%20b/" {
		t.Errorf("request context %v", requestContext)
	}

	send(t, "GET", base+"/things", "")
	m = authorizer.members(t)
	for _, name := range []string{"queryStringParameters", "multiValueQueryStringParameters", "pathParameters", "stageVariables"} {
		if diff := cmp.Diff(map[string]any{}, m[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAuthorizerContextAsStrings(t *testing.T) {
	t.Parallel()
	function := &capture{}
	s := newSetup(function.Invoke, says(policyOf(`{"Action":"*","Effect":"Allow","Resource":"*"}`,
		`{"text":"a\"b","number":1,"float":1.50,"yes":true,"no":false,"nothing":null,"text2":"","principalId":"forged"}`)))
	base := s.start(t)
	wantStatus(t, send(t, "GET", base+"/things", ""), http.StatusOK)
	want := map[string]any{
		"principalId": "user:1", "integrationLatency": float64(0), "text": `a"b`,
		"number": "1", "float": "1.50", "yes": "true", "no": "false", "text2": "",
	}
	if diff := cmp.Diff(want, function.request(t).RequestContext.Authorizer); diff != "" {
		t.Errorf("authorizer (-want +got):\n%s", diff)
	}
}

func TestPolicyEvaluation(t *testing.T) {
	t.Parallel()
	const api = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/"
	allow := func(action, resource string) string {
		return `{"Action":"` + action + `","Effect":"Allow","Resource":"` + resource + `"}`
	}
	deny := func(action, resource string) string {
		return strings.Replace(allow(action, resource), "Allow", "Deny", 1)
	}
	const explicit, implicit = " with an explicit deny in an identity-based policy", ""
	for _, tt := range []struct {
		name, statements string
		status           int
		message          string
	}{
		{"ExactMethod", allow("execute-api:Invoke", api+"GET/things/7"), 200, ""},
		{"OtherMethod", allow("execute-api:Invoke", api+"PUT/things/7"), 403, implicit},
		{"WholeStage", allow("execute-api:Invoke", api+"*"), 200, ""},
		{"OtherStage", allow("execute-api:Invoke", strings.Replace(api, "prod", "dev", 1)+"*"), 403, implicit},
		{"StarInside", allow("execute-api:Invoke", api+"*/things/*"), 200, ""},
		{"StarCoversNothing", allow("execute-api:Invoke", api+"GET/things/7*"), 200, ""},
		{"QuestionMark", allow("execute-api:Invoke", api+"GET/things/?"), 200, ""},
		{"QuestionMarkNeedsOne", allow("execute-api:Invoke", api+"GET/things/7?"), 403, implicit},
		{"ResourcesHaveLetterCase", allow("execute-api:Invoke", api+"get/things/7"), 403, implicit},
		{"AnyAction", allow("*", "*"), 200, ""},
		{"ActionWildcard", allow("execute-api:*", "*"), 200, ""},
		{"ActionQuestionMark", allow("execute-api:Invok?", "*"), 200, ""},
		{"ActionsHaveNoLetterCase", allow("EXECUTE-API:invoke", "*"), 200, ""},
		{"OtherAction", allow("execute-api:ManageConnections", "*"), 403, implicit},
		{"Lists", `[{"Action":["a:b","execute-api:Invoke"],"Effect":"Allow","Resource":["x","` + api + `GET/*"]}]`, 200, ""},
		{"ExplicitDeny", deny("execute-api:Invoke", "*"), 403, explicit},
		{"DenyWinsBefore", "[" + deny("*", api+"GET/*") + "," + allow("*", "*") + "]", 403, explicit},
		{"DenyWinsAfter", "[" + allow("*", "*") + "," + deny("*", api+"GET/*") + "]", 403, explicit},
		{"DenyOfAnother", "[" + allow("*", "*") + "," + deny("*", api+"PUT/*") + "]", 200, ""},
		{"SecondAllow", "[" + allow("*", "x") + "," + allow("*", "*") + "]", 200, ""},
		{"ManyStars", allow("*", "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"), 403, implicit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := newSetup(says(ok), says(policyOf(tt.statements, ""))).start(t)
			r := send(t, "GET", base+"/things/7", "")
			wantStatus(t, r, tt.status)
			if tt.status == http.StatusForbidden {
				equal(t, "body", r.text, `{"Message":"User is not authorized to access this resource`+tt.message+`"}`)
				equal(t, "error type", r.Header.Get("X-Amzn-Errortype"), "AccessDeniedException")
			}
		})
	}
}

func TestAuthorizerFailures(t *testing.T) {
	t.Parallel()
	const statement = `{"Action":"*","Effect":"Allow","Resource":"*"}`
	const unauthorized, configuration = "UNAUTHORIZED", "AUTHORIZER_CONFIGURATION_ERROR"
	for _, tt := range []struct {
		name       string
		authorizer handler
		status     int
		kind       string
	}{
		{"ErrorUnauthorizedIs401", fails(errors.New("Unauthorized")), 401, unauthorized},
		{"OtherErrorIs500", fails(errors.New("boom")), 500, configuration},
		{"LowerCaseIs500", fails(errors.New("unauthorized")), 500, configuration},
		{"WrappedIs500", fails(fmt.Errorf("check: %w", errors.New("Unauthorized"))), 500, configuration},
		{"PanicIs500", func(context.Context, []byte) ([]byte, error) { panic("Unauthorized") }, 500, configuration},
		{"NoJSON", says("hello"), 500, configuration},
		{"Nothing", says(""), 500, configuration},
		{"Null", says("null"), 500, configuration},
		{"TwoDocuments", says(allowAll + "{}"), 500, configuration},
		{"NoPolicy", says(`{"principalId":"x"}`), 500, configuration},
		{"PolicyNull", says(`{"principalId":"x","policyDocument":null}`), 500, configuration},
		{"NoStatement", says(policyOf("[]", "")), 500, configuration},
		{"NoPrincipal", says(strings.Replace(allowAll, "principalId", "principal", 1)), 500, configuration},
		{"EmptyPrincipal", says(strings.Replace(allowAll, "user:1", "", 1)), 500, configuration},
		{"PrincipalNumber", says(strings.Replace(allowAll, `"user:1"`, "1", 1)), 500, configuration},
		{"UnknownEffect", says(policyOf(strings.Replace(statement, "Allow", "Maybe", 1), "")), 500, configuration},
		{"NoResource", says(policyOf(`{"Action":"*","Effect":"Allow"}`, "")), 500, configuration},
		{"LongResource", says(policyOf(strings.Replace(statement, `"Resource":"*"`, `"Resource":"`+strings.Repeat("*", 513)+`"`, 1), "")),
			500, configuration},
		{"ConditionNotPlayed", says(policyOf(`{"Action":"*","Effect":"Allow","Resource":"*","Condition":{"Bool":{}}}`, "")), 500, configuration},
		{"ObjectInContext", says(policyOf(statement, `{"a":{}}`)), 500, configuration},
		{"ArrayInContext", says(policyOf(statement, `{"a":[1]}`)), 500, configuration},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(fails(errors.New("the function must not be called")), tt.authorizer)
			base := s.start(t)
			r := send(t, "GET", base+"/things", "")
			wantStatus(t, r, tt.status)
			equal(t, "response type", s.record.Load().ResponseType, tt.kind)
			if tt.status == http.StatusUnauthorized {
				equal(t, "body", r.text, `{"message":"Unauthorized"}`)
				equal(t, "error type", r.Header.Get("X-Amzn-Errortype"), "UnauthorizedException")
				return
			}
			equal(t, "body", r.text, `{"message":null}`)
			equal(t, "error type", r.Header.Get("X-Amzn-Errortype"), "AuthorizerConfigurationException")
			if s.record.Load().Err == nil {
				t.Error("the record has no cause")
			}
		})
	}
}

func TestTTLZeroAsksAllTheSame(t *testing.T) {
	t.Parallel()
	authorizer := &capture{}
	s := newSetup(says(ok), authorizer.Invoke)
	base := s.start(t)
	wantStatus(t, send(t, "GET", base+"/things", ""), http.StatusInternalServerError)
	var e events.APIGatewayCustomAuthorizerRequestTypeRequest
	decode(t, authorizer.text(t), &e)
	if value, there := e.Headers["Authorization"]; there {
		t.Errorf("Authorization %q", value)
	}
}

func TestOtherTTLNeedsIdentitySource(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), fails(errors.New("the authorizer must not be called")))
	s.config.API.Authorizer.TTL = time.Minute
	base := s.start(t)
	wantStatus(t, send(t, "GET", base+"/things", ""), http.StatusUnauthorized)
	wantStatus(t, send(t, "GET", base+"/things", "", "Authorization: "), http.StatusUnauthorized)
	wantStatus(t, send(t, "GET", base+"/things", "", "Authorization: x"), http.StatusInternalServerError)
}

func TestOtherRoutesDoNotAsk(t *testing.T) {
	t.Parallel()
	base := newSetup(says(ok), fails(errors.New("the authorizer must not be called"))).start(t)
	wantStatus(t, send(t, "GET", base+"/open", "", "Authorization: Bearer x"), http.StatusOK)
}

func TestMethodARNAbove1600BytesIs414(t *testing.T) {
	t.Parallel()
	s := newSetup(says(ok), says(allowAll))
	base := s.start(t)
	prefix := len("arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/prod/GET/things/")
	wantStatus(t, send(t, "GET", base+"/things/"+strings.Repeat("a", 1600-prefix), ""), http.StatusOK)
	wantStatus(t, send(t, "GET", base+"/things/"+strings.Repeat("a", 1601-prefix), ""), http.StatusRequestURITooLong)
	equal(t, "response type", s.record.Load().ResponseType, "DEFAULT_4XX")
}

func TestPanicHasItsStack(t *testing.T) {
	t.Parallel()
	s := newSetup(func(context.Context, []byte) ([]byte, error) { panic("boom") }, says(allowAll))
	base := s.start(t)
	wantStatus(t, send(t, "GET", base+"/open", ""), http.StatusBadGateway)
	panicked, is := errors.AsType[*gateway.PanicError](s.record.Load().Err)
	if !is || panicked.Value != "boom" || !strings.Contains(string(panicked.Stack), "TestPanicHasItsStack") {
		t.Errorf("cause %v", s.record.Load().Err)
	}
}
