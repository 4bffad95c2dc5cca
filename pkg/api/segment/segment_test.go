package segment_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_987_654, time.UTC) }

// fixture has the context fields plan, with the legal values basic and pro, and country, and the project shop.
type fixture struct {
	*database.Database
	operation.Set
	store  *segment.Store
	fields *contextfield.Store
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	db := database.New(t)
	f := fixture{
		Database: db,
		store:    segment.NewStore(db.Client, db.Tables, db.Log()),
		fields:   contextfield.NewStore(db.Client, db.Tables, db.Log()),
	}
	f.PutProjects(t, access.NewProject("shop", "Shop"))
	names := user.NewNames(db.Client, db.Tables)
	f.Set = operation.Set{Parameters: []string{"id"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list":       segment.List(f.store, names),
		"get":        segment.Get(f.store, names),
		"create":     segment.Create(f.store, now),
		"update":     segment.Update(f.store),
		"delete":     segment.Delete(f.store),
		"strategies": segment.ListStrategies(f.store, segment.NewStrategies(db.Client, db.Tables)),
	}}
	for _, field := range []contextfield.ContextField{
		{Name: "plan", LegalValues: []contextfield.LegalValue{{Value: "basic"}, {Value: "pro"}}}, {Name: "country"},
	} {
		_, err := f.fields.Create(t.Context(), field)
		assert.OK(t, err)
	}
	return f
}

// uses returns the numbers of segments that use the fields plan and country.
func (f fixture) uses(t *testing.T) []int64 {
	t.Helper()
	all, err := contextfield.ReferencesStore(f.Client, f.Tables).Read(t.Context(), []string{"plan", "country"})
	assert.OK(t, err)
	return []int64{all["plan"].Segments, all["country"].Segments}
}

