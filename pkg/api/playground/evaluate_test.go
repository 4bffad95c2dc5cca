package playground_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// newTables returns tables with the environments of a new installation.
func newTables(t *testing.T) *database.Database {
	t.Helper()
	db := database.New(t)
	environments := environment.NewStore(db.Client, db.Tables, db.Log())
	for _, e := range environment.Defaults() {
		_, err := environments.Create(t.Context(), e)
		assert.OK(t, err)
	}
	return db
}

// put stores a toggle whose switch is on in an environment, with one strategy.
func put(t *testing.T, db *database.Database, f toggle.Feature, in string, constraints ...toggle.Constraint) {
	t.Helper()
	strategy := toggle.Strategy{ID: "1", Name: "default", Constraints: constraints}
	f.SetEnvironment(in, toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}})
	db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f.Normalized()))
}

func handler(db *database.Database) operation.Set {
	store := playground.NewStore(db.Client, db.Tables)
	return operation.Set{Parameters: []string{"none"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"evaluate": playground.Evaluate(store, now, seed()),
	}}
}

// evaluate returns "toggle in environment" for each result that is on, and "toggle off in environment" for the others.
func evaluate(t *testing.T, db *database.Database, body string) []string {
	t.Helper()
	return evaluateWith(t, handler(db), body)
}

func evaluateWith(t *testing.T, set operation.Set, body string) []string {
	t.Helper()
	response := set.Call(t.Context(), "evaluate", "", body)
	text, ok := strings.CutPrefix(response, "200 ")
	if !ok {
		t.Fatal(response)
	}
	var got struct {
		Features []struct {
			Name         string
			Environments map[string][]struct{ IsEnabled bool }
		}
	}
	assert.OK(t, json.Unmarshal([]byte(text), &got))
	results := []string{}
	for _, f := range got.Features {
		for name, in := range f.Environments {
			word := " off in "
			if in[0].IsEnabled {
				word = " in "
			}
			results = append(results, f.Name+word+name)
		}
	}
	slices.Sort(results)
	return results
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	put(t, db, toggle.Feature{Name: "a", Project: "shop"}, "production")
	response := handler(db).Call(t.Context(), "evaluate", "",
		`{"environments":["production"],"projects":"*","context":{"userId":"7","sessionId":null,"properties":{"n":"1,2"}}}`)
	assert.Equal(t, `200 {"input":{"context":{"properties":{"n":"1,2"},"sessionId":null,"userId":"7"},`+
		`"environments":["production"],"projects":"*"},"features":[{"name":"a","projectId":"shop","environments":{`+
		`"production":[{"name":"a","environment":"production","projectId":"shop","context":{"n":"1,2","userId":"7"},`+
		`"isEnabled":true,"isEnabledInCurrentEnvironment":true,"hasUnsatisfiedDependency":false,`+
		`"variant":{"name":"disabled","enabled":false,"feature_enabled":true},"variants":[],"strategies":{"result":true,`+
		`"data":[{"id":"1","name":"default","title":null,"disabled":false,"parameters":{},`+
		`"result":{"enabled":true,"evaluationStatus":"complete"},"constraints":[],"segments":[]}]}}]}}]}`, response)
}

func TestSelection(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	put(t, db, toggle.Feature{Name: "b", Project: "shop"}, "production")
	put(t, db, toggle.Feature{Name: "a", Project: "default"}, "development")
	put(t, db, toggle.Feature{Name: "gone", Project: "default", Archived: true}, "production")
	for _, row := range []struct{ selection, want string }{
		{`"environments":["production"]`, "a off in production, b in production"},
		{`"environments":["production","production"],"projects":"*"`, "a off in production, b in production"},
		{`"environments":["development","production"],"projects":["default","other"]`,
			"a in development, a off in production"},
		{`"environments":["production"],"projects":["other"]`, ""},
		{`"environments":["production"],"projects":[]`, ""},
	} {
		t.Run(row.selection, func(t *testing.T) {
			t.Parallel()
			got := evaluate(t, db, "{"+row.selection+`,"context":{}}`)
			assert.Equal(t, row.want, strings.Join(got, ", "))
		})
	}
}

// A toggle is evaluated in the environments that its project has. One without any of them is left out.
func TestEnvironmentsOfProjects(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	put(t, db, toggle.Feature{Name: "a", Project: "shop"}, "production")
	put(t, db, toggle.Feature{Name: "b", Project: "default"}, "production")
	shop := access.NewProject("shop", "Shop")
	shop.Environments = []string{"development"}
	db.PutProjects(t, shop)
	for _, row := range []struct{ environments, want string }{
		{`["production"]`, "b in production"},
		{`["development","production"]`, "a off in development, b in production, b off in development"},
	} {
		set := handler(db)
		set.Projects = db.ProjectReader()
		got := evaluateWith(t, set, `{"environments":`+row.environments+`,"context":{}}`)
		assert.Equal(t, row.want, strings.Join(got, ", "))
	}
}

