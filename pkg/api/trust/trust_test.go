package trust_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

const peoplesIssuer = "https://login.example.com"

func now() time.Time { return time.Date(2026, 11, 29, 5, 39, 0, 123_000_000, time.UTC) }

type fixture struct {
	*database.Database
	operation.Set
	users  *user.Store
	trusts *trust.Store
}

// newFixture creates a person with the id 1, and the service accounts 2 and 3.
func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{Database: db, users: user.NewStore(db.Client, db.Tables, db.Log()),
		trusts: trust.NewStore(db.Client, db.Tables, db.Log())}
	for id, kind := range map[int64]user.Kind{1: user.Person, 2: user.ServiceAccount, 3: user.ServiceAccount} {
		name := fmt.Sprint("account ", id)
		assert.OK(tb, f.users.Create(tb.Context(), user.User{ID: id, Kind: kind, Name: name, Username: name,
			Role: access.RoleEditor}))
	}
	f.Set = operation.Set{Parameters: []string{"id", "trustId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": trust.Create(f.trusts, now, trust.People{Issuer: peoplesIssuer, ClientID: "https://example.com/console"}),
		"list":   trust.List(f.trusts),
		"delete": trust.Delete(f.trusts),
	}}
	return f
}

// body returns the body of a creation. claims are JSON.
func body(issuer, claims string) string {
	return `{"description":"deploy","issuer":"` + issuer + `","audience":"https://example.com","claims":` + claims + `}`
}

const (
	gitHub    = "https://token.actions.githubusercontent.com"
	anyIssuer = "https://ci.example.com"
)

func TestTrusts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pinned := body(gitHub, `{"repository_id":"1296269","ref":"refs/heads/main"}`)
	created := `{"id":1,"userId":2,"description":"deploy","issuer":"` + gitHub + `","audience":"https://example.com",` +
		`"claims":{"ref":"refs/heads/main","repository_id":"1296269"},"anyRef":false,"createdAt":"2026-11-29T05:39:00.123Z"}`
	f.Expect(t.Context(), t, "create", "2", pinned, "201 "+created)
	f.Expect(t.Context(), t, "list", "2", "", `200 {"trusts":[`+created+`]}`)
	f.Expect(t.Context(), t, "list", "3", "", `200 {"trusts":[]}`)
	f.Expect(t.Context(), t, "create", "2", pinned,
		"409 NameExistsError: The service account has a trust with this issuer, audience and claims.")
	f.Expect(t.Context(), t, "create", "3", pinned,
		"409 NameExistsError: Another service account has a trust with this issuer, audience and claims.")
	for _, id := range []string{"1", "4", "x"} {
		want := `404 NotFoundError: There is no service account with the id "` + id + `".`
		f.Expect(t.Context(), t, "create", id, pinned, want)
		f.Expect(t.Context(), t, "list", id, "", want)
	}
	f.Expect(t.Context(), t, "delete", "3/1", "",
		`404 NotFoundError: There is no service account with the id "3" that has a trust with the id "1".`)
	f.Expect(t.Context(), t, "delete", "2/1", "", "200")
	f.Expect(t.Context(), t, "list", "2", "", `200 {"trusts":[]}`)
	f.ExpectStatus(t.Context(), t, "create", "3", pinned, 201) // with another id
	f.Expect(t.Context(), t, "delete", "3/1", "",
		`404 NotFoundError: There is no service account with the id "3" that has a trust with the id "1".`)
}

