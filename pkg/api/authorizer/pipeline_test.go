package authorizer_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/issuer"
)

const audience = "https://toggles.example.com"

// The claims of pipelines, as their issuers document them.

func gitHub() map[string]any {
	return map[string]any{
		"aud": audience, "sub": "repo:octo-org/shop:ref:refs/heads/main", "repository": "octo-org/shop",
		"repository_id": "1296269", "repository_owner": "octo-org", "repository_owner_id": "65", "ref": "refs/heads/main",
		"ref_type": "branch", "event_name": "push", "environment": nil, "run_id": "30433642", "run_attempt": "1",
		"workflow_ref":     "octo-org/shop/.github/workflows/toggles.yml@refs/heads/main",
		"job_workflow_ref": "octo-org/shop/.github/workflows/toggles.yml@refs/heads/main", "runner_environment": "github-hosted",
	}
}

func gitLab() map[string]any {
	return map[string]any{
		"aud": audience, "sub": "project_path:octo/shop:ref_type:branch:ref:main", "project_id": "20", "namespace_id": "72",
		"project_path": "octo/shop", "namespace_path": "octo", "ref": "main", "ref_type": "branch", "ref_protected": "true",
		"pipeline_source": "push", "job_id": "302", "user_login": "ada", "user_email": "ada@example.com",
	}
}

func terraform() map[string]any {
	return map[string]any{
		"aud": audience, "sub": "organization:octo:project:shop:workspace:prod:run_phase:apply",
		"terraform_organization_id": "org-GRNbCjYNpBB6NEBv", "terraform_workspace_id": "ws-mbsd5E3Ktt5Rg2Xm",
		"terraform_workspace_name": "prod", "terraform_run_phase": "apply", "terraform_run_id": "run-X4n3X4n3",
	}
}

// pipelineFixture has a service account 4 that trusts the main branch of a GitHub repository, protected branches of a
// GitLab project, and the applies of an HCP Terraform workspace, all of one issuer.
type pipelineFixture struct {
	*fixture
	trusts *trust.Store
}

func newPipelineFixture(t *testing.T) *pipelineFixture {
	t.Helper()
	f := &pipelineFixture{fixture: newFixture(t)}
	f.trusts = trust.NewStore(f.Client, f.Tables, f.Log())
	for id, name := range map[int64]string{4: "deploy", 5: "other"} {
		assert.OK(t, f.users.Create(t.Context(), user.User{ID: id, Kind: user.ServiceAccount, Name: name, Username: name,
			Role: access.RoleViewer}))
	}
	f.trust(t, 4, map[string]string{"repository_id": "1296269", "ref": "refs/heads/main"})
	f.trust(t, 4, map[string]string{"project_id": "20", "ref_protected": "true"})
	f.trust(t, 4, map[string]string{"terraform_workspace_id": "ws-mbsd5E3Ktt5Rg2Xm", "terraform_run_phase": "apply"})
	return f
}

func (f *pipelineFixture) trust(t *testing.T, account int64, claims map[string]string) trust.Trust {
	t.Helper()
	created, err := f.trusts.Create(t.Context(), trust.Trust{AccountID: account, Description: "pipeline", Issuer: f.issuer.URL,
		Audience: audience, Claims: claims, CreatedAt: now()})
	assert.OK(t, err)
	return created
}

// token returns a token with the claims of a pipeline and changes.
func (f *pipelineFixture) token(claims, changes map[string]any) string {
	claims = maps.Clone(claims)
	maps.Copy(claims, changes)
	for _, name := range []string{"email", "email_verified", "name"} {
		claims[name] = nil
	}
	return f.issuer.Token(now(), claims)
}

func TestPipelines(t *testing.T) {
	t.Parallel()
	f := newPipelineFixture(t)
	a, tap, _ := f.authenticator(t, nil)
	principal := func(tokenID string) string {
		return "user:4 Allow map[kind:service-account name:deploy permissions: role:Viewer tokenId:" + tokenID + " userId:4]"
	}
	assert.Equal(t, principal("trust:1 repo:octo-org/shop:ref:refs/heads/main"), authorize(t, a, f.token(gitHub(), nil)))
	assert.Equal(t, "Query BatchGetItem", tap.Calls())
	assert.Equal(t, principal("trust:2 project_path:octo/shop:ref_type:branch:ref:main"),
		authorize(t, a, "Bearer "+f.token(gitLab(), nil)))
	assert.Equal(t, principal("trust:3 organization:octo:project:shop:workspace:prod:run_phase:apply"),
		authorize(t, a, f.token(terraform(), nil)))
	long := "repo:" + strings.Repeat("ä", 300)
	assert.Equal(t, principal(string([]rune("trust:1 " + long)[:255])),
		authorize(t, a, f.token(gitHub(), map[string]any{"sub": long})))

	// A withdrawn right ends with the next request.
	assert.OK(t, f.trusts.Delete(t.Context(), 4, 1))
	assert.Equal(t, denied, authorize(t, a, f.token(gitHub(), nil)))
	assert.OK(t, f.users.SetDisabled(t.Context(), 4, true, false))
	assert.Equal(t, denied, authorize(t, a, f.token(gitLab(), nil)))
	assert.OK(t, f.users.SetDisabled(t.Context(), 4, false, false))
	assert.OK(t, f.pats.DeleteOwner(t.Context(), user.ServiceAccount, 4, false))
	assert.Equal(t, denied, authorize(t, a, f.token(gitLab(), nil)))
	left, err := f.trusts.OfIssuer(t.Context(), f.issuer.URL)
	assert.OK(t, err)
	assert.Equal(t, 0, len(left))
}

