package authorizer_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

func TestAValidCredentialIsAllowedForTheWholeStage(t *testing.T) {
	t.Parallel()
	admin := policy("user:1", "Allow", map[string]any{"userId": "1", "permissions": "ADMIN"})
	api := policy("api-token:"+auth.PATSelector(0, 1).String(), "Allow", map[string]any{"permissions": "ADMIN"})
	later := now().Add(time.Nanosecond)
	for _, tt := range []struct {
		name   string
		header string
		change func(*fakeTokens)
		want   events.APIGatewayCustomAuthorizerResponse
	}{
		{"an Admin's PAT", patToken(1, 1), nil, admin},
		{"an Editor's PAT", patToken(2, 2), nil, policy("user:2", "Allow", map[string]any{"userId": "2", "permissions": ""})},
		{"a Viewer's PAT", patToken(3, 3), nil, policy("user:3", "Allow", map[string]any{"userId": "3", "permissions": ""})},
		{"a service account's PAT", patToken(4, 4), nil, policy("user:4", "Allow", map[string]any{"userId": "4", "permissions": ""})},
		{
			"permissions are those of its user, read at each request", patToken(2, 2),
			func(f *fakeTokens) { f.users[2] = user.User{ID: 2, Role: auth.RoleAdmin} },
			policy("user:2", "Allow", map[string]any{"userId": "2", "permissions": "ADMIN"}),
		},
		{"an API token", apiToken(1), nil, api},
		{"an API token that has not expired yet", apiToken(1), func(f *fakeTokens) {
			token := f.apiTokens[auth.PATSelector(0, 1)]
			token.ExpiresAt = &later
			f.apiTokens[auth.PATSelector(0, 1)] = token
		}, api},
		{"a PAT that has not expired yet", patToken(1, 1), func(f *fakeTokens) { f.changePAT(func(p *pat.PAT) { p.ExpiresAt = later }) }, admin},
		{"Bearer", "Bearer " + patToken(1, 1), nil, admin},
		{"bearer", "bearer " + patToken(1, 1), nil, admin},
		{"BEARER", "BEARER " + apiToken(1), nil, api},
		{"bEaReR and more spaces", "bEaReR   " + patToken(1, 1), nil, admin},
		{"white space around", " \t" + patToken(1, 1) + "\t ", nil, admin},
		{"white space around Bearer", " Bearer " + patToken(1, 1) + " ", nil, admin},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			if tt.change != nil {
				tt.change(f)
			}
			a, log := authenticator(f)
			got, err := a.Authorize(t.Context(), request(tt.header))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if len(f.calls) != 1 || log.Len() > 0 {
				t.Errorf("calls %q, log %s", f.calls, log)
			}
		})
	}
}

