package doctor_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/issuer"
)

// newInstallation returns a local installation with seeded tables.
func newInstallation(t *testing.T) (*database.Database, *installation.Installation) {
	t.Helper()
	db := database.New(t)
	if _, err := seed.Seed(t.Context(), seed.Config{Client: db.Client, Tables: db.Tables, Log: db.Log(),
		Now: time.Now, Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	streams := []samtemplate.Table{
		{Name: db.Tables["FeatureTypes"], StreamViewType: "NEW_AND_OLD_IMAGES"},
		{Name: db.Tables["Events"], StreamViewType: "NEW_IMAGE"},
	}
	assert.OK(t, tables.EnableStreams(t.Context(), db.Client, streams))
	compileSnapshots(t, db, time.Now)
	return db, &installation.Installation{Name: "the installation", Option: "--local", Client: db.Client,
		Tables: db.Tables}
}

// compileSnapshots compiles the snapshots, as compile-snapshots and sweep-snapshots do.
func compileSnapshots(t *testing.T, db *database.Database, now func() time.Time) {
	t.Helper()
	c := compiler.New(db.Client, db.Tables, now, rand.Reader, slog.New(slog.DiscardHandler))
	environments, err := environment.NewStore(db.Client, db.Tables, nil).List(t.Context())
	assert.OK(t, err)
	for _, e := range environments {
		assert.OK(t, c.Compile(t.Context(), e.Name))
	}
}

// examine returns the problems that doctor finds: check → detail.
func examine(t *testing.T, i *installation.Installation, api http.HandlerFunc) map[string]string {
	t.Helper()
	server := httptest.NewServer(api)
	defer server.Close()
	i.BaseURL = server.URL
	problems := map[string]string{}
	n := doctor.Examine(t.Context(), doctor.Config{
		Installation: i, HTTP: server.Client(), Now: time.Now, Random: rand.Reader,
		Report: func(f doctor.Finding) {
			if f.Status == doctor.Problem {
				problems[f.Check] = strings.ReplaceAll(f.Detail, server.URL, "URL")
			}
			if (f.Status == doctor.Problem) != (f.Advice != "") {
				t.Errorf("the advice does not match the status: %+v", f)
			}
		},
	})
	if n != len(problems) {
		t.Errorf("%d problems, reported: %v", n, problems)
	}
	return problems
}

// The ids of the first group and custom role of a test, after those that are seeded.
const firstGroup, firstRole = 1, 7

func TestData(t *testing.T) {
	t.Parallel()
	const notOwned = `1 inconsistency: "email:editor@example.com" is reserved for the account 2, which does not have it`
	tests := map[string]struct {
		change func(*testing.T, *database.Database)
		want   map[string]string
		stays  bool // the repair leaves it
	}{
		"a feature type is lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Delete(t, db.Tables["FeatureTypes"], dynamo.Item{"id": dynamo.S("release")})
			},
			want:  map[string]string{"seeds": "missing: the feature type release"},
			stays: true,
		},
		"a context field has no references": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["ContextFields"], dynamo.Item{"name": dynamo.S("plan"), "sortOrder": dynamo.N(9)})
			},
			want: map[string]string{"context fields": `1 inconsistency: the context field "plan" has no counts`},
		},
		"the references to a context field is too low": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				putUsage(t, db, "userId", 1)
			},
			want: map[string]string{"context fields": `1 inconsistency: the context field "userId" counts default: 1, ` +
				"and is used by default: 2, shop: 1"},
		},
		"the references to a context field is zero": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				putUsage(t, db, "userId", 0)
			},
			want: map[string]string{"context fields": `1 inconsistency: the context field "userId" counts default: 0, ` +
				"and is used by default: 2, shop: 1"},
		},
		"a context field is lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				putUsage(t, db, "plan", 1)
			},
			want: map[string]string{"context fields": `1 inconsistency: the context field "plan", whose references are stored, ` +
				"does not exist"},
		},
		"an account is lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Delete(t, db.Tables["Users"], user.Key(2))
			},
			want: map[string]string{
				"tokens": "1 inconsistency: the token 2 belongs to the account 2, which does not exist",
				"accounts": strings.Replace(notOwned, "1 inconsistency", "2 inconsistencies", 1) +
					"; the number of people is 2, not 3",
			},
		},
		"an account has lost its tokens and its address": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Users"], dynamo.Item{
					"id":   dynamo.N(2),
					"kind": dynamo.S("user"),
					"pats": dynamo.M(dynamo.Item{}),
				})
			},
			want: map[string]string{
				"tokens":   "1 inconsistency: the account 2 does not list its token 2",
				"accounts": notOwned,
			},
		},
		"two accounts have the same address": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Users"], dynamo.Item{
					"id":    dynamo.N(3),
					"kind":  dynamo.S("user"),
					"email": dynamo.S("editor@example.com"),
					"pats":  db.Get(t, db.Tables["Users"], user.Key(3))["pats"],
				})
			},
			want: map[string]string{"accounts": `2 inconsistencies: ` +
				`"email:viewer@example.com" is reserved for the account 3, which does not have it; ` +
				`the accounts 2 and 3 have the same "email:editor@example.com"`},
			stays: true,
		},
		"an event is dated ahead of the clock": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				ahead := eventlog.New(db.Client, db.Tables, func() time.Time {
					return time.Date(2126, 11, 20, 5, 39, 0, 0, time.UTC)
				}, 0)
				fields := contextfield.NewStore(db.Client, db.Tables, ahead)
				_, err := fields.Create(t.Context(), contextfield.ContextField{Name: "plan"})
				assert.OK(t, err)
			},
			want: map[string]string{"times of events": "the event 3960661392000000 about field:plan, by system, " +
				"is dated 2126-11-20T05:39:00.000Z, after the clock of this computer"},
			stays: true,
		},
		"the deletion of an account has not ended": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Users"], dynamo.Item{"id": dynamo.N(4), "deleting": dynamo.S("user")})
			},
			want: map[string]string{
				"deletions": "the deletion of these accounts has not ended: user 4",
				"accounts": `3 inconsistencies: "username:CI" is reserved for the account 4, which does not have it; ` +
					"the number of people is 4, not 3; the number of service accounts is 0, not 1",
			},
			stays: true,
		},
		"the deletion of an environment has not ended": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Environments"], dynamo.Item{"name": dynamo.S("test"), "deleted": dynamo.Bool(true)})
			},
			want:  map[string]string{"deletions of environments": "the deletion of these environments has not ended: test"},
			stays: true,
		},
		"an environment in which a toggle has strategies is lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				f := toggle.Feature{Name: "off", Project: "default", Type: "release"}
				f.SetEnvironment("production", toggle.Environment{Strategies: []toggle.Strategy{{ID: "1", Name: "default"}}})
				_, err := feature.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), f)
				assert.OK(t, err)
				compileSnapshots(t, db, time.Now)
				db.Delete(t, db.Tables["Environments"], dynamo.Item{"name": dynamo.S("production")})
				db.Delete(t, db.Tables["Environments"], environment.ReferencesStore(db.Client, db.Tables).Key("production"))
			},
			want: map[string]string{"states of toggles": `1 inconsistency: 1 toggles have strategies in the environment ` +
				`"production", which does not exist`,
				"environments": `1 inconsistency: the environment "production", which is used, does not exist`},
		},
		"the counter of segments is too low": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				createSegment(t, db)
				db.Put(t, db.Tables["Segments"], dynamo.Item{"id": dynamo.S(dynamo.VersionKey), "version": dynamo.S("v")})
			},
			want: map[string]string{"counter of segments": "1 inconsistency: the counter of segment ids is 0, below the " +
				"segment 1: ids would be reused"},
		},
		"another account has the address of one whose deletion has not ended": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Users"], dynamo.Item{
					"id":       dynamo.N(5),
					"deleting": dynamo.S("user"),
					"email":    dynamo.S("editor@example.com"),
				})
			},
			want: map[string]string{
				"deletions": "the deletion of these accounts has not ended: user 5",
				"accounts": "2 inconsistencies: the number of people is 4, not 3; the counter of account ids is 4, below the " +
					"account 5: ids would be reused",
			},
			stays: true,
		},
		"groups, roles and projects refer to what does not exist": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				table := db.Tables[accesstable.Table]
				_, err := role.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
					access.RoleDefinition{Name: "Planner", Type: access.RootCustomType})
				assert.OK(t, err)
				g, err := group.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
					accesstable.Group{Name: "Team", Members: []int64{2}})
				assert.OK(t, err)
				g.Members, g.Mappings = []int64{3, 99}, []string{"team"}
				db.Put(t, table, accesstable.MarshalGroup(g))
				db.Delete(t, table, accesstable.Key(accesstable.KindGroupName, "TEAM"))
				db.Put(t, table, dynamo.Item{"kind": dynamo.S("role-name"), "id": dynamo.S("GONE"), "of": dynamo.S("99")})
				db.Delete(t, table, accesstable.Key(accesstable.KindCounter, "group"))
				p := access.NewProject("private", "Private")
				p.Mode = access.Private
				p.Users, p.Groups = map[int64][]access.Role{2: {5, 99}, 99: {4}}, map[int64][]access.Role{98: {4}, g.ID: {4}}
				db.Put(t, table, accesstable.MarshalProject(p))
			},
			want: map[string]string{
				"groups": fmt.Sprintf("8 inconsistencies: the account 2 has the group %[1]d, whose member it is not; the group %[1]d "+
					"has the member 3, who does not have the group; the group %[1]d has the member 99, who does not have the group; "+
					`the account 99, which does not exist, has roles in the project "private"; the group 98, which does not exist, `+
					`has roles in the project "private"; what the authorizer knows of groups differs from the groups; the name `+
					`"TEAM" of the group %[1]d is not reserved for it; the counter of group ids is 0, below %[1]d: ids would be reused`,
					firstGroup),
				"roles":    `1 inconsistency: the name "GONE" is reserved for the role 99, which does not have it`,
				"projects": `1 inconsistency: the role 99, which does not exist, is given in the project "private"`,
			},
			stays: true, // without members, the group is no Owner
		},
		"a project needs an Owner, and what belongs to a project that does not exist": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				p := access.NewProject("private", "Private")
				p.Mode = access.Private
				db.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(p))
				f := toggle.Feature{Name: "lost", Project: "private", Type: "release"}
				_, err := feature.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), f)
				assert.OK(t, err)
				compileSnapshots(t, db, time.Now)
				other := access.NewProject("other", "Other")
				other.Mode = access.Protected
				db.Put(t, db.Tables[accesstable.Table], accesstable.MarshalProject(other))
				db.Delete(t, db.Tables[accesstable.Table], accesstable.ProjectKey("private"))
			},
			want: map[string]string{"projects": `2 inconsistencies: the project "other" is protected and has no Owner; ` +
				`the project "private" of toggles or segments (1) does not exist`},
			stays: true,
		},
		"protections are not valid": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Update(t.Context(), "production",
					func(e *environment.Environment) error {
						e.RequiredApprovals = 11
						return nil
					})
				assert.OK(t, err)
				p := access.NewProject("shop", "Shop")
				p.Protections = map[string]access.Protection{
					"gone": {ChangeRequests: true}, // which is not wrong
					"production": {Freeze: &access.Freeze{
						From: time.Unix(1, 0).UTC(), Until: time.Unix(0, 0).UTC(), Reason: "Sale",
					}},
				}
				db.PutProjects(t, p)
			},
			want: map[string]string{
				"environments": `1 inconsistency: the environment "production" has a protection that is not valid: the number of ` +
					`required approvals must be 1 to 10, or none; it is 11`,
				"projects": `1 inconsistency: the protection of the environment "production" in the project "shop" is not valid: ` +
					`the freeze must end after it begins`,
			},
			stays: true,
		},
		"the root role of an account and of a group is lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				roles := role.NewStore(db.Client, db.Tables, db.Log())
				r, err := roles.Create(t.Context(), access.RoleDefinition{Name: "Planner", Type: access.RootCustomType})
				assert.OK(t, err)
				_, err = group.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
					accesstable.Group{Name: "Team", RootRole: r.ID})
				assert.OK(t, err)
				assert.OK(t, user.NewStore(db.Client, db.Tables, db.Log()).SetRole(t.Context(), 3, r.ID, true))
				db.Delete(t, db.Tables[accesstable.Table], accesstable.RoleKey(r.ID))
				db.Delete(t, db.Tables[accesstable.Table], accesstable.Key(accesstable.KindRoleName, "PLANNER"))
			},
			want: map[string]string{
				"roles": fmt.Sprintf("3 inconsistencies: what the authorizer knows of root roles differs from the roles; "+
					"the root role %[1]d of the account 3 does not exist; the root role %[1]d of "+
					"the group %[2]d does not exist", firstRole, firstGroup),
			},
			stays: true,
		},
		"a token is lost": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Delete(t, db.Tables["PersonalAccessTokens"], pat.Key(2, 2))
			},
			want: map[string]string{"tokens": "1 inconsistency: the account 2 lists a token 2 that does not exist"},
		},
		"the numbers of accounts are wrong": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Users"], dynamo.Item{"id": dynamo.N(-1), "serviceAccounts": dynamo.N(7)})
			},
			want: map[string]string{"accounts": "2 inconsistencies: the number of people is 3, not 0; " +
				"the number of service accounts is 1, not 7"},
		},
		"a username is reserved for an account that does not exist": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				db.Put(t, db.Tables["Identifiers"], dynamo.Item{"id": dynamo.S("username:X"), "accountId": dynamo.N(7)})
			},
			want: map[string]string{"accounts": `2 inconsistencies: ` +
				`"username:X" is reserved for the account 7, which does not have it; ` +
				"the counter of account ids is 4, below the account 7: ids would be reused"},
		},
		"the counter of tokens is too low": {
			change: func(t *testing.T, db *database.Database) {
				t.Helper()
				counter := pat.Key(0, 0)
				counter["lastId"] = dynamo.N(2)
				db.Put(t, db.Tables["PersonalAccessTokens"], counter)
			},
			want: map[string]string{"tokens": "1 inconsistency: the counter of ids is 2, below the token 3: " +
				"ids would be reused"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, i := newInstallation(t)
			test.change(t, db)
			assert.Equal(t, test.want, examine(t, i, api(t, db)))
			if test.stays {
				return
			}
			repair(t, i)
			if problems := examine(t, i, api(t, db)); len(problems) > 0 {
				t.Errorf("after the repair: %v", problems)
			}
		})
	}
}