// A toggle is on if its constraint holds for the context of the request.
func TestContext(t *testing.T) {
	t.Parallel()
	const year = "2027-01-01T00:00:00Z"
	for _, row := range []struct {
		context    string
		constraint toggle.Constraint
		want       bool
	}{
		{`{"country":"NO"}`, in("country", "NO"), true},
		{`{"properties":{"country":"NO"}}`, in("country", "NO"), true},
		{`{"country":"NO","properties":{"country":"SE"}}`, in("country", "NO"), true},
		{`{"country":null,"properties":{"country":"SE"}}`, in("country", "SE"), true},
		{`{"properties":{"country":null}}`, in("country", "NO"), false},
		{`{"properties":null}`, in("country", "NO"), false},
		{`{"country":"NO,SE"}`, in("country", "NO"), false},
		{`{"country":"NO,SE"}`, in("country", "NO,SE"), true},
		{`{"country":""}`, toggle.Constraint{ContextName: "country", Operator: "REGEX", Value: "^$"}, false},
		{`{"environment":"test"}`, in("environment", "test"), true},
		{`{}`, in("environment", "production"), false},
		{`{}`, toggle.Constraint{ContextName: "currentTime", Operator: "DATE_BEFORE", Value: year}, true},
		{`{"currentTime":"2027-01-02T00:00:00Z"}`,
			toggle.Constraint{ContextName: "currentTime", Operator: "DATE_BEFORE", Value: year}, false},
	} {
		t.Run(row.context, func(t *testing.T) {
			t.Parallel()
			db := newTables(t)
			put(t, db, toggle.Feature{Name: "a", Project: "p"}, "production", row.constraint)
			want := "a off in production"
			if row.want {
				want = "a in production"
			}
			got := evaluate(t, db, `{"environments":["production"],"context":`+row.context+`}`)
			assert.Equal(t, []string{want}, got)
		})
	}
}

// A strategy with a segment holds if the constraints of the segment do.
func TestSegment(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.Put(t, db.Tables[segmenttable.Table], segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: 1, Name: "Norway", Constraints: []toggle.Constraint{in("country", "NO")}},
	}))
	f := toggle.Feature{Name: "a", Project: "p"}
	strategy := toggle.Strategy{ID: "1", Name: "default", Segments: []int64{1}}
	f.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: []toggle.Strategy{strategy}})
	db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f))
	for country, want := range map[string]string{"NO": "a in production", "SE": "a off in production"} {
		got := evaluate(t, db, `{"environments":["production"],"context":{"country":"`+country+`"}}`)
		assert.Equal(t, []string{want}, got)
	}
}

func in(field, value string) toggle.Constraint {
	return toggle.Constraint{ContextName: field, Operator: "IN", Values: []string{value}}
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	h := handler(db)
	for _, row := range []struct{ body, want string }{
		{`{}`, "400 ValidationError: The `/body/context` property is required; you did not send it. " +
			"The `/body/environments` property is required; you did not send it."},
		{`{"environments":[],"context":{}}`,
			"400 ValidationError: The `/body/environments` property must have 1 or more elements; you sent []."},
		{`{"environments":["production"],"context":{},"projects":"shop"}`,
			"400 ValidationError: The `/body/projects` property must be \"*\" or a list of projects; you sent \"shop\"."},
		{`{"environments":["production"],"context":{},"project":["shop"]}`,
			"400 ValidationError: The `/body/project` property is unknown; the closest one is `projects`."},
		{`{"environments":["production"],"context":{"age":41}}`,
			"400 ValidationError: The `/body/context/age` property must be a string or null; you sent 41."},
		{`{"environments":["production"],"context":{"currentTime":"now"}}`,
			"400 ValidationError: The `/body/context/currentTime` property must be an RFC 3339 date-time with an offset or Z; " +
				`you sent "now".`},
		{`{"environments":["production"],"context":{"properties":{"userId":"7"}}}`,
			"400 ValidationError: The `/body/context/properties/userId` property must be sent as `/body/context/userId`."},
		{`{"environments":["production","Production"],"context":{}}`,
			`404 NotFoundError: There is no environment with the name "Production".`},
	} {
		h.Expect(t.Context(), t, "evaluate", "", row.body, row.want)
	}
}