// constraints are constraints on fields, as JSON.
func constraints(fields ...string) string {
	var all []string
	for _, name := range fields {
		all = append(all, fmt.Sprintf(`{"contextName":%q,"operator":"IN","values":["basic"]}`, name))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// shown returns how responses show a segment of nobody that is not used.
func shown(id int, name, rest string) string {
	return fmt.Sprintf(`{"id":%d,"name":%q,%s,"createdBy":null,"createdAt":"2026-11-20T05:39:00.123Z",`+
		`"usedInFeatures":0,"usedInProjects":0}`, id, name, rest)
}

const (
	plain   = `"description":null,"constraints":[],"project":null`
	details = `"description":"d","constraints":[{"contextName":"plan","operator":"IN","values":["basic"],` +
		`"inverted":false,"caseInsensitive":false}],"project":"shop"`
)

func TestOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	missing := func(id string) string {
		return fmt.Sprintf("404 NotFoundError: There is no segment with the id %q.", id)
	}
	for _, call := range []struct{ operation, id, body, want string }{
		{"list", "", "", `200 {"segments":[]}`},
		{"create", "", `{"name":" a ","constraints":[]}`, "201 " + shown(1, "a", plain)},
		{"create", "", `{"name":"A","constraints":[]}`, `409 NameExistsError: A segment with the name "A" exists.`},
		{"create", "", `{"name":"b","description":"d","project":"shop","constraints":` + constraints("plan") + `}`,
			"201 " + shown(2, "b", details)},
		{"get", "2", "", "200 " + shown(2, "b", details)},
		{"list", "", "", `200 {"segments":[` + shown(1, "a", plain) + "," + shown(2, "b", details) + "]}"},

		{"update", "1", `{"name":"B"}`, `409 NameExistsError: A segment with the name "B" exists.`},
		{"update", "1", `{"name":"c"}`, "204"},
		{"get", "1", "", "200 " + shown(1, "c", plain)},
		{"update", "2", `{"description":null,"project":null,"constraints":[]}`, "204"},
		{"get", "2", "", "200 " + shown(2, "b", plain)},

		{"delete", "2", "", "204"},
		{"get", "2", "", missing("2")},
		{"create", "", `{"name":"b","constraints":[]}`, "201 " + shown(3, "b", plain)},
		{"strategies", "3", "", `200 {"strategies":[]}`},

		{"get", "x", "", missing("x")},
		{"get", "01", "", missing("01")},
		{"get", "#version", "", missing("#version")},
		{"update", "9", `{}`, missing("9")},
		{"delete", "9", "", missing("9")},
		{"strategies", "9", "", missing("9")},
	} {
		f.Expect(t.Context(), t, call.operation, call.id, call.body, call.want)
	}
}

func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := `"` + strings.Repeat(`x","`, 1000) + `"`
	for body, want := range map[string]string{
		`{"name":"a"}`:                  "The `/body/constraints` property is required; you did not send it.",
		`{"name":" ","constraints":[]}`: "The `/body/name` property must have a visible character and no control characters.",
		`{"name":"\u200b","constraints":[]}`: "The `/body/name` property must have a visible character and no control " +
			"characters.",
		`{"name":"a\nb","constraints":[]}`: "The `/body/name` property must have a visible character and no control " +
			"characters.",
		`{"name":"a","constraints":` + constraints("none") + `}`: "The `/body/constraints/0/contextName` property must be the name " +
			"of a context field; you sent \"none\".",
		`{"name":"a","constraints":[{"contextName":"plan","operator":"IN","values":["free"]}]}`: "The `/body/constraints/0/values/0` " +
			"property must be a legal value of the context field \"plan\"; you sent \"free\".",
		`{"name":"a","constraints":[{"contextName":"plan","operator":"IN","value":"","valuez":["x"]}]}`: "The " +
			"`/body/constraints/0/valuez` property is unknown; the closest one is `value`. The `/body/constraints/0/values` property " +
			"must have 1 or more elements with the operator IN.",
		`{"name":"a","constraints":[],"projct":"x"}`: "The `/body/projct` property is unknown; the closest one is `project`.",
		`{"name":"a","constraints":[` + strings.TrimSuffix(strings.Repeat(`{"contextName":"userId","operator":"NUM_EQ","value":"1"},`,
			1001), ",") + `]}`: "The `/body/constraints` property has 1001 values, and the limit is 1000. " +
			"Divide it into several segments.",
	} {
		f.Expect(t.Context(), t, "create", "", body, "400 ValidationError: "+want)
	}
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","constraints":[{"contextName":"userId","operator":"IN","values":[`+values+`]}]}`, 400)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","project":"..","constraints":[]}`, 400)
}

// A segment with more values than the limit, which an import has stored, can be kept and shortened.
func TestImportedSegment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := make([]string, 1200)
	for i := range values {
		values[i] = fmt.Sprint(i)
	}
	_, err := f.store.ForImport().Create(t.Context(), segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{
		Name: "a", Constraints: []toggle.Constraint{{ContextName: "userId", Operator: "IN", Values: values}},
	}}})
	assert.OK(t, err)
	body := func(values []string) string {
		return `{"constraints":[{"contextName":"userId","operator":"IN","values":["` + strings.Join(values, `","`) + `"]}]}`
	}
	f.ExpectStatus(t.Context(), t, "update", "1", `{"name":"b"}`, 204)
	f.ExpectStatus(t.Context(), t, "update", "1", body(slices.Concat(values, []string{"x"})), 400)
	f.ExpectStatus(t.Context(), t, "update", "1", body(values[:1199]), 204)
	f.ExpectStatus(t.Context(), t, "update", "1", body(values), 400)
	f.ExpectStatus(t.Context(), t, "create", "", strings.Replace(body(values), "{", `{"name":"c",`, 1), 400)
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","constraints":[]}`, 201)
	_, header, _ := f.Serve(t.Context(), operation.Request{Operation: "get", Path: "1"})
	f.ExpectStatus(t.Context(), t, "update", "1", `{"name":"b"}`, 204)
	old := f.With("If-Match", header.Get("ETag"))
	old.ExpectStatus(t.Context(), t, "update", "1", `{"name":"c"}`, 412)
	old.ExpectStatus(t.Context(), t, "delete", "1", "", 412)
	_, header, _ = f.Serve(t.Context(), operation.Request{Operation: "get", Path: "1"})
	f.With("If-Match", header.Get("ETag")).ExpectStatus(t.Context(), t, "delete", "1", "", 204)
}

// A segment uses the context fields that its constraints name. They cannot be deleted.
func TestUseOfFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","constraints":`+constraints("plan", "plan", "userId")+`}`, 201)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"b","constraints":`+constraints("plan")+`}`, 201)
	assert.Equal(t, []int64{2, 0}, f.uses(t))
	f.ExpectStatus(t.Context(), t, "update", "2", `{"constraints":`+constraints("country")+`}`, 204)
	assert.Equal(t, []int64{1, 1}, f.uses(t))
	admin := access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleAdmin))
	err := f.fields.Delete(admin, "country")
	assert.Equal(t, apierror.Conflict, apierror.KindOf(err))
	if !strings.HasSuffix(err.Error(), "without archived ones, is 0, and the number of segments is 1: \"b\".") {
		t.Error(err)
	}
	f.ExpectStatus(t.Context(), t, "update", "2", `{"name":"c"}`, 204)
	assert.Equal(t, []int64{1, 1}, f.uses(t))
	f.ExpectStatus(t.Context(), t, "delete", "2", "", 204)
	assert.Equal(t, []int64{1, 0}, f.uses(t))
	assert.OK(t, f.fields.Delete(t.Context(), "country"))
}

