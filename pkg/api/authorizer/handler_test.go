package authorizer_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/database"
)

func TestValidCredentialIsAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	later := now().Add(time.Millisecond)
	check(t, f.users.Create(t.Context(), user.User{ID: 4, Kind: user.ServiceAccount, Name: "Pipeline", Username: "ci",
		Role: access.RoleViewer}))
	_, admin := f.pat(t, 1, nil)
	_, editor := f.pat(t, 2, nil)
	_, viewer := f.pat(t, 3, nil)
	_, service, err := f.pats.Create(t.Context(), pat.PAT{UserID: 4, Description: "d", ExpiresAt: later},
		pat.Owner{Kind: pat.AnyKind, Limit: 1})
	check(t, err)
	_, expiring := f.pat(t, 3, func(p *pat.PAT) { p.ExpiresAt = later })
	unlimited, limited := f.apiToken(t, nil), f.apiToken(t, &later)
	viewing := map[string]any{"userId": "3", "permissions": "", "name": "Viewer", "tokenId": "3"}
	apiToken := func(token access.Token) map[string]any {
		return map[string]any{"permissions": "ADMIN", "name": "API token ci", "tokenId": token.Selector.String()}
	}
	for _, tt := range []struct {
		name, header string
		id           string
		context      map[string]any
	}{
		{"Admin", admin.Reveal(), "user:1", map[string]any{"userId": "1", "permissions": "ADMIN", "name": "Admin",
			"tokenId": "1"}},
		{"Editor", editor.Reveal(), "user:2", map[string]any{
			"userId": "2", "name": "Editor", "tokenId": "2",
			"permissions": "CREATE_CONTEXT_FIELD,UPDATE_CONTEXT_FIELD,DELETE_CONTEXT_FIELD,CREATE_FEATURE,UPDATE_FEATURE," +
				"DELETE_FEATURE",
		}},
		{"Viewer", viewer.Reveal(), "user:3", viewing},
		{"service account", service.Reveal(), "user:4", map[string]any{"userId": "4", "permissions": "", "name": "ci",
			"tokenId": "4"}},
		{"PAT that expires later", expiring.Reveal(), "user:3", map[string]any{"userId": "3", "permissions": "",
			"name": "Viewer", "tokenId": "5"}},
		{"API token", unlimited.Reveal(), "api-token:" + unlimited.Selector.String(), apiToken(unlimited)},
		{"API token that expires later", limited.Reveal(), "api-token:" + limited.Selector.String(), apiToken(limited)},
		{"Bearer", "Bearer " + viewer.Reveal(), "user:3", viewing},
		{"bearer in any letter case and spaces", " \tbEaReR   " + viewer.Reveal() + "\t ", "user:3", viewing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, tap, log := f.authenticator(t, nil)
			got, err := a.Authorize(t.Context(), request(tt.header))
			if diff := cmp.Diff(policy(tt.id, "Allow", tt.context), got); diff != "" || err != nil {
				t.Errorf("error %v, response (-want +got):\n%s", err, diff)
			}
			calls := strings.TrimSuffix(tap.Calls(), " UpdateItem") // these tokens are used for the first time
			if strings.Contains(calls, " ") || calls != tap.Calls() && !strings.HasPrefix(tt.name, "API token") &&
				tt.name != "service account" || log.Len() > 0 {
				t.Errorf("calls %s, log %s", tap.Calls(), log)
			}
		})
	}
}