// TestAttackers sends what is no token of a trusted pipeline. Nothing is fetched from any issuer, except for signatures.
func TestAttackers(t *testing.T) {
	t.Parallel()
	f := newPipelineFixture(t)
	evil := issuer.New(t)
	noTrust := "no trust has the audience and the claims"
	at := func(d time.Duration) int64 { return now().Add(d).Unix() }
	for _, test := range []struct{ name, token, reason string }{
		{"another service's audience", f.token(gitHub(), map[string]any{"aud": "https://github.com/octo-org"}), noTrust},
		{"no audience", f.token(gitHub(), map[string]any{"aud": nil}), noTrust},
		{"the audience of people", f.token(gitHub(), map[string]any{"aud": issuer.ClientID}), noTrust},
		{"another party", f.token(gitHub(), map[string]any{"azp": "other"}), "audience"},
		{"another repository", f.token(gitHub(), map[string]any{"repository_id": "1296270"}), noTrust},
		{"a number instead of a text", f.token(gitHub(), map[string]any{"repository_id": 1296269}), noTrust},
		{"a list that has the id", f.token(gitHub(), map[string]any{"repository_id": []string{"1296269"}}), noTrust},
		{"a repository that took the name", f.token(gitHub(), map[string]any{"repository_id": "99"}), noTrust},
		{"a pull request", f.token(gitHub(), map[string]any{"ref": "refs/pull/7/merge", "event_name": "pull_request",
			"sub": "repo:octo-org/shop:pull_request"}), noTrust},
		{"a branch with a similar name", f.token(gitHub(), map[string]any{"ref": "refs/heads/main2"}), noTrust},
		{"another letter case", f.token(gitHub(), map[string]any{"ref": "refs/heads/Main"}), noTrust},
		{"a branch that is not protected", f.token(gitLab(), map[string]any{"ref_protected": "false"}), noTrust},
		{"a boolean instead of a text", f.token(gitLab(), map[string]any{"ref_protected": true}), noTrust},
		{"a plan", f.token(terraform(), map[string]any{"terraform_run_phase": "plan"}), noTrust},
		{"expired", f.token(gitHub(), map[string]any{"exp": at(-2 * time.Minute)}), "expired"},
		{"from the future", f.token(gitHub(), map[string]any{"iat": at(2 * time.Minute)}), "not yet valid"},
		{"valid for days", f.token(gitHub(), map[string]any{"exp": at(48 * time.Hour)}), "lifetime"},
		{"valid for days without iat", f.token(gitHub(), map[string]any{"exp": at(48 * time.Hour), "iat": nil}), "lifetime"},
		{"an access token", f.token(gitHub(), map[string]any{"typ": "Bearer"}), "type"},
		{"an unknown issuer", evil.Token(now(), gitHub()), "issuer"},
		{"an issuer that is no URL", f.token(gitHub(), map[string]any{"iss": "file:///etc/passwd"}), "issuer"},
		{"no issuer", f.token(gitHub(), map[string]any{"iss": nil}), "issuer"},
		{"not signed", issuer.KeyFor("ES256").Sign(map[string]any{"alg": "none"}, f.issuer.Claims(now(), gitHub())), "algorithm"},
	} {
		a, _, log := f.authenticator(t, nil)
		got := authorize(t, a, test.token)
		want := `"reason":"` + test.reason + `"`
		if got != denied || !strings.Contains(log.String(), want) {
			t.Errorf("%s: %s %s, want the reason %q", test.name, got, log, test.reason)
		}
	}
	assert.Equal(t, 0, f.issuer.Fetches(issuer.MetadataPath)+evil.Fetches(issuer.MetadataPath))

	a, _, log := f.authenticator(t, nil)
	assert.Equal(t, denied, authorize(t, a, issuer.NewKey("ES256", "ES256").Sign(nil, f.issuer.Claims(now(), gitHub()))))
	assert.Equal(t, true, strings.Contains(log.String(), `"reason":"signature"`))

	f.trust(t, 5, map[string]string{"repository_id": "1296269", "event_name": "push", "ref": "refs/heads/main"})
	a, _, log = f.authenticator(t, nil)
	assert.Equal(t, denied, authorize(t, a, f.token(gitHub(), nil)))
	assert.Equal(t, true, strings.Contains(log.String(), `"reason":"trusts of several service accounts match"`))
}

// A token that a pipeline gets for the client ID of the console is no person, even with an e-mail address.
func TestPipelineIsNoPerson(t *testing.T) {
	t.Parallel()
	f := newPipelineFixture(t)
	a, _, _ := f.authenticator(t, nil)
	a.DefaultRole = access.RoleAdmin
	for _, identity := range trust.Identities() {
		assert.Equal(t, denied, authorize(t, a, f.issuer.Token(now(), map[string]any{identity: "1"})))
	}
	assert.Equal(t, "user:11", strings.Fields(authorize(t, a, f.issuer.Token(now(), nil)))[0])
}