// TestWeakTrusts checks what identifies a pipeline: an identity that is never used again, and what it runs for.
func TestWeakTrusts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const identity = "The `/body/claims` property must contain one of `repository_id`, `project_id`, `namespace_id`, " +
		"`terraform_workspace_id`"
	const pin = "The `/body/claims` property must contain one of `ref`, `environment`, `job_workflow_ref`, `ref_protected`, " +
		"unless `anyRef` is true: otherwise each branch and pull request is trusted."
	tooMany := `{"sub":"a"`
	for i := range 10 {
		tooMany += fmt.Sprintf(`,"c%d":"v"`, i)
	}
	for _, test := range []struct{ body, problem string }{
		{body(gitHub, `{"repository":"octo-org/shop","ref":"refs/heads/main"}`), identity + " or `sub`."},
		{body(gitHub, `{"repository_id":"1296269"}`), pin},
		{body("https://gitlab.example.com", `{"project_id":"20","environment_protected":"true"}`), pin},
		{body("https://gitlab.example.com", `{"namespace_id":"72"}`), pin},
		{body(peoplesIssuer, `{"sub":"project_path:octo/shop:ref_type:branch:ref:main"}`),
			identity + ", because people sign in at the issuer."},
		{body("https://github.example.com/_services/token", `{"sub":"repo:octo-org/shop:ref:refs/heads/main"}`),
			identity + ": the names in `sub` can become those of somebody else."},
		{body(gitHub, `{"sub":"environment:production"}`),
			identity + ": the names in `sub` can become those of somebody else."},
		{body("https://gitlab.example.com", `{"project_id":"20","ref_protected":"false"}`), pin},
		{strings.Replace(body(gitHub, `{"repository_id":"1","ref":"main"}`), "https://example", "https://dev-example", 1),
			"The `/body/audience` property must contain \"example.com\", the host name of this API: a token for another " +
				"service must not be accepted here; you sent \"https://dev-example.com\"."},
		{body("http://127.0.0.1:8080", `{"sub":"a"}`),
			"The `/body/issuer` property must be the URL of an issuer: it must begin with https://; you sent \"http://127.0.0.1:8080\"."},
		{strings.Replace(body(anyIssuer, `{"sub":"a"}`), "https://example.com", "https://github.com/octo-org", 1),
			"The `/body/audience` property must contain \"example.com\", the host name of this API: a token for another " +
				"service must not be accepted here; you sent \"https://github.com/octo-org\"."},
		{strings.Replace(body(peoplesIssuer, `{"project_id":"20","ref":"main"}`), "\"https://example.com", "\"https://example.com/console", 1),
			"The `/body/audience` property must not be the audience of people who sign in."},
		{`{`, "The `/body` must be valid JSON; there is a syntax error at byte 1."},
		{`{"description":"deploy"}`, "The `/body/audience` property is required; you did not send it. The `/body/claims` " +
			"property is required; you did not send it. The `/body/issuer` property is required; you did not send it."},
		{body(anyIssuer, `{}`), "The `/body/claims` property must have 1 to 10 properties; you sent 0."},
		{body(anyIssuer, `{"sub":1}`), "The `/body/claims/sub` property must be a string; you sent 1."},
		{body(anyIssuer, `{"sub":"a","ref":1}`), "The `/body/claims/ref` property must be a string; you sent 1."},
		{body(anyIssuer, tooMany+"}"), "The `/body/claims` property must have 1 to 10 properties; you sent 11."},
		{body(anyIssuer, `{"sub":"a","`+strings.Repeat("n", 65)+`":"b"}`), "The `/body/claims` property must have names of 1 to 64 " +
			"characters; you sent \"" + strings.Repeat("n", 65) + "\"."},
	} {
		f.Expect(t.Context(), t, "create", "2", test.body, "400 ValidationError: "+test.problem)
	}
	for _, accepted := range []string{
		body(gitHub, `{"repository_id":"1296269","environment":"production"}`),
		body(gitHub, `{"repository_id":"1296269","job_workflow_ref":"octo-org/shop/.github/workflows/t.yml@refs/heads/main"}`),
		strings.Replace(body(gitHub, `{"repository_id":"1296269"}`), `{"desc`, `{"anyRef":true,"desc`, 1),
		body("https://gitlab.example.com", `{"project_id":"20","ref_protected":"true"}`),
		body("https://app.terraform.io", `{"terraform_workspace_id":"ws-1","terraform_run_phase":"plan"}`),
		body("https://ci.example.com", `{"sub":"system:serviceaccount:ci:deployer"}`),
		body(peoplesIssuer, `{"project_id":"20","ref":"main"}`),
	} {
		f.ExpectStatus(t.Context(), t, "create", "2", accepted, 201)
	}
}

// Creations at the same time do not exceed the limit, and are not both accepted with the same claims.
func TestConcurrentCreations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var creations sync.WaitGroup
	var mu sync.Mutex
	created, kinds := 0, map[apierror.Kind]int{}
	for i := range 24 {
		creations.Go(func() {
			_, err := f.trusts.Create(t.Context(), trust.Trust{AccountID: 2, Description: "d", Issuer: gitHub, Audience: "a",
				Claims: map[string]string{"sub": fmt.Sprint(i / 2)}, CreatedAt: now()})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			} else {
				kinds[apierror.KindOf(err)]++
			}
		})
	}
	creations.Wait()
	all, err := f.trusts.ListOf(t.Context(), 2)
	assert.OK(t, err)
	assert.Equal(t, []int{trust.MaxPerAccount, trust.MaxPerAccount}, []int{len(all), created})
	assert.Equal(t, 24-trust.MaxPerAccount, kinds[apierror.NameExists]+kinds[apierror.NoAccess])
	f.Expect(t.Context(), t, "create", "2", body(anyIssuer, `{"sub":"another"}`), "403 NoAccessError: The service account has "+
		"reached the maximum number of trusts (10). Delete one first.")
}

// A trust without its account, as after a restore of single tables, is found and deleted. It accepts nothing before.
func TestCheck(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "2", body(anyIssuer, `{"sub":"a"}`), 201)
	check := func() (texts []string) {
		t.Helper()
		_, found, err := f.trusts.Check(t.Context())
		assert.OK(t, err)
		for _, i := range found {
			texts = append(texts, i.Text)
			assert.OK(t, i.Repair(t.Context()))
		}
		return texts
	}
	assert.Equal(t, []string(nil), check())
	assert.OK(t, dynamo.DeleteMatching(f.Client, f.Tables[user.Table], user.Key(2), "name", dynamo.S("account 2"))(t.Context()))
	assert.Equal(t, []string{"the trust 1 belongs to the service account 2, which does not exist"}, check())
	assert.Equal(t, []string(nil), check())
}

// A trust without one of the parts that decide accepts no token: it is an error.
func TestIncompleteItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	created, err := f.trusts.Create(t.Context(), trust.Trust{AccountID: 2, Issuer: anyIssuer, Audience: "a",
		Claims: map[string]string{"sub": "job"}, CreatedAt: now()})
	assert.OK(t, err)
	all := f.Scan(t, f.Tables[accesstable.Table]) // with the counter of the ids
	item := all[slices.IndexFunc(all, func(i dynamo.Item) bool { return i.String("issuer") != "" })]
	for name, value := range map[string]types.AttributeValue{
		"": nil, "account": nil, "issuer": nil, "audience": dynamo.S(""), "claims": dynamo.M(dynamo.Item{}),
		"claims of a number": dynamo.M(dynamo.Item{"sub": dynamo.N(7)}),
	} {
		changed := maps.Clone(item)
		changed[strings.Fields(name + " -")[0]] = value
		got, err := trust.FromItem(changed)
		if name == "" {
			assert.OK(t, err)
			assert.Equal(t, created, got)
		} else if err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