// TestInvalidCredentialIsDenied checks that an unknown credential costs the same calls as a wrong secret, and that
// neither is written as seen.
func TestInvalidCredentialIsDenied(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, valid := f.pat(t, 1, nil)
	token := valid.Reveal()
	_, expired := f.pat(t, 1, func(p *pat.PAT) { p.ExpiresAt, p.SeenAt = now(), nil })
	revoked, revokedToken := f.pat(t, 1, nil)
	check(t, f.pats.Delete(t.Context(), pat.AnyKind, 1, revoked.ID))
	_, disabled := f.pat(t, 2, nil)
	check(t, f.users.SetDisabled(t.Context(), 2, true))
	_, orphaned := f.pat(t, 3, nil)
	f.Delete(t, f.Tables.Users, user.Key(3))
	apiToken, expiredAPIToken := f.apiToken(t, nil), f.apiToken(t, new(now()))
	const readPAT, readAPIToken = "BatchGetItem", "GetItem"
	for _, tt := range []struct {
		name    string
		headers []string
		calls   string
	}{
		{"missing", nil, ""},
		{"empty", []string{""}, ""},
		{"white space", []string{" \t "}, ""},
		{"Bearer alone", []string{"Bearer "}, ""},
		{"Bearer without a space", []string{"Bearer" + token}, ""},
		{"Bearer and a tab", []string{"Bearer\t" + token}, ""},
		{"Bearer twice", []string{strings.Repeat("Bearer ", 2) + token}, ""},
		{"another scheme", []string{"Basic " + token}, ""},
		{"malformed", []string{token + "A"}, ""},
		{"two headers", []string{token, apiToken.Reveal()}, ""},
		{"the same header twice", []string{token, token}, ""},
		{"two in one header", []string{token + ", " + token}, ""},
		{"unknown PAT", []string{valid.At(access.PATSelector(1, 99)).Reveal()}, readPAT},
		{"another user's PAT", []string{valid.At(access.PATSelector(2, 1)).Reveal()}, readPAT},
		{"wrong secret", []string{wrongSecret(valid)}, readPAT},
		{"revoked", []string{revokedToken.Reveal()}, readPAT},
		{"expires now", []string{expired.Reveal()}, readPAT},
		{"disabled user", []string{disabled.Reveal()}, readPAT},
		{"deleted user", []string{orphaned.Reveal()}, readPAT},
		{"unknown API token", []string{apiToken.At(access.Selector{1}).Reveal()}, readAPIToken},
		{"API token with a wrong secret", []string{wrongSecret(apiToken)}, readAPIToken},
		{"API token that expires now", []string{expiredAPIToken.Reveal()}, readAPIToken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, tap, log := f.authenticator(t, nil)
			got, err := a.Authorize(t.Context(), request(tt.headers...))
			if diff := cmp.Diff(policy("anonymous", "Deny", nil), got); diff != "" || err != nil {
				t.Errorf("error %v, response (-want +got):\n%s", err, diff)
			}
			if tap.Calls() != tt.calls || log.Len() > 0 {
				t.Errorf("calls %q, want %q, log %s", tap.Calls(), tt.calls, log)
			}
		})
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, valid := f.pat(t, 1, nil)
	token := valid.Reveal()
	for _, tt := range []struct {
		name   string
		single map[string]string
		multi  map[string][]string
		want   string
	}{
		{"upper case", map[string]string{"AUTHORIZATION": token}, map[string][]string{"AUTHORIZATION": {token}}, "user:1"},
		{"only single values", map[string]string{"Authorization": token}, nil, "user:1"},
		{"only multiple values", nil, map[string][]string{"Authorization": {token}}, "user:1"},
		{"no map", nil, nil, "anonymous"},
		{"empty list", map[string]string{}, map[string][]string{"Authorization": {}}, "anonymous"},
		{"two spellings", nil, map[string][]string{"Authorization": {token}, "authorization": {token}}, "anonymous"},
		{"two spellings of single values", map[string]string{"Authorization": token, "authorization": token}, nil,
			"anonymous"},
		{"another header", map[string]string{"X-Authorization": token}, map[string][]string{"Proxy-Authorization": {token}},
			"anonymous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, _, _ := f.authenticator(t, nil)
			event := request()
			event.Headers, event.MultiValueHeaders = tt.single, tt.multi
			if got, err := a.Authorize(t.Context(), event); err != nil || got.PrincipalID != tt.want {
				t.Errorf("principal %q, %v, want %q", got.PrincipalID, err, tt.want)
			}
		})
	}
}

func TestPolicyIsForTheWholeStage(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]string{
		api + "/dev/GET/api/admin/context":            api + "/dev/*",
		api + "/prod/*/api/admin/context":             api + "/prod/*",
		api + "/dev/GET/":                             api + "/dev/*",
		api + "/dev/GET":                              api + "/dev/*",
		api + "/dev/PUT/api/admin/feedback/a%2Fb//c/": api + "/dev/*",
		api: api,
		"":  "",
	} {
		event := request("malformed")
		event.MethodArn = arn
		got, err := (&authorizer.Authenticator{}).Authorize(t.Context(), event)
		if err != nil || got.PolicyDocument.Statement[0].Resource[0] != want {
			t.Errorf("%s: %v, %v", arn, got.PolicyDocument, err)
		}
	}
}

