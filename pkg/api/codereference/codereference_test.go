package codereference_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// day returns the time of a report on a day of December 2026, after the toggles of the fixture were created.
func day(n int) time.Time { return time.Date(2026, 12, n, 8, 0, 0, 0, time.UTC) }

func handlers(db toggles.Fixture, client *dynamodb.Client, c *clock) operation.Set {
	store := codereference.NewStore(client, db.Tables, c.now)
	return operation.Set{
		Parameters: []string{"projectId", "featureName"},
		Handlers: map[string]lambdahttp.HandlerFunc{
			"report": codereference.Put(store), "get": codereference.GetOfFeature(db.Store.Reader, store),
			"list": codereference.List(store, codereference.NewToggles(client, db.Tables)),
		},
	}
}

const shop = "https://github.com/octo-org/shop"

// report returns the body of a report of places such as "src/a.go:3 checkout".
func report(repository, revision string, places ...string) string {
	references := make([]map[string]any, len(places))
	for i, text := range places {
		var path, name string
		line := 0
		_, err := fmt.Sscanf(strings.Replace(text, ":", " ", 1), "%s %d %s", &path, &line, &name)
		if err != nil {
			panic(err)
		}
		references[i] = map[string]any{"path": path, "line": line, "toggle": name}
	}
	body, _ := json.Marshal(map[string]any{"repository": repository, "revision": revision, "references": references})
	return string(body)
}

// A report replaces the previous one of the repository, and a toggle is absent since the first report without it.
func TestReports(t *testing.T) {
	t.Parallel()
	db, c := toggles.NewFixture(t), &clock{day(1)}
	db.Create(t, `{"name":"a"}`, `{"name":"b"}`, `{"name":"gone","archived":true}`, `{"name":"f","project":"p"}`)
	h := handlers(db, db.Client, c)
	toggles.Expect(t.Context(), t, h, []toggles.Call{
		{"get", "default/a", "", `200 {"places":0,"absentSince":null,"repositories":[]}`},
		{
			"report", "default", report(shop, "1f", "web/b.go:7 a", "web/a.go:12 a", "web/a.go:12 a", "web/a.go:3 b", "x:1 unknown"),
			`200 {"project":"default","repository":"` + shop + `","revision":"1f","reportedAt":"2026-12-01T08:00:00.000Z",` +
				`"places":4,"features":3,"added":["a","b","unknown"],"removed":[]}`,
		},
		{
			"get", "default/a", "", `200 {"places":2,"absentSince":null,"repositories":[{"repository":"` + shop +
				`","revision":"1f","reportedAt":"2026-12-01T08:00:00.000Z","absentSince":null,"places":[` +
				`{"path":"web/a.go","line":12,"url":"` + shop + `/blob/1f/web/a.go#L12"},` +
				`{"path":"web/b.go","line":7,"url":"` + shop + `/blob/1f/web/b.go#L7"}]}]}`,
		},
		{"get", "p/f", "", `200 {"places":0,"absentSince":null,"repositories":[]}`},
		{"get", "p/a", "", toggles.UnknownIn("p", "a")},
		{"get", "default/%FF", "", toggles.UnknownIn("default", "%FF")},
	})
	c.at = day(2)
	h.Expect(t.Context(), t, "report", "default", `{"repository":"apps","references":[{"path":"m","line":1,"toggle":"b"}]}`,
		`200 {"project":"default","repository":"apps","revision":null,"reportedAt":"2026-12-02T08:00:00.000Z",`+
			`"places":1,"features":1,"added":["b"],"removed":[]}`)
	c.at = day(3)
	h.Expect(t.Context(), t, "report", "default", report(shop, "2f"),
		`200 {"project":"default","repository":"`+shop+`","revision":"2f","reportedAt":"2026-12-03T08:00:00.000Z",`+
			`"places":0,"features":0,"added":[],"removed":["a","b","unknown"]}`)
	c.at = day(4)
	h.ExpectStatus(t.Context(), t, "report", "default", report(shop, "3f"), 200)
	const apps = `{"project":"default","repository":"apps","revision":null,"reportedAt":"2026-12-02T08:00:00.000Z","places":1,"features":1}`
	h.ExpectQuery(t.Context(), t, "list", "project=IS:default", `200 {"repositories":[`+apps+`,`+
		`{"project":"default","repository":"`+shop+`","revision":"3f","reportedAt":"2026-12-04T08:00:00.000Z","places":0,"features":0}],`+
		`"features":[{"name":"a","project":"default","places":0,"repositories":0,"absentSince":"2026-12-03T08:00:00.000Z"},`+
		`{"name":"b","project":"default","places":1,"repositories":1,"absentSince":null}]}`)
	h.ExpectQuery(t.Context(), t, "list", "project=IS:p", `200 {"repositories":[],"features":[]}`)
	h.ExpectQuery(t.Context(), t, "list", "project=p", "400 ValidationError: The `/query/project` parameter must begin "+
		"with IS: and have a value; you sent \"p\".")
	c.at = day(5)
	h.ExpectStatus(t.Context(), t, "report", "default", report("apps", "9"), 200)
	h.Expect(t.Context(), t, "get", "default/b", "", `200 {"places":0,"absentSince":"2026-12-05T08:00:00.000Z","repositories":[`+
		`{"repository":"apps","revision":"9","reportedAt":"2026-12-05T08:00:00.000Z","absentSince":"2026-12-05T08:00:00.000Z","places":[]},`+
		`{"repository":"`+shop+`","revision":"3f","reportedAt":"2026-12-04T08:00:00.000Z","absentSince":"2026-12-03T08:00:00.000Z","places":[]}]}`)
}