// use stores a toggle with strategies in production that use segments, and the references to the segment 1.
func (f fixture) use(t *testing.T, name string, archived bool, used references.Counts) {
	t.Helper()
	f.Put(t, f.Tables[featuretable.Table], featuretable.Marshal(toggle.Feature{
		Name: name, Project: "shop", Archived: archived, CreatedAt: now(),
		Environments: map[string]toggle.Environment{"production": {Strategies: []toggle.Strategy{
			{ID: "s1", Name: "default", Segments: []int64{1}},
			{ID: "s2", Name: "flexibleRollout", Segments: []int64{1, 2}},
			{ID: "s3", Name: "default", Segments: []int64{2}},
		}}},
	}))
	f.Put(t, f.Tables[segmenttable.Table], segment.ReferencesStore(f.Client, f.Tables).Item("1", used))
}

// A segment that a strategy uses cannot be deleted, even if its toggle is archived.
func TestUsedSegment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","constraints":[]}`, 201)
	f.use(t, "t", false, references.Counts{ByProject: references.ByProject{"shop": 1}, Archived: 2})
	f.Expect(t.Context(), t, "get", "1", "", "200 "+strings.Replace(shown(1, "a", plain), `"usedInFeatures":0,"usedInProjects":0`,
		`"usedInFeatures":1,"usedInProjects":1`, 1))
	f.Expect(t.Context(), t, "delete", "1", "", `409 ConflictError: The segment "a" is in use. The number of toggles with a `+
		`strategy that uses it, with archived ones, is 1: "t".`)
	f.Expect(t.Context(), t, "strategies", "1", "", `200 {"strategies":[`+
		`{"id":"s1","projectId":"shop","featureName":"t","strategyName":"default","environment":"production"},`+
		`{"id":"s2","projectId":"shop","featureName":"t","strategyName":"flexibleRollout","environment":"production"}]}`)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","constraints":`+constraints("plan")+`}`, 201)
	f.use(t, "t", true, references.Counts{ByProject: references.ByProject{"shop": 1}})
	check := f.store.Check(segment.NewStrategies(f.Client, f.Tables).CountReferences)
	_, found, err := check(t.Context())
	assert.OK(t, err)
	var texts []string
	for _, i := range found {
		texts = append(texts, i.Text)
	}
	assert.Equal(t, []string{`the segment "1" counts shop: 1, and is used by archived toggles: 1`,
		`the segment "2", which is used, does not exist`}, texts)
	assert.OK(t, found[0].Repair(t.Context()))
	_, found, err = check(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 1, len(found)) // the toggle uses a segment that does not exist
	counted := map[string]references.Counts{}
	assert.OK(t, f.store.CountFields(t.Context(), counted))
	assert.Equal(t, map[string]references.Counts{"plan": {Segments: 1}}, counted)
}

func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range segment.Limit {
		s := segmenttable.Segment{Segment: toggle.Segment{ID: int64(i + 1), Name: fmt.Sprint("s", i)}, CreatedAt: now()}
		f.Put(t, f.Tables[segmenttable.Table], segmenttable.Marshal(s))
	}
	f.Expect(t.Context(), t, "create", "", `{"name":"one more","constraints":[]}`,
		"400 ValidationError: Failed to create segment. You can't create more than the established limit of 300. Delete a segment first.")
}

// A segment that toggles use does not become larger while an environment is full.
func TestFullEnvironment(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	environments := environment.NewStore(f.Client, f.Tables, f.Log())
	_, err := environments.Create(t.Context(), environment.Environment{Name: "prod", Type: "production"})
	assert.OK(t, err)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"used","constraints":[]}`, 201)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"unused","constraints":[]}`, 201)
	f.use(t, "t", false, references.Counts{ByProject: references.ByProject{"shop": 1}})
	large := `{"constraints":[{"contextName":"country","operator":"IN","values":["` + strings.Repeat("x", 99) + `","` +
		strings.Repeat("y", 99) + `"]}]}`
	assert.OK(t, environments.SetFull(t.Context(), "prod", true))
	got := f.Call(t.Context(), "update", "1", large)
	if !strings.HasPrefix(got, "403 NoAccessError: Applications can download at most") {
		t.Error(got)
	}
	f.ExpectStatus(t.Context(), t, "update", "1", `{"constraints":`+constraints("country")+`}`, 204)
	f.ExpectStatus(t.Context(), t, "update", "2", large, 204)
	assert.OK(t, environments.SetFull(t.Context(), "prod", false))
	f.ExpectStatus(t.Context(), t, "update", "1", large, 204)
}