// TestFailedLookup checks that a failure of DynamoDB is an error, not a Deny, and that the error does not contain its
// text.
func TestFailedLookup(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, known := f.pat(t, 1, nil)
	for name, token := range map[string]access.Token{"PAT": known, "API token": f.apiToken(t, nil),
		"unknown PAT": known.At(access.PATSelector(7, 7))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, log := f.authenticator(t,
				func(c *database.Call) (*http.Response, error) { return c.Refuse("AccessDeniedException") })
			got, err := a.Authorize(t.Context(), request(token.Reveal()))
			if err == nil || err.Error() != "the credential could not be looked up" {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(events.APIGatewayCustomAuthorizerResponse{}, got); diff != "" {
				t.Errorf("a policy with the error:\n%s", diff)
			}
			line := log.String()
			for _, text := range []string{`"level":"ERROR"`, `"apiRequestId":"` + requestID + `"`, "AccessDeniedException"} {
				if !strings.Contains(line, text) || strings.Count(line, "\n") != 1 || strings.Contains(line, token.Reveal()) {
					t.Errorf("the log is not one line with %s: %s", text, line)
				}
			}
		})
	}
	t.Run("until the deadline", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			a, _, _ := f.authenticator(t, (*database.Call).Hang)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			if _, err := a.Authorize(ctx, request(known.Reveal())); err == nil || time.Since(begin) != 4500*time.Millisecond {
				t.Errorf("error %v after %s", err, time.Since(begin))
			}
		})
	})
}

func TestNewFunction(t *testing.T) {
	t.Parallel()
	env := &app.Env{Now: now, Logger: slog.New(slog.DiscardHandler), Vars: map[string]string{
		"USERS_TABLE": "u", "API_TOKENS_TABLE": "a", "EVENTS_TABLE": "e", "EVENT_LOG_DAYS": "400",
	}}
	if _, err := authorizer.NewFunction(env); err == nil ||
		!strings.Contains(err.Error(), "PERSONAL_ACCESS_TOKENS_TABLE") {
		t.Errorf("error %v", err)
	}
	env.Vars["PERSONAL_ACCESS_TOKENS_TABLE"] = "p"
	for _, vars := range []map[string]string{
		{"OIDC_ISSUER": "http://127.0.0.1", "OIDC_CLIENT_ID": "c"}, {"OIDC_ISSUER": "https://a.example"},
		{"OIDC_CLIENT_ID": "c"},
		{"OIDC_DEFAULT_ROLE": "Viewer"}, {"OIDC_ISSUER": "https://a.example", "OIDC_CLIENT_ID": "c",
			"OIDC_DEFAULT_ROLE": "viewer"},
	} {
		wrong := *env
		wrong.Vars = maps.Clone(env.Vars)
		maps.Copy(wrong.Vars, vars)
		if _, err := authorizer.NewFunction(&wrong); err == nil || !strings.Contains(err.Error(), "OIDC_") {
			t.Errorf("%v: error %v", vars, err)
		}
	}
	env.Vars["OIDC_ISSUER"], env.Vars["OIDC_CLIENT_ID"], env.Vars["OIDC_DEFAULT_ROLE"] = "http://127.0.0.1", "c", "Viewer"
	env.Local = true
	if _, err := authorizer.NewFunction(env); err == nil || !strings.Contains(err.Error(), "IDENTIFIERS_TABLE") {
		t.Errorf("error %v", err)
	}
	env.Vars["IDENTIFIERS_TABLE"] = "i"
	handler, err := authorizer.NewFunction(env)
	check(t, err)
	got, err := handler.Invoke(t.Context(),
		[]byte(`{"type":"REQUEST","methodArn":"a/b/c","headers":{"Authorization":"x"}}`))
	if err != nil || !strings.Contains(string(got), `"principalId":"anonymous"`) {
		t.Errorf("%s, %v", got, err)
	}
}