func TestWithoutAValidCredentialTheAnswerIsADenyForAnonymous(t *testing.T) {
	t.Parallel()
	disable := func(f *fakeTokens) { f.users[1] = user.User{ID: 1, Role: auth.RoleAdmin, Disabled: true} }
	expire := func(at time.Time) func(*fakeTokens) {
		return func(f *fakeTokens) { f.changePAT(func(p *pat.PAT) { p.ExpiresAt, p.SeenAt = at, nil }) }
	}
	expireAPIToken := func(f *fakeTokens) {
		at, selector := now(), auth.PATSelector(0, 1)
		f.apiTokens[selector] = apitoken.APIToken{Selector: selector, Verifier: f.apiTokens[selector].Verifier, ExpiresAt: &at}
	}
	read, readAPIToken := []string{"PAT 1 1"}, []string{"APIToken " + auth.PATSelector(0, 1).String()}
	for _, tt := range []struct {
		name    string
		headers []string
		change  func(*fakeTokens)
		calls   []string
	}{
		{"missing", nil, nil, nil},
		{"empty", []string{""}, nil, nil},
		{"white space", []string{" \t "}, nil, nil},
		{"Bearer alone", []string{"Bearer"}, nil, nil},
		{"Bearer and a space", []string{"Bearer "}, nil, nil},
		{"Bearer without a space", []string{"Bearer" + patToken(1, 1)}, nil, nil},
		{"Bearer and a tab", []string{"Bearer\t" + patToken(1, 1)}, nil, nil},
		{"Bearer twice", []string{strings.Repeat("Bearer ", 2) + patToken(1, 1)}, nil, nil},
		{"another scheme", []string{"Basic " + patToken(1, 1)}, nil, nil},
		{"malformed", []string{"abc"}, nil, nil},
		{"malformed by one character", []string{patToken(1, 1) + "A"}, nil, nil},
		{"a JWT, until there is an issuer", []string{"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."}, nil, nil},
		{"the counter's item", []string{"user:v2_" + auth.PATSelector(0, 0).String() + "_" + secret}, nil, nil},
		{"two headers", []string{patToken(1, 1), patToken(2, 2)}, nil, nil},
		{"the same header twice", []string{patToken(1, 1), patToken(1, 1)}, nil, nil},
		{"two in one header", []string{patToken(1, 1) + ", " + patToken(1, 1)}, nil, nil},
		{"unknown", []string{patToken(1, 2)}, nil, []string{"PAT 1 2"}},
		{"of an unknown user", []string{patToken(9, 1)}, nil, []string{"PAT 9 1"}},
		{"wrong secret", []string{strings.Replace(patToken(1, 1), secret, otherSecret, 1)}, nil, read},
		{"revoked", []string{patToken(1, 1)}, func(f *fakeTokens) { delete(f.pats, [2]int64{1, 1}) }, read},
		{"expired exactly now", []string{patToken(1, 1)}, expire(now()), read},
		{"expired long ago", []string{patToken(1, 1)}, expire(now().AddDate(-1, 0, 0)), read},
		{"a disabled user", []string{patToken(1, 1)}, disable, read},
		{"a deleted user", []string{patToken(1, 1)}, func(f *fakeTokens) { delete(f.users, 1) }, read},
		{"an unknown API token", []string{apiToken(2)}, nil, []string{"APIToken " + auth.PATSelector(0, 2).String()}},
		{"an API token with a wrong secret", []string{strings.Replace(apiToken(1), secret, otherSecret, 1)}, nil, readAPIToken},
		{"an API token that expired exactly now", []string{apiToken(1)}, expireAPIToken, readAPIToken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			if tt.change != nil {
				tt.change(f)
			}
			a, log := authenticator(f)
			got, err := a.Authorize(t.Context(), request(tt.headers...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(policy("anonymous", "Deny", nil), got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			// A lookup that finds nothing takes the path of one that finds a wrong secret, and neither is ever written as seen.
			if diff := cmp.Diff(tt.calls, f.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if log.Len() > 0 {
				t.Errorf("log %s", log)
			}
		})
	}
}

func TestTheHeaderIsFoundInAnyLetterCaseAndOnce(t *testing.T) {
	t.Parallel()
	token := patToken(1, 1)
	for _, tt := range []struct {
		name   string
		single map[string]string
		multi  map[string][]string
		want   string
	}{
		{"Authorization", map[string]string{"Authorization": token}, map[string][]string{"Authorization": {token}}, "user:1"},
		{"AUTHORIZATION", map[string]string{"AUTHORIZATION": token}, map[string][]string{"AUTHORIZATION": {token}}, "user:1"},
		{"single values alone", map[string]string{"Authorization": token}, nil, "user:1"},
		{"multi values alone", nil, map[string][]string{"Authorization": {token}}, "user:1"},
		{"neither map", nil, nil, "anonymous"},
		{"an empty list", map[string]string{}, map[string][]string{"Authorization": {}}, "anonymous"},
		{"two spellings", map[string]string{"Authorization": token, "authorization": token}, map[string][]string{"Authorization": {token}, "authorization": {token}}, "anonymous"},
		{"two spellings, single values alone", map[string]string{"Authorization": token, "authorization": token}, nil, "anonymous"},
		{"a header that only looks like it", map[string]string{"X-Authorization": token}, map[string][]string{"Proxy-Authorization": {token}}, "anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, _ := authenticator(newFake(t))
			event := request()
			event.Headers, event.MultiValueHeaders = tt.single, tt.multi
			for range 20 { // a map's order differs from time to time
				got, err := a.Authorize(t.Context(), event)
				if err != nil || got.PrincipalID != tt.want {
					t.Fatalf("principal %q, %v, want %q", got.PrincipalID, err, tt.want)
				}
			}
		})
	}
}

func TestThePolicysResourceIsTheWholeStage(t *testing.T) {
	t.Parallel()
	const api = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5"
	for _, tt := range []struct{ name, arn, want string }{
		{"an operation", api + "/dev/GET/api/admin/context", api + "/dev/*"},
		{"a wildcard method", api + "/prod/*/api/admin/context", api + "/prod/*"},
		{"the root", api + "/dev/GET/", api + "/dev/*"},
		{"no path", api + "/dev/GET", api + "/dev/*"},
		{"a path with escapes and a stray slash", api + "/dev/PUT/api/admin/feedback/a%2Fb//c", api + "/dev/*"},
		{"no stage", api, api},
		{"empty", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, _ := authenticator(newFake(t))
			for _, header := range []string{patToken(1, 1), "none"} {
				event := request(header)
				event.MethodArn = tt.arn
				got, err := a.Authorize(t.Context(), event)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{tt.want}, got.PolicyDocument.Statement[0].Resource); diff != "" {
					t.Errorf("resource (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAFaultBelowIsAnErrorThatLeaksNothingAndIsNo401(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]error{
		"a fault":                    errors.New("table Users in arn:aws:dynamodb does not exist"),
		"one that is called like it": errors.New("Unauthorized"),
		"the context's end":          context.DeadlineExceeded,
	} {
		for _, header := range []string{patToken(1, 1), apiToken(1), patToken(7, 7)} {
			t.Run(name+" with "+header[:5], func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				f.fault = func(context.Context) error { return fault }
				a, log := authenticator(f)
				got, err := a.Authorize(t.Context(), request(header))
				if err == nil || err.Error() != "the credential could not be looked up" || errors.Is(err, fault) {
					t.Fatalf("the error is %v", err)
				}
				if diff := cmp.Diff(events.APIGatewayCustomAuthorizerResponse{}, got); diff != "" {
					t.Errorf("a policy beside the error:\n%s", diff)
				}
				line := log.String()
				if strings.Count(line, "\n") != 1 || !strings.Contains(line, `"level":"ERROR"`) || !strings.Contains(line, `"apiRequestId":"`+requestID+`"`) ||
					!strings.Contains(line, fault.Error()) || strings.Contains(line, secret) {
					t.Errorf("log %s", line)
				}
			})
		}
	}
}

func TestAFaultThatLastsIsGivenUpBeforeTheInvocationEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.fault = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		a, _ := authenticator(f)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		started := time.Now()
		if _, err := a.Authorize(ctx, request(patToken(1, 1))); err == nil {
			t.Error("no error")
		}
		if took := time.Since(started); took != 4500*time.Millisecond {
			t.Errorf("given up after %v of 5 s", took)
		}
	})
}

func TestConcurrentRequestsDoNotMix(t *testing.T) {
	t.Parallel()
	a, _ := authenticator(newFake(t))
	var clients sync.WaitGroup
	for i := range 32 {
		clients.Go(func() {
			header, want := patToken(2, 2), "user:2"
			switch i % 3 {
			case 1:
				header, want = patToken(3, 3), "user:3"
			case 2:
				header, want = patToken(3, 2), "anonymous"
			}
			if got, err := a.Authorize(t.Context(), request(header)); err != nil || got.PrincipalID != want {
				t.Errorf("principal %q, %v, want %q", got.PrincipalID, err, want)
			}
		})
	}
	clients.Wait()
}
