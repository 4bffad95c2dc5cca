package environment_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/environmentremoval"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// newStore returns a store with the environments of a new installation.
func newStore(t *testing.T) (*environment.Store, *database.Database) {
	t.Helper()
	db := database.New(t)
	db.PutProjects(t, access.NewProject("shop", "Shop"))
	store := environment.NewStore(db.Client, db.Tables, db.Log())
	for _, e := range environment.Defaults() {
		_, err := store.Create(t.Context(), e)
		assert.OK(t, err)
	}
	return store, db
}

// handlers returns the operations on environments.
func handlers(store *environment.Store, db *database.Database) operation.Set {
	return handlersWith(store, db, features(db))
}

func features(db *database.Database) *feature.Store {
	return feature.NewStore(db.Client, db.Tables, db.Log())
}

// handlersWith returns the operations, which write toggles with a store.
func handlersWith(store *environment.Store, db *database.Database, toggles *feature.Store) operation.Set {
	return operation.Set{Projects: db.ProjectReader(), Parameters: []string{"name"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list":   environment.List(store, time.Now),
		"get":    environment.Get(store),
		"create": environmentremoval.Create(store, toggles),
		"update": environment.Update(store),
		"delete": environmentremoval.Delete(store, toggles),
	}}
}

// use stores that toggles of projects are on in an environment.
func use(t *testing.T, db *database.Database, name string, counts references.ByProject) {
	t.Helper()
	item := environment.ReferencesStore(db.Client, db.Tables).Item(name, references.Counts{ByProject: counts})
	db.Put(t, db.Tables[environment.Table], item)
}

// shown returns how responses show an environment, without the closing brace.
func shown(name, kind string, sortOrder int) string {
	return fmt.Sprintf(`{"name":%q,"type":%q,"sortOrder":%d,"enabled":true,"protected":false,"requiredApprovals":null`,
		name, kind, sortOrder)
}

func unknown(name string) string {
	return fmt.Sprintf("404 NotFoundError: There is no environment with the name %q.", name)
}

func TestLists(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	_, err := feature.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(), toggle.Feature{Name: "a", Project: "shop"})
	assert.OK(t, err)
	use(t, db, "production", references.ByProject{"default": 2, "shop": 1})
	h := handlers(store, db)
	h.Expect(t.Context(), t, "list", "", "", `200 {"version":1,"environments":[`+
		shown("development", "development", 1)+`,"projectCount":2,"apiTokenCount":0,"enabledToggleCount":0},`+
		shown("production", "production", 2)+`,"projectCount":2,"apiTokenCount":0,"enabledToggleCount":3}]}`)

	h = operation.Set{Projects: db.ProjectReader(), Parameters: []string{"projectId"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"list": environment.ListOfProject(store),
	}}
	h.Expect(t.Context(), t, "list", "shop", "", `200 {"version":1,"environments":[`+
		shown("development", "development", 1)+`,"projectApiTokenCount":0,"projectEnabledToggleCount":0,"visible":true},`+
		shown("production", "production", 2)+`,"projectApiTokenCount":0,"projectEnabledToggleCount":1,"visible":true}]}`)
}

func TestOperations(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store, db)
	exists := func(name string) string {
		return fmt.Sprintf("409 NameExistsError: An environment with the name %q exists.", name)
	}
	for _, call := range []struct{ operation, name, body, want string }{
		{"get", "production", "", "200 " + shown("production", "production", 2) + "}"},
		{"get", "Production", "", unknown("Production")},
		{"get", "#version", "", unknown("#version")},
		{"get", "references#production", "", unknown("references#production")},

		{"create", "", `{"name":"Test","type":"test"}`, "201 " + shown("Test", "test", 3) + "}"},
		{"create", "", `{"name":"test","type":"test"}`, exists("Test")},
		{"create", "", `{"name":"first","type":"a b","sortOrder":-1,"enabled":true,"protected":false,"requiredApprovals":null}`,
			"201 " + shown("first", "a b", -1) + "}"},

		{"update", "Test", `{"sortOrder":10}`, "200 " + shown("Test", "test", 10) + "}"},
		{"update", "Test", `{"type":"qa","name":"Test","enabled":true,"protected":false,"requiredApprovals":null}`,
			"200 " + shown("Test", "qa", 10) + "}"},
		{"update", "Test", `{}`, "200 " + shown("Test", "qa", 10) + "}"},
		{"update", "none", `{}`, unknown("none")},

		{"delete", "none", "", unknown("none")},
		{"delete", "development", "", "200"},
		{"delete", "development", "", unknown("development")},
		{"get", "development", "", unknown("development")},
		{"update", "development", "{}", unknown("development")},
		{"create", "", `{"name":"Development","type":"test"}`, "201 " + shown("Development", "test", 11) + "}"},
	} {
		h.Expect(t.Context(), t, call.operation, call.name, call.body, call.want)
	}
}