// A toggle that is created again is not absent because of the one that was deleted.
func TestCreatedAgain(t *testing.T) {
	t.Parallel()
	db, c := toggles.NewFixture(t), &clock{day(1)}
	h := handlers(db, db.Client, c)
	h.ExpectStatus(t.Context(), t, "report", "default", report(shop, "1", "a:1 a"), 200)
	c.at = day(2)
	h.ExpectStatus(t.Context(), t, "report", "default", report(shop, "2"), 200)
	db.Create(t, `{"name":"a","createdAt":"2026-12-03T00:00:00Z"}`)
	h.ExpectQuery(t.Context(), t, "list", "", `200 {"repositories":[{"project":"default","repository":"`+shop+
		`","revision":"2","reportedAt":"2026-12-02T08:00:00.000Z","places":0,"features":0}],"features":[`+
		`{"name":"a","project":"default","places":0,"repositories":0,"absentSince":null}]}`)
}

// A report of an older revision does not replace one of a newer revision, also if it comes between the read and the write
// of the other one.
func TestOlderRevision(t *testing.T) {
	t.Parallel()
	db, c := toggles.NewFixture(t), &clock{day(9)}
	db.Create(t, `{"name":"a"}`)
	of := func(revision string, at time.Time, toggle string) string {
		return fmt.Sprintf(`{"repository":"r","revision":%q,"revisionAt":%q,"references":[{"path":"p","line":1,"toggle":%q}]}`,
			revision, at.Format(time.RFC3339), toggle)
	}
	newer := func() {
		handlers(db, db.Client, c).ExpectStatus(t.Context(), t, "report", "default", of("2", day(8), "a"), 200)
	}
	h := handlers(db, db.Before(t, "TransactWriteItems", 1, newer), c)
	toggles.Expect(t.Context(), t, h, []toggles.Call{
		{"report", "default", of("1", day(7), "b"), "409 ConflictError: The stored code references of the repository are of a " +
			"newer revision, of 2026-12-08T08:00:00.000Z."},
		{"report", "default", of("2", day(8), "a"), `200 {"project":"default","repository":"r","revision":"2",` +
			`"reportedAt":"2026-12-09T08:00:00.000Z","places":1,"features":1,"added":[],"removed":[]}`},
	})
	h.ExpectStatus(t.Context(), t, "report", "default", of("3", day(20), "a"), 200) // a clock that is ahead: as if it were now
	c.at = day(10)
	h.ExpectStatus(t.Context(), t, "report", "default", of("4", day(10), "a"), 200)
}

// Concurrent reports of a repository are stored one after the other.
func TestConcurrentReports(t *testing.T) {
	t.Parallel()
	db, c := toggles.NewFixture(t), &clock{day(1)}
	db.Create(t, `{"name":"a"}`)
	other := func() {
		handlers(db, db.Client, c).ExpectStatus(t.Context(), t, "report", "default", report("r", "1", "x:1 a"), 200)
	}
	h := handlers(db, db.Before(t, "TransactWriteItems", 1, other), c)
	h.Expect(t.Context(), t, "report", "default", report("r", "2"), `200 {"project":"default","repository":"r","revision":"2",`+
		`"reportedAt":"2026-12-01T08:00:00.000Z","places":0,"features":0,"added":[],"removed":["a"]}`)
}

func TestInvalidReports(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	h := handlers(db, db.Client, &clock{day(1)})
	toggles.Expect(t.Context(), t, h, []toggles.Call{
		{"report", "default", `{"repository":"https://user:secret@github.com/octo-org/shop","references":[]}`,
			"400 ValidationError: The `/body/repository` property must not contain credentials."},
		{"report", "default", `{"repository":"a\nb","references":[{"path":"a\tb","line":0,"toggle":"a b"}]}`,
			"400 ValidationError: The `/body/references/0/line` property must be at least 1; you sent 0. " +
				"The `/body/references/0/toggle` property must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; " +
				"you sent \"a b\". The `/body/repository` property must have no control characters, and no white space at its start " +
				"and end; you sent \"a\\nb\". The `/body/references/0/path` property must have no control characters, and no white " +
				"space at its start and end; you sent \"a\\tb\"."},
		{"report", "none", report("r", "1"), `404 NotFoundError: There is no project with the id "none".`},
	})
	places := make([]string, codereference.MaxPlaces+1)
	for i := range places {
		places[i] = fmt.Sprintf("src/%d.go:1 a", i)
	}
	h.ExpectStatus(t.Context(), t, "report", "default", report("r", "1", places[1:]...), 200)
	h.Expect(t.Context(), t, "report", "default", report("r", "1", places...),
		"400 ValidationError: The `/body/references` property must have at most 10000 elements; you sent "+
			`[{"line":1,"path":"src/0.go","toggle":"a"},{"line":1,"path":"src/1.go","toggle":"a"},{"line":1,"path….`)
	for i := range codereference.MaxRepositories - 1 {
		h.ExpectStatus(t.Context(), t, "report", "default", report(fmt.Sprint("r", i), "1"), 200)
	}
	h.Expect(t.Context(), t, "report", "default", report("s", "1"),
		"400 ValidationError: The maximum number of repositories (50) that report code references of a project is reached.")
	h.ExpectStatus(t.Context(), t, "report", "default", report("r", "1"), 200)
	h.ExpectStatus(t.Context(), t, "report", "p", report("r", "1"), 200)
}