func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := access.WithPrincipal(t.Context(), access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "9",
		Permissions: []access.Permission{access.Admin}})
	f.ExpectStatus(ada, t, "create", "", `{"name":"a","constraints":[]}`, 201)
	f.ExpectStatus(ada, t, "update", "1", `{"name":"b","project":"shop"}`, 204)
	f.ExpectStatus(ada, t, "update", "1", `{"name":"b"}`, 204)
	_, _, text := f.Serve(ada, operation.Request{Operation: "get", Path: "1"})
	if !strings.Contains(text, `"createdBy":"deleted user 1"`) {
		t.Error(text)
	}
	_, err := user.NewStore(f.Client, f.Tables, f.Log()).Add(t.Context(),
		user.User{Kind: user.Person, Name: "Countess", Role: access.RoleEditor}, 1)
	assert.OK(t, err)
	_, _, text = f.Serve(ada, operation.Request{Operation: "list"})
	if !strings.Contains(text, `"createdBy":"Countess"`) {
		t.Error(text)
	}
	f.ExpectStatus(ada, t, "delete", "1", "", 204)
	const (
		by     = " segment:1 by user 1, token 9: "
		first  = `{"id":1,"name":"a","description":null,"project":null,"constraints":[]}`
		second = `{"id":1,"name":"b","description":null,"project":"shop","constraints":[]}`
	)
	assert.Equal(t, []string{
		"segment-created" + by + first, "segment-updated" + by + second + " before " + first,
		"segment-deleted" + by + "before " + second,
	}, database.About(f.Events(t), "segment:1"))
}

// A field is deleted while a segment that names it is created: one of both fails, and no segment names a field that is
// gone.
func TestConcurrentDeletionOfAField(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	deleted := make(chan error)
	go func() { deleted <- f.fields.Delete(context.WithoutCancel(t.Context()), "country") }()
	status, _, _ := f.Serve(t.Context(), operation.Request{Operation: "create",
		Body: `{"name":"a","constraints":` + constraints("country") + `}`})
	err := <-deleted
	if (status == 201) == (err == nil) {
		t.Errorf("created: %d, deleted: %v", status, err)
	}
}

// TestAccess checks who can write a segment of a project, and one without.
func TestAccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Set.Projects = f.ProjectReader()
	shop, hidden := access.NewProject("shop", "Shop"), access.NewProject("hidden", "Hidden")
	shop.Mode, hidden.Mode = access.Protected, access.Private
	shop.Users, hidden.Users = map[int64][]access.Role{5: {access.RoleOwner}}, map[int64][]access.Role{6: {access.RoleOwner}}
	f.PutProjects(t, shop, hidden)
	as := access.UserPrincipal
	owner, editor := as(5, access.RoleViewer), as(7, access.RoleEditor)
	admin := access.WithPrincipal(t.Context(), as(1, access.RoleAdmin))
	f.ExpectStatus(admin, t, "create", "", `{"name":"a","constraints":[],"project":"shop"}`, 201)
	f.ExpectStatus(admin, t, "create", "", `{"name":"b","constraints":[],"project":"hidden"}`, 201)
	f.ExpectStatus(admin, t, "create", "", `{"name":"c","constraints":[]}`, 201)
	for _, test := range []struct {
		caller              access.Principal
		operation, id, body string
		want                string
	}{
		{owner, "create", "", `{"name":"d","constraints":[],"project":"shop"}`, "201"},
		{owner, "create", "", `{"name":1}`, "403"},
		{editor, "create", "", `{"name":1}`, "400"},
		{as(8, access.RoleViewer), "create", "", `{"name":"e","constraints":[],"project":"shop"}`, "403 NoAccessError: You need " +
			`the "CREATE_SEGMENT" permission, or the "UPDATE_PROJECT_SEGMENT" permission in the project "shop", to perform`},
		{owner, "create", "", `{"name":"e","constraints":[]}`, `403 NoAccessError: You need the "CREATE_SEGMENT" permission`},
		{editor, "create", "", `{"name":"e","constraints":[],"project":"none"}`,
			"400 ValidationError: The `/body/project` property must be the id of a project; you sent \"none\"."},
		{editor, "create", "", `{"name":"e","constraints":[],"project":"hidden"}`, "400"},
		{owner, "update", "1", `{"description":"d"}`, "204"},
		{owner, "update", "1", `{"project":null}`, "403"},
		{owner, "update", "3", `{"project":"shop"}`, "403"},
		{editor, "update", "1", `{"description":"e"}`, "204"},
		{editor, "update", "3", `{"project":"shop"}`, "204"},
		{editor, "update", "3", `{"project":"hidden"}`, "400"},
		{owner, "update", "2", `{"name":1}`, "404"},
		{editor, "update", "2", `{}`, `404 NotFoundError: There is no segment with the id "2".`},
		{owner, "delete", "2", "", "404"},
		{as(8, access.RoleViewer), "delete", "1", "", `403 NoAccessError: You need the "DELETE_SEGMENT" permission`},
		{owner, "delete", "1", "", "204"},
		{as(1, access.RoleAdmin), "delete", "2", "", "204"},
	} {
		caller := access.WithPrincipal(t.Context(), test.caller)
		if got := f.Call(caller, test.operation, test.id, test.body); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s %s %s: got %s, want %s", test.operation, test.id, test.body, got, test.want)
		}
	}
}

