package feature_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
)

func created() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

// now is 40 days after created, to the millisecond.
func now() time.Time { return created().AddDate(0, 0, 40) }

// with returns the change of the members of toggle.Feature in a JSON text.
func with(members string) func(toggle.Feature) (toggle.Feature, error) {
	return func(old toggle.Feature) (f toggle.Feature, err error) {
		text, err := json.Marshal(old)
		err = errors.Join(err, json.Unmarshal(text, &f), json.Unmarshal([]byte(members), &f))
		return f, err
	}
}

// toggle returns the toggle f of the type release, with other members in a JSON text.
func newToggle(tb testing.TB, members string) toggle.Feature {
	tb.Helper()
	f, err := with(members)(toggle.Feature{Name: "f", Project: "default", Type: "release", CreatedAt: created()})
	assert.OK(tb, err)
	return f
}

// tables are the tables of a test, with the context fields a, b and c, and the types short, long, endless and release,
// whose lifetime ends now.
type tables struct {
	*database.Database
	store *feature.Store
	flags *stalenessindex.Flags
}

func newTables(tb testing.TB) tables {
	tb.Helper()
	db := tables{Database: database.New(tb)}
	for _, name := range []string{"a", "b", "c"} {
		_, err := contextfield.NewStore(db.Client, db.Tables, db.Log()).Create(tb.Context(),
			contextfield.ContextField{Name: name})
		assert.OK(tb, err)
	}
	for id, days := range map[string]*int64{"release": new(int64(40)), "short": new(int64(7)), "long": new(int64(41)),
		"endless": nil} {
		assert.OK(tb, db.types().Create(tb.Context(), toggle.Type{ID: id, LifetimeDays: days}))
	}
	db.store = db.through(db.Client)
	db.flags = stalenessindex.NewFlags(db.Client, db.Tables, eventlog.New(db.Client, db.Tables, now, 0))
	return db
}

func (db tables) types() *featuretype.Store {
	return featuretype.NewStore(db.Client, db.Tables, db.Log())
}

// through returns a store that uses another client.
func (db tables) through(client *dynamodb.Client) *feature.Store {
	return feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, now, 0))
}

// create creates toggles with members in JSON texts.
func (db tables) create(tb testing.TB, all ...string) {
	tb.Helper()
	for _, members := range all {
		_, err := db.store.Create(tb.Context(), newToggle(tb, members))
		assert.OK(tb, err)
	}
}

func (db tables) update(tb testing.TB, name, members string) {
	tb.Helper()
	_, err := db.store.Update(tb.Context(), name, with(members))
	assert.OK(tb, err)
}

func (db tables) get(tb testing.TB, name string) toggle.Feature {
	tb.Helper()
	f, err := db.store.Get(tb.Context(), name)
	assert.OK(tb, err)
	return f
}

func (db tables) list(tb testing.TB) []toggle.Feature {
	tb.Helper()
	all, err := db.store.List(tb.Context())
	assert.OK(tb, err)
	return all
}

// key reads the key of a toggle in the staleness index.
func (db tables) key(tb testing.TB, name string) string {
	tb.Helper()
	return db.Get(tb, db.Tables["Features"], dynamo.Item{"name": dynamo.S(name)}).String("staleness")
}