// createSegment creates a segment of the user 2.
func createSegment(t *testing.T, db *database.Database) {
	t.Helper()
	s := segment.Segment{Segment: segmenttable.Segment{
		Segment:   toggle.Segment{Name: "beta"},
		CreatedBy: &toggle.Creator{ID: 2, Name: "Editor"},
	}}
	_, err := segment.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), s)
	assert.OK(t, err)
}

// putUsage stores the number of toggles of the project "default" that use a context field.
func putUsage(t *testing.T, db *database.Database, field string, toggles int64) {
	t.Helper()
	counts := references.ByProject{"default": toggles}
	db.Put(t, db.Tables["ContextFields"],
		contextfield.ReferencesStore(db.Client, db.Tables).Item(field, references.Counts{ByProject: counts}))
}

// api accepts a request if the token of doctor is stored.
func api(t *testing.T, db *database.Database) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, _ *http.Request) {
		if !slices.ContainsFunc(db.Scan(t, db.Tables["ApiTokens"]),
			func(i dynamo.Item) bool { return i.String("name") == "toggleadmin doctor" }) {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
}

func repair(t *testing.T, i *installation.Installation) {
	t.Helper()
	if problems := repairAndReport(t, i); len(problems) > 0 {
		t.Errorf("after the repair: %v", problems)
	}
}

// repairAndReport repairs and returns the problems that are left: check → detail and advice.
func repairAndReport(t *testing.T, i *installation.Installation) map[string]string {
	t.Helper()
	problems := map[string]string{}
	doctor.Repair(t.Context(), doctor.Config{
		Installation: i, Now: time.Now, Random: rand.Reader, Report: func(f doctor.Finding) {
			t.Logf("%+v", f)
			if f.Status == doctor.Problem {
				problems[f.Check] = f.Detail + " → " + f.Advice
			}
		},
	})
	return problems
}

func TestAPI(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	for want, status := range map[string]int{
		"URL rejects a valid credential":                           http.StatusUnauthorized,
		"URL/api/admin/feature-types responds with the status 500": http.StatusInternalServerError,
		"a deleted credential gets the status 200, not 401":        http.StatusOK,
		"URL/api/admin/feature-types responds with the status 302": http.StatusFound,
	} {
		problems := examine(t, i, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		assert.Equal(t, map[string]string{"token round trip": want}, problems)
	}
	if n := len(db.Scan(t, db.Tables["ApiTokens"])); n != 1 {
		t.Errorf("%d API tokens, want the seeded one", n)
	}
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	_, i := newInstallation(t)
	provider := issuer.Start(false)
	t.Cleanup(provider.Close)
	i.Issuer, i.ClientID = provider.URL, issuer.ClientID
	check := func() string {
		problems := examine(t, i, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		return strings.ReplaceAll(problems["OpenID Connect issuer"], provider.URL, "URL")
	}
	assert.Equal(t, "", check())
	provider.Respond(issuer.MetadataPath, func(w http.ResponseWriter, _ *http.Request) {
		issuer.WriteJSON(w, map[string]any{"issuer": "https://other.example.com"})
	})
	assert.Equal(t, `the discovery document of URL cannot be used: the discovery document is that of the issuer `+
		`"https://other.example.com", not of "URL"`, check())
}

func TestRequireTables(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	for want, name := range map[string]string{
		"lacks key id:S, stream NEW_AND_OLD_IMAGES; it has key id:N": db.Tables["Users"],
		"there is no table none":                                     "none",
	} {
		i.Tables["FeatureTypes"] = name
		if err := doctor.RequireTables(t.Context(), i); exitstatus.Of(err) != exitstatus.Uninitialized ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("status %d: %v, want %q", exitstatus.Of(err), err, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n := doctor.Examine(ctx, doctor.Config{
		Installation: &installation.Installation{}, Report: func(f doctor.Finding) { t.Errorf("reported: %+v", f) },
	}); n != 0 {
		t.Errorf("%d problems", n)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"https://api.example.com/prod", "http://localhost:3000/x", "http://[::1]:3000"} {
		if err := doctor.CheckURL(url); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"http://api.example.com", "http://10.0.0.1", "api.example.com",
		"http://localhost.example.com"} {
		if err := doctor.CheckURL(url); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
}