// A segment of a private project is hidden from others, as are the toggles of such a project that use a segment.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.PutPrivateProject(t)
	f.Expect(t.Context(), t, "create", "", `{"name":"a","constraints":[]}`, "201 "+shown(1, "a", plain))
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"b","constraints":[],"project":"secret"}`, 201)
	hidden := toggle.Feature{Name: "hidden", Project: "secret"}
	hidden.SetEnvironment("production", toggle.Environment{Strategies: []toggle.Strategy{{ID: "1", Name: "default",
		Segments: []int64{1}}}})
	f.Put(t, f.Tables[featuretable.Table], featuretable.Marshal(hidden.Normalized()))
	f.Put(t, f.Tables[segmenttable.Table], segment.ReferencesStore(f.Client, f.Tables).Item(segmenttable.Name(1),
		references.Counts{ByProject: references.ByProject{"secret": 1}}))
	f.Projects = f.ProjectReader()
	viewer := operation.Viewer(t.Context())
	f.Expect(viewer, t, "list", "", "", `200 {"segments":[`+shown(1, "a", plain)+"]}")
	f.Expect(viewer, t, "get", "1", "", "200 "+shown(1, "a", plain))
	f.Expect(viewer, t, "strategies", "1", "", `200 {"strategies":[]}`)
	editor := access.WithPrincipal(t.Context(), access.UserPrincipal(9, access.RoleEditor))
	f.Expect(editor, t, "delete", "1", "", `409 ConflictError: The segment "a" is in use.`)
	for _, name := range []string{"get", "strategies"} {
		f.Expect(viewer, t, name, "2", "", strings.ReplaceAll(f.Call(viewer, name, "3", ""), "3", "2")) // there is no segment 3
	}
}

// A segment is created in, or moved to, a project that exists and is not archived, also if the project is archived or
// deleted between the check and the write.
func TestClosedProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.PutProjects(t, access.NewProject("old", "Old"), access.NewProject("gone", "Gone"))
	closing := func() {
		archived := access.NewProject("old", "Old")
		archived.ArchivedAt = new(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
		f.PutProjects(t, archived)
		_, err := f.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: new(f.Tables[accesstable.Table]), Key: accesstable.ProjectKey("gone"),
		})
		assert.OK(t, err)
	}
	client := f.Before(t, "TransactWriteItems", 1, closing)
	store := segment.NewStore(client, f.Tables, f.LogThrough(client))
	_, err := store.Create(t.Context(), segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: "a"},
		Project: new("gone")}})
	assert.Equal(t, "The `/body/project` property must be the id of a project; you sent \"gone\".", apierror.From(err).Message)
	f.ExpectStatus(t.Context(), t, "create", "", `{"name":"a","constraints":[]}`, 201)
	const archived = `409 ConflictError: The project "old" is archived. Revive it first.`
	f.Expect(t.Context(), t, "update", "1", `{"project":"old"}`, archived)
	f.Expect(t.Context(), t, "create", "", `{"name":"b","constraints":[],"project":"old"}`, archived)
}