// A response that Lambda could not return is rejected.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	for i := range 60 {
		put(t, db, toggle.Feature{Name: fmt.Sprintf("t%d", i), Project: "p"}, "production")
	}
	handler(db).Expect(t.Context(), t, "evaluate", "",
		`{"environments":["production"],"context":{"a":"`+strings.Repeat("x", 90_000)+`"}}`,
		"400 ValidationError: The response would be larger than 5000000 bytes. Select fewer environments or projects.")
}

// An evaluation that would not end before the invocation is rejected.
func TestTooSlow(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	put(t, db, toggle.Feature{Name: "a", Project: "p"}, "production")
	ctx, cancel := context.WithCancel(t.Context())
	clock := func() time.Time { // it is read when all that is evaluated was read
		cancel()
		return now()
	}
	set := operation.Set{Parameters: []string{"none"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"evaluate": playground.Evaluate(playground.NewStore(db.Client, db.Tables), clock, seed()),
	}}
	set.Expect(ctx, t, "evaluate", "", `{"environments":["production"],"context":{}}`, "400 ValidationError: "+
		"The evaluation takes too long. Select fewer environments or projects, or send shorter values.")
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	handler(db).ExpectStatus(ctx, t, "evaluate", "", `{"environments":["production"],"context":{}}`, 503)
	_, err := playground.NewStore(db.Client, db.Tables).Features(ctx, func(string) bool { return true })
	if err == nil || !strings.HasPrefix(err.Error(), "list toggles: ") {
		t.Error(err)
	}
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	environments := environment.NewStore(db.Client, db.Tables, db.Log())
	var names []string
	for i := range 48 {
		names = append(names, fmt.Sprintf("e%d", i))
		_, err := environments.Create(t.Context(), environment.Environment{Name: names[i]})
		assert.OK(t, err)
	}
	for i := range 209 {
		put(t, db, toggle.Feature{Name: fmt.Sprintf("t%d", i), Project: "p"}, "production")
	}
	list, err := json.Marshal(names)
	assert.OK(t, err)
	handler(db).Expect(t.Context(), t, "evaluate", "", `{"environments":`+string(list)+`,"context":{}}`,
		"400 ValidationError: The number of toggles times the number of environments is 10032, and the limit is 10000. "+
			"Select fewer environments or projects.")
}

// A toggle is evaluated with its parent, in the same environment and for the same context.
func TestParents(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	on := func(parent string, enabled bool) *toggle.Dependency {
		return &toggle.Dependency{Feature: parent, Enabled: enabled}
	}
	put(t, db, toggle.Feature{Name: "parent", Project: "p"}, "production", in("country", "NO"))
	put(t, db, toggle.Feature{Name: "if-on", Project: "p", Dependency: on("parent", true)}, "production")
	put(t, db, toggle.Feature{Name: "if-off", Project: "p", Dependency: on("parent", false)}, "production")
	for country, want := range map[string]string{
		"NO": "if-off off in production, if-on in production, parent in production",
		"SE": "if-off in production, if-on off in production, parent off in production",
	} {
		got := evaluate(t, db, `{"environments":["production"],"projects":["p"],"context":{"country":"`+country+`"}}`)
		assert.Equal(t, want, strings.Join(got, ", "))
	}
}

// Others than the members of a private project get neither its toggles nor the constraints of its segments.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.PutPrivateProject(t)
	put(t, db, toggle.Feature{Name: "hidden", Project: "secret"}, "production")
	db.Put(t, db.Tables[segmenttable.Table], segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: 1, Name: "Norway", Constraints: []toggle.Constraint{in("country", "NO")}},
		Project: new("secret"),
	}))
	call := func(name, body string) string {
		h := handler(db)
		h.Projects = db.ProjectReader()
		h.Handlers["strategy"] = playground.EvaluateStrategy(playground.NewStore(db.Client, db.Tables), now, seed())
		return h.Call(operation.Viewer(t.Context()), name, "", body)
	}
	for _, projects := range []string{`"*"`, `["secret"]`} {
		response := call("evaluate", `{"environments":["production"],"context":{},"projects":`+projects+`}`)
		if !strings.HasPrefix(response, "200") || !strings.HasSuffix(response, `"features":[]}`) {
			t.Error(response)
		}
	}
	strategy := func(segment int) string {
		text := call("strategy", fmt.Sprintf(`{"name":"default","segments":[%d],"context":{"country":"NO"}}`, segment))
		return strings.ReplaceAll(text, fmt.Sprintf(`"id":%d`, segment), `"id":0`)
	}
	assert.Equal(t, strategy(2), strategy(1)) // there is no segment 2
}