func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store, db)
	const notKept = "The `/body/enabled` property must be true; you sent false. " +
		"The `/body/protected` property must be false; you sent true. " +
		"The `/body/requiredApprovals` property must be at most 10; you sent 11."
	h.Expect(t.Context(), t, "update", "production",
		`{"name":"prod","enabled":false,"protected":true,"requiredApprovals":11}`, "400 ValidationError: "+notKept+
			" The `/body/name` property must be \"production\", as in the path; you sent \"prod\".")
	for body, want := range map[string]string{
		`{}`: "The `/body/name` property is required; you did not send it. The `/body/type` property is required; " +
			"you did not send it.",
		`{"name":"a","type":""}`: "The `/body/type` property must have 1 or more characters; you sent \"\".",
		`{"name":"a","type":"b","enabled":false,"protected":true,"requiredApprovals":11}`: notKept,
		`{"name":"a","typo":"b"}`: "The `/body/type` property is required; you did not send it. " +
			"The `/body/typo` property is unknown; the closest one is `type`.",
		// The names of other paths of the API.
		`{"name":"project","type":"b"}`: "The `/body/name` property must not be \"project\", which is a path of the API.",
		`{"name":"update","type":"b"}`:  "The `/body/name` property must not be \"update\", which is a path of the API.",
	} {
		h.Expect(t.Context(), t, "create", "", body, "400 ValidationError: "+want)
	}
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"..","type":"a"}`, 400)
	h.ExpectStatus(t.Context(), t, "update", "production", `{"type":null}`, 400)
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store, db)
	_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "get", Path: "production"})
	h.ExpectStatus(t.Context(), t, "update", "production", `{"sortOrder":7}`, 200)
	old := h.With("If-Match", header.Get("ETag"))
	old.ExpectStatus(t.Context(), t, "update", "production", `{"sortOrder":8}`, 412)
	old.ExpectStatus(t.Context(), t, "delete", "production", "", 412)
	_, header, _ = h.Serve(t.Context(), operation.Request{Operation: "get", Path: "production"})
	h.With("If-Match", header.Get("ETag")).ExpectStatus(t.Context(), t, "delete", "production", "", 200)
}

// An environment in which toggles are on cannot be deleted.
func TestDeleteUsed(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store, db)
	use(t, db, "production", references.ByProject{"default": 2, "shop": 1})
	h.Expect(t.Context(), t, "delete", "production", "", `409 ConflictError: The environment "production" is in use. `+
		"The number of toggles that are on in it is 3. Turn them off first.")
	h.ExpectStatus(t.Context(), t, "get", "production", "", 200)
}

// A deletion that was interrupted is continued by the next one, or by the creation of an environment with the name.
func TestInterruptedDeletion(t *testing.T) {
	t.Parallel()
	for _, repetition := range []struct {
		operation, name, body string
		status                int
	}{
		{"delete", "production", "", 200},
		{"create", "", `{"name":"Production","type":"production"}`, 201},
	} {
		store, db := newStore(t)
		_, err := features(db).Create(t.Context(), toggle.Feature{Name: "f", Project: "default", Type: toggle.DefaultType,
			Environments: map[string]toggle.Environment{"production": {
				Strategies: []toggle.Strategy{{ID: "1", Name: toggle.StrategyDefault}},
			}}})
		assert.OK(t, err)
		interrupted := feature.NewStore(db.Refusing(t, "Scan"), db.Tables, db.Log())
		handlersWith(store, db, interrupted).ExpectStatus(t.Context(), t, "delete", "production", "", 500)
		h := handlers(store, db)
		h.Expect(t.Context(), t, "get", "production", "", unknown("production"))
		exists := environment.ReferencesStore(db.Client, db.Tables).Exists("production")
		failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{exists})
		assert.OK(t, err)
		assert.Equal(t, true, failures != nil) // nothing can be written in it

		h.ExpectStatus(t.Context(), t, repetition.operation, repetition.name, repetition.body, repetition.status)
		f, err := features(db).Get(t.Context(), "f")
		assert.OK(t, err)
		assert.Equal(t, 0, len(f.Environments))
		h.ExpectStatus(t.Context(), t, "delete", "production", "", 404)
	}
}

// Two processes delete an environment. After the first one has ended, and the environment was created again, the second
// one removes nothing.
func TestLateDeletion(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	d, err := store.MarkDeleted(t.Context(), "production", func(environment.Environment) error { return nil })
	assert.OK(t, err)
	handlers(store, db).ExpectStatus(t.Context(), t, "create", "", `{"name":"production","type":"x"}`, 201)
	failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{store.CheckDeletion(d)})
	assert.OK(t, err)
	assert.Equal(t, true, failures != nil)
	assert.OK(t, store.Finish(t.Context(), d))
	_, err = store.Get(t.Context(), "production")
	assert.OK(t, err)
}

func TestLimit(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	for i := len(environment.Defaults()); i < environment.Limit; i++ {
		_, err := store.Create(t.Context(), environment.Environment{Name: fmt.Sprint("e", i), Type: "x", Last: true})
		assert.OK(t, err)
	}
	_, err := store.Create(t.Context(), environment.Environment{Name: "one-more", Type: "x"})
	assert.Equal(t, apierror.Validation, apierror.KindOf(err))
	if !strings.HasSuffix(err.Error(), "You can't create more than the established limit of 50. Delete an environment first.") {
		t.Error(err)
	}
	handlers(store, db).ExpectStatus(t.Context(), t, "create", "", `{"name":"production","type":"x"}`, 409)
}

// TestEvents checks what each operation records. The environment is deleted by a process whose clock is ahead, and its
// second creation is still the later event.
func TestEvents(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store, db)
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"test","type":"test"}`, 201)
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"test","type":"test"}`, 409)
	h.ExpectStatus(t.Context(), t, "update", "test", `{"type":"qa"}`, 200)
	h.ExpectStatus(t.Context(), t, "update", "test", `{"type":"qa"}`, 200)
	ahead := eventlog.New(db.Client, db.Tables, func() time.Time { return time.Now().Add(time.Hour) }, 0)
	late := handlers(environment.NewStore(db.Client, db.Tables, ahead), db)
	late.ExpectStatus(t.Context(), t, "delete", "test", "", 200)
	h.ExpectStatus(t.Context(), t, "create", "", `{"name":"test","type":"test"}`, 201)
	const by = " environment:test by system: "
	want := []string{
		"environment-created" + by + `{"name":"test","type":"test","sortOrder":3,"requiredApprovals":null}`,
		"environment-updated" + by + `{"name":"test","type":"qa","sortOrder":3,"requiredApprovals":null} before {"name":"test","type":"test","sortOrder":3,"requiredApprovals":null}`,
		"environment-deleted" + by + `before {"name":"test","type":"qa","sortOrder":3,"requiredApprovals":null}`,
		"environment-created" + by + `{"name":"test","type":"test","sortOrder":3,"requiredApprovals":null}`,
	}
	assert.Equal(t, want, database.About(db.Events(t), "environment:test"))
	for _, item := range db.Scan(t, db.Tables["Events"]) {
		if item.String("subject") == "environment:test" {
			assert.Equal(t, "test", item.String("environment"))
		}
	}
}

// Concurrent creations of one name create one environment.
func TestConcurrentCreations(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	results := make(chan error)
	for range 4 {
		go func() {
			_, err := store.Create(context.WithoutCancel(t.Context()), environment.Environment{Name: "test", Type: "x", Last: true})
			results <- err
		}()
	}
	succeeded := 0
	for range 4 {
		if err := <-results; err == nil {
			succeeded++
		} else {
			assert.Equal(t, apierror.NameExists, apierror.KindOf(err))
		}
	}
	assert.Equal(t, 1, succeeded)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	use(t, db, "production", references.ByProject{"default": 2})
	counted := map[string]references.Counts{"production": {ByProject: references.ByProject{"shop": 1}}, "gone": {ByProject: references.ByProject{"shop": 1}}}
	count := func(context.Context) (map[string]references.Counts, error) { return counted, nil }
	_, found, err := store.Check(count)(t.Context())
	assert.OK(t, err)
	var texts []string
	for _, i := range found {
		texts = append(texts, i.Text)
		assert.OK(t, i.Repair(t.Context()))
	}
	assert.Equal(t, []string{
		`the environment "gone", which is used, does not exist`,
		`the environment "production" counts default: 2, and is used by shop: 1`,
	}, texts)
	_, found, err = store.Check(count)(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 1, len(found)) // the new environment has no counts yet
	assert.OK(t, found[0].Repair(t.Context()))
	summary, found, err := store.Check(count)(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(found))
	assert.Equal(t, "3, consistent with what uses them", summary)
}