// Nobody else sees what is reported for a private project.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.PutPrivateProject(t)
	db.Create(t, `{"name":"hidden","project":"secret"}`)
	h := handlers(db, db.Client, &clock{day(1)})
	h.Projects = db.ProjectReader()
	h.ExpectStatus(t.Context(), t, "report", "secret", report("r", "1", "a:1 hidden"), 200)
	viewer := operation.Viewer(t.Context())
	for _, query := range []string{"", "project=IS:secret"} {
		h.ExpectQuery(viewer, t, "list", query, `200 {"repositories":[],"features":[]}`)
	}
}

// The reports of a project are deleted with it, and those of another one whose id begins with its id are not. A report
// during the deletion fails.
func TestDeletedProject(t *testing.T) {
	t.Parallel()
	db, c := toggles.NewFixture(t), &clock{toggles.Now()}
	db.PutProjects(t, access.NewProject("p2", "P2"))
	h := handlers(db, db.Client, c)
	h.ExpectStatus(t.Context(), t, "report", "p", report("r", "1"), 200)
	h.ExpectStatus(t.Context(), t, "report", "p2", report("r", "1"), 200)
	c.at = time.Now()
	during := func() {
		h.Expect(t.Context(), t, "report", "p", report("r", "2"), `409 ConflictError: The project "p" is being archived or deleted.`)
	}
	client := db.Before(t, "TransactWriteItems", 1, during)
	deletion := project.NewStore(client, db.Tables, db.LogThrough(client))
	assert.OK(t, deletion.Delete(t.Context(), "p", project.Always))
	all, err := codereference.NewStore(db.Client, db.Tables, c.now).All(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 1, len(all))
	assert.Equal(t, "p2", all[0].Project)
}

// The check finds reports of a project that does not exist, and its repair deletes them.
func TestCheck(t *testing.T) {
	t.Parallel()
	db, c := toggles.NewFixture(t), &clock{day(1)}
	store := codereference.NewStore(db.Client, db.Tables, c.now)
	for _, id := range []string{"default", "p"} {
		_, _, _, err := store.Put(t.Context(), codereference.Report{Project: id, Repository: "r"})
		assert.OK(t, err)
	}
	check := func() []consistency.Inconsistency {
		_, found, err := store.Check(t.Context())
		assert.OK(t, err)
		return found
	}
	assert.Equal(t, 0, len(check()))
	assert.OK(t, project.NewStore(db.Client, db.Tables, db.Log()).Archive(t.Context(), "p", project.Always))
	_, _, _, err := store.Put(t.Context(), codereference.Report{Project: "p", Repository: "r"})
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	assert.Equal(t, 0, len(check()))
	db.Delete(t, db.Tables["Access"], accesstable.ProjectKey("p"))
	found := check()
	assert.Equal(t, `the project "p", for which "r" reports, does not exist`, found[0].Text)
	assert.OK(t, found[0].Repair(t.Context()))
	assert.Equal(t, 0, len(check()))
}

func TestLink(t *testing.T) {
	t.Parallel()
	place := codereference.Place{Path: "src/a b.go", Line: 3}
	for repository, want := range map[string]string{
		"https://github.com/octo-org/shop":           "https://github.com/octo-org/shop/blob/v1/src/a%20b.go#L3",
		"https://github.com/octo-org/shop.git":       "https://github.com/octo-org/shop/blob/v1/src/a%20b.go#L3",
		"https://gitlab.example.com/group/sub/shop/": "https://gitlab.example.com/group/sub/shop/-/blob/v1/src/a%20b.go#L3",
	} {
		assert.Equal(t, want, *codereference.Link(repository, "v1", place))
	}
	assert.Equal(t, shop+"/blob/HEAD/src/a%20b.go#L3", *codereference.Link(shop, "", place))
	for _, repository := range []string{
		"shop", "http://github.com/octo-org/shop", "https://example.com/shop", "git@github.com:octo-org/shop", "javascript:x",
	} {
		assert.Equal(t, (*string)(nil), codereference.Link(repository, "v1", place))
	}
}