// usage returns the number of toggles by context field and project.
func (db tables) usage(tb testing.TB) string {
	tb.Helper()
	var all []string
	for _, item := range db.Scan(tb, db.Tables["ContextFields"]) {
		field, _ := contextfield.ReferencesTable(db.Client, db.Tables).ResourceOf(item)
		used, _ := references.FromItem(item)
		for project, n := range used.ByProject {
			all = append(all, fmt.Sprintf("%s/%s: %d", field, project, n))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// same fails the test unless got is equal to want, except for the last event.
func same(tb testing.TB, want, got any) {
	tb.Helper()
	assert.Equal(tb, want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(toggle.Feature{}, "LastEvent"))
}

// What is stored after writes, and the references to context fields after each one.
func TestWrites(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	for _, test := range []struct {
		write   string
		toggle  string
		message string // error
		usage   string
	}{
		{"create", `{"contextFields":["a","b","a"]}`, "", "a/default: 1, b/default: 1"},
		{
			"create",
			`{"project":"p","contextFields":["c"]}`,
			`create toggle "f": NameExistsError: A toggle with the name "f" exists. Names are unique in the installation, ` +
				`archived toggles included.`,
			"a/default: 1, b/default: 1",
		},
		{
			"create",
			`{"name":"g","contextFields":["a","x"]}`,
			`create toggle "g": ConflictError: The toggle uses the context field "x", which does not exist. Create the field first.`,
			"a/default: 1, b/default: 1",
		},
		{
			"update",
			`{"project":"p","contextFields":["x"]}`,
			`update toggle "f": ConflictError: The toggle uses the context field "x", which does not exist. Create the field first.`,
			"a/default: 1, b/default: 1",
		},
		{
			"create",
			`{"name":"2","project":"other.#$ project","contextFields":["a"]}`,
			"",
			"a/default: 1, a/other.#$ project: 1, b/default: 1",
		},
		{"create", `{"name":"3","contextFields":["a","b"],"archived":true}`, "", "a/default: 1, a/other.#$ project: 1, b/default: 1"},
		{"create", `{"name":"B","contextFields":["b"]}`, "", "a/default: 1, a/other.#$ project: 1, b/default: 2"},
		{"update", `{"archived":true}`, "", "a/other.#$ project: 1, b/default: 1"},
		{"update", `{"contextFields":["c"]}`, "", "a/other.#$ project: 1, b/default: 1"},
		{"update", `{"archived":false}`, "", "a/other.#$ project: 1, b/default: 1, c/default: 1"},
		{"update", `{"contextFields":["b","a","b"]}`, "", "a/default: 1, a/other.#$ project: 1, b/default: 2"},
		{"update", `{"stale":true}`, "", "a/default: 1, a/other.#$ project: 1, b/default: 2"},
		{"update", `{"project":"p"}`, "", "a/other.#$ project: 1, a/p: 1, b/default: 1, b/p: 1"},
		{"update", `{"project":"default","contextFields":["b","c"]}`, "", "a/other.#$ project: 1, b/default: 2, c/default: 1"},
		{"update", `{"contextFields":[]}`, "", "a/other.#$ project: 1, b/default: 1"},
		{"delete", `{"name":"2"}`, "", "b/default: 1"},
		{"delete", `{"name":"3"}`, "", "b/default: 1"},
		{
			"create",
			`{"name":"é#1","createdAt":"2026-11-20T07:39:00.123987654+02:00","stale":true,"potentiallyStale":true}`,
			"",
			"b/default: 1",
		},
		{"create", `{"name":"archived","archived":true,"archivedAt":"2026-11-20T05:39:00.123987654Z"}`, "", "b/default: 1"},
	} {
		f, message := newToggle(t, test.toggle), ""
		var err error
		switch test.write {
		case "create":
			_, err = db.store.Create(t.Context(), f)
		case "update":
			_, err = db.store.Update(t.Context(), f.Name, with(test.toggle))
		case "delete":
			err = db.store.Delete(t.Context(), f.Name, nil)
		}
		if err != nil {
			message = err.Error()
		}
		assert.Equal(t, test.message, message)
		assert.Equal(t, test.usage, db.usage(t))
	}
	db.update(t, "B", `{"name":"x","createdAt":"2026-11-21T00:00:00Z","createdBy":{"name":"x"},"potentiallyStale":false}`)
	var got []string
	for _, f := range db.list(t) {
		f.LastEvent = 0
		text, err := json.Marshal(f)
		assert.OK(t, err)
		got = append(got, string(text))
	}
	assert.Equal(t, []string{
		`{"Name":"B","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":false,"ArchivedAt":null,` +
			`"Stale":false,"PotentiallyStale":true,"LastEvent":0,"Environments":null,"ContextFields":["b"],` +
			`"Dependency":null,"Children":null,"LastSeen":null,"Imported":""}`,
		`{"Name":"archived","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":true,"ArchivedAt":"2026-11-20T05:39:00.123Z",` +
			`"Stale":false,"PotentiallyStale":false,"LastEvent":0,"Environments":null,"ContextFields":null,` +
			`"Dependency":null,"Children":null,"LastSeen":null,"Imported":""}`,
		`{"Name":"f","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":false,"ArchivedAt":null,` +
			`"Stale":true,"PotentiallyStale":false,"LastEvent":0,"Environments":null,"ContextFields":null,` +
			`"Dependency":null,"Children":null,"LastSeen":null,"Imported":""}`,
		`{"Name":"é#1","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":false,"ArchivedAt":null,` +
			`"Stale":true,"PotentiallyStale":false,"LastEvent":0,"Environments":null,"ContextFields":null,` +
			`"Dependency":null,"Children":null,"LastSeen":null,"Imported":""}`,
	}, got)
}

// Of two concurrent writes neither is lost, whatever they change.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	// superseded returns a store whose first transaction comes after another client's update of the toggle.
	superseded := func(name, members string) *feature.Store {
		return db.through(db.Before(t, "TransactWriteItems", 1, func() { db.update(t, name, members) }))
	}
	all := []string{`{"project":"p"}`, `{"type":"long"}`, `{"archived":true,"archivedAt":"2026-12-01T00:00:00Z"}`,
		`{"stale":true}`, `{"contextFields":["a"]}`}
	for _, first := range all {
		for _, second := range all {
			want := newToggle(t, `{"type":"endless"}`)
			db.create(t, `{"type":"endless"}`)
			_, err := superseded("f", first).Update(t.Context(), "f", with(second))
			assert.OK(t, err)
			for _, members := range []string{first, second} {
				want, err = with(members)(want)
				assert.OK(t, err)
			}
			same(t, want, db.get(t, "f"))
			key := ""
			if !want.Archived && !want.Stale {
				key = want.Type + "#fresh#9"
			}
			assert.Equal(t, key, db.key(t, "f"))
			assert.OK(t, superseded("f", `{"contextFields":["b"]}`).Delete(t.Context(), "f", nil))
		}
	}
	assert.Equal(t, "", db.usage(t))
}

// An operation fails if DynamoDB rejects one of its calls.
func TestFailures(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, `{}`)
	refusing := func(call string) operation.Set { return handlers(db.through(db.Refusing(t, call))) }
	for _, name := range []string{"get", "update", "archive"} {
		refusing("GetItem").ExpectStatus(t.Context(), t, name, "default/f", `{"type":"long"}`, 500)
	}
	for _, name := range []string{"revive", "remove"} {
		refusing("GetItem").ExpectStatus(t.Context(), t, name, "/f", "", 500)
	}
	refusing("GetItem").ExpectStatus(t.Context(), t, "create", "default/", `{"name":"g"}`, 500)
	refusing("Scan").ExpectStatus(t.Context(), t, "list", "default/", "", 500)
	db.searches(db.Refusing(t, "Scan")).ExpectStatus(t.Context(), t, "search", "", "", 500)
	refusing("BatchGetItem").ExpectStatus(t.Context(), t, "stale", "default/", `{"features":["f","g"],"stale":true}`, 500)
	for _, name := range []string{"update", "archive"} {
		refusing("TransactWriteItems").ExpectStatus(t.Context(), t, name, "default/f", `{"type":"long"}`, 500)
	}
	refusing("TransactWriteItems").ExpectStatus(t.Context(), t, "create", "default/", `{"name":"g"}`, 500)
}

// Another client changes the toggle before each attempt, until the context ends.
func TestUpdateLosesEveryRace(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, `{}`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation != "TransactWriteItems" {
			return c.Pass()
		}
		if c.N == 3 {
			defer stop()
		}
		return c.Cancel("ConditionalCheckFailed")
	})
	_, err := db.through(client).Update(ctx, "f", with(`{"project":"p"}`))
	assert.ErrorIs(t, err, dynamo.ErrUnavailable)
}
