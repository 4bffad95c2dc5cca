package feature_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// What is stored after writes, and the references to context fields after each one.
func TestWrites(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
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
		f, message := toggles.New(t, test.toggle), ""
		var err error
		switch test.write {
		case "create":
			_, err = db.Store.Create(t.Context(), f)
		case "update":
			_, err = db.Store.Update(t.Context(), f.Name, toggles.With(test.toggle))
		case "delete":
			err = db.Store.Delete(t.Context(), f.Name, nil)
		}
		if err != nil {
			message = err.Error()
		}
		assert.Equal(t, test.message, message)
		assert.Equal(t, test.usage, db.References(t))
	}
	db.Update(t, "B", `{"name":"x","createdAt":"2026-11-21T00:00:00Z","createdBy":{"name":"x"},"potentiallyStale":false}`)
	var got []string
	for _, f := range db.List(t) {
		f.LastEvent = 0
		text, err := json.Marshal(f)
		assert.OK(t, err)
		got = append(got, string(text))
	}
	assert.Equal(t, []string{
		`{"Name":"B","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":false,"ArchivedAt":null,` +
			`"Stale":false,"PotentiallyStale":true,"LastEvent":0,"Environments":null,"ContextFields":["b"],` +
			`"Tags":null,"Owner":null,"Keep":null,"Links":null,"Dependency":null,"Children":null,` +
			`"LastSeen":null,"FirstSeen":null,"ForAllSince":null,"StaleSince":null,"ManagedBy":"","Imported":""}`,
		`{"Name":"archived","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":true,"ArchivedAt":"2026-11-20T05:39:00.123Z",` +
			`"Stale":false,"PotentiallyStale":false,"LastEvent":0,"Environments":null,"ContextFields":null,` +
			`"Tags":null,"Owner":null,"Keep":null,"Links":null,"Dependency":null,"Children":null,` +
			`"LastSeen":null,"FirstSeen":null,"ForAllSince":null,"StaleSince":null,"ManagedBy":"","Imported":""}`,
		`{"Name":"f","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":false,"ArchivedAt":null,` +
			`"Stale":true,"PotentiallyStale":false,"LastEvent":0,"Environments":null,"ContextFields":null,` +
			`"Tags":null,"Owner":null,"Keep":null,"Links":null,"Dependency":null,"Children":null,` +
			`"LastSeen":null,"FirstSeen":null,"ForAllSince":null,"StaleSince":"2026-12-30T05:39:00Z","ManagedBy":"","Imported":""}`,
		`{"Name":"é#1","Project":"default","Type":"release","Description":null,"ImpressionData":false,` +
			`"CreatedAt":"2026-11-20T05:39:00.123Z","CreatedBy":null,"Archived":false,"ArchivedAt":null,` +
			`"Stale":true,"PotentiallyStale":false,"LastEvent":0,"Environments":null,"ContextFields":null,` +
			`"Tags":null,"Owner":null,"Keep":null,"Links":null,"Dependency":null,"Children":null,` +
			`"LastSeen":null,"FirstSeen":null,"ForAllSince":null,"StaleSince":"2026-12-30T05:39:00Z","ManagedBy":"","Imported":""}`,
	}, got)
}

// Of two concurrent writes neither is lost, whatever they change.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	// superseded returns a store whose first transaction comes after another client's update of the toggle.
	superseded := func(name, members string) *feature.Store {
		return db.StoreOn(db.Before(t, "TransactWriteItems", 1, func() { db.Update(t, name, members) }))
	}
	all := []string{`{"project":"p"}`, `{"type":"long"}`, `{"archived":true,"archivedAt":"2026-12-01T00:00:00Z"}`,
		`{"stale":true}`, `{"contextFields":["a"]}`}
	for _, first := range all {
		for _, second := range all {
			want := toggles.New(t, `{"type":"endless"}`)
			db.Create(t, `{"type":"endless"}`)
			_, err := superseded("f", first).Update(t.Context(), "f", toggles.With(second))
			assert.OK(t, err)
			for _, members := range []string{first, second} {
				want, err = toggles.With(members)(want)
				assert.OK(t, err)
			}
			toggles.Same(t, want, db.Toggle(t, "f"))
			key := ""
			if !want.Archived && !want.Stale {
				key = want.Type + "#fresh#9"
			}
			assert.Equal(t, key, db.StalenessKey(t, "f"))
			assert.OK(t, superseded("f", `{"contextFields":["b"]}`).Delete(t.Context(), "f", nil))
		}
	}
	assert.Equal(t, "", db.References(t))
}

// An operation fails if DynamoDB rejects one of its calls.
func TestFailures(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{}`)
	refusing := func(call string) operation.Set { return toggles.Handlers(db.StoreOn(db.Refusing(t, call))) }
	for _, name := range []string{"get", "update", "archive"} {
		refusing("GetItem").ExpectStatus(t.Context(), t, name, "default/f", `{"type":"long"}`, 500)
	}
	for _, name := range []string{"revive", "remove"} {
		refusing("GetItem").ExpectStatus(t.Context(), t, name, "/f", "", 500)
	}
	refusing("GetItem").ExpectStatus(t.Context(), t, "create", "default/", `{"name":"g"}`, 500)
	refusing("Scan").ExpectStatus(t.Context(), t, "list", "default/", "", 500)
	db.Searches(db.Refusing(t, "Scan")).ExpectStatus(t.Context(), t, "search", "", "", 500)
	refusing("BatchGetItem").ExpectStatus(t.Context(), t, "stale", "default/", `{"features":["f","g"],"stale":true}`, 500)
	for _, name := range []string{"update", "archive"} {
		refusing("TransactWriteItems").ExpectStatus(t.Context(), t, name, "default/f", `{"type":"long"}`, 500)
	}
	refusing("TransactWriteItems").ExpectStatus(t.Context(), t, "create", "default/", `{"name":"g"}`, 500)
}

// Another client changes the toggle before each attempt, until the context ends.
func TestUpdateLosesEveryRace(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{}`)
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
	_, err := db.StoreOn(client).Update(ctx, "f", toggles.With(`{"project":"p"}`))
	assert.ErrorIs(t, err, dynamo.ErrUnavailable)
}
