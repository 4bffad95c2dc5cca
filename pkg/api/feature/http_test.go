package feature_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// request is a request to a handler. A path parameter %FF is invalid.
type request struct{ project, name, query, body, ifMatch string }

func serve(ctx context.Context, handler lambdahttp.HandlerFunc, q request) (status int, header http.Header,
	text string) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "https://example.com/dev/api/admin/projects/p/features",
		strings.NewReader(q.body))
	r.Header.Set("Content-Type", "application/json")
	if q.ifMatch != "" {
		r.Header.Set("If-Match", q.ifMatch)
	}
	gateway := lambdahttp.Gateway{PathParameters: map[string]string{"projectId": q.project, "featureName": q.name}}
	for name, value := range gateway.PathParameters {
		if value != "%FF" {
			r.SetPathValue(name, value)
		}
	}
	gateway.Query, _ = url.ParseQuery(q.query)
	w := httptest.NewRecorder()
	if err := handler(w, r.WithContext(lambdahttp.WithGateway(ctx, gateway))); err != nil {
		e := apierror.From(err)
		return e.Kind.Status(), w.Header(), e.Kind.Name() + ": " + e.Message
	}
	return w.Code, w.Header(), w.Body.String()
}

type handlers struct{ create, update, stale, get, list, search, archive, revive, remove lambdahttp.HandlerFunc }

func newHandlers(tb testing.TB, store *feature.Store) (h handlers) {
	tb.Helper()
	must := func(handler lambdahttp.HandlerFunc, err error) lambdahttp.HandlerFunc {
		check(tb, err)
		return handler
	}
	return handlers{
		must(feature.Create(store, now)), must(feature.Update(store)), must(feature.MarkStale(store)), feature.Get(store),
		feature.List(store), feature.Search(store), feature.Archive(store), feature.Revive(store), feature.Delete(store),
	}
}

// wants fails the test unless the response has a status and this text, or begins with it if it ends with an ellipsis.
func wants(ctx context.Context, tb testing.TB, handler lambdahttp.HandlerFunc, q request, status int, want string) {
	tb.Helper()
	got, _, text := serve(ctx, handler, q)
	prefix, cut := strings.CutSuffix(want, "…")
	if got != status || text != want && (!cut || !strings.HasPrefix(text, prefix)) {
		tb.Errorf("%+v: %d %s\nwant %d %s", q, got, text, status, want)
	}
}

const (
	rest = `"environments":[],"segments":[],"tags":[],"favorite":false,"dependencyType":null`
	gone = `NotFoundError: There is no toggle with the name "a" in the project "p".`
)

// The life of a toggle, with the response of each step.
func TestOperations(t *testing.T) {
	t.Parallel()
	db, _ := newTyped(t)
	h := newHandlers(t, db.store)
	ctx := access.WithPrincipal(t.Context(), access.Principal{ID: "user:7", UserID: 7, Name: "ada"})
	at := request{project: "p", name: "a"}
	with := func(body string) request { return request{project: "p", name: "a", body: body} }
	a := func(members string) string {
		return `{"name":"a",` + members + `,` + rest + `,"contextFields":[]}`
	}
	created := `"archived":false,"createdAt":"2026-12-30T05:39:00.123Z","createdBy":{"id":7,"name":"ada",` +
		`"imageUrl":""},"archivedAt":null,` +
		`"potentiallyStale":false,"potentiallyStaleAt":`
	first := a(`"type":"release","project":"p","description":null,"impressionData":false,"stale":false,` + created +
		`"2027-02-08T05:39:00.123Z"`)
	wants(ctx, t, h.get, at, 404, gone)
	wants(ctx, t, h.create, with(`{"name":"a"}`), 201, first)
	wants(ctx, t, h.create, request{project: "q", body: `{"name":"a"}`}, 409,
		`NameExistsError: A toggle with the name "a" exists.`)
	wants(ctx, t, h.get, at, 200, first)
	wants(ctx, t, h.update, with(`{}`), 200, first)
	// Members of a response are ignored.
	wants(ctx, t, h.update,
		with(first[:len(first)-1]+`,"name":"b","project":"q","archived":true,"createdAt":"x","stale":true}`),
		400, "ValidationError: The `/body/name` property must be unique; you sent it twice.")
	wants(ctx, t, h.update, with(`{"name":"b","project":"q","archived":true,"createdAt":7}`), 200, first)
	second := a(`"type":"endless","project":"p","description":"","impressionData":true,"stale":true,` + created + `null`)
	wants(ctx, t, h.update, with(`{"type":"ENDLESS","description":"","impressionData":true,"stale":true}`), 200, second)
	wants(ctx, t, h.update, with(`{}`), 200, second)
	third := a(`"type":"endless","project":"p","description":null,"impressionData":true,"stale":true,` + created + `null`)
	wants(ctx, t, h.update, with(`{"description":null}`), 200, third)
	wants(ctx, t, h.stale, request{project: "p", body: `{"features":["a","a"],"stale":false}`}, 202, "")
	wants(ctx, t, h.remove, at, 409, `ConflictError: The toggle "a" is not archived. Archive it first.`)
	wants(ctx, t, h.revive, at, 200, "")
	for range 2 {
		wants(ctx, t, h.archive, at, 202, "")
	}
	archived := strings.NewReplacer(`"archived":false`, `"archived":true`, `"archivedAt":null`,
		`"archivedAt":"2026-12-30T05:39:00.123Z"`,
		`"stale":true`, `"stale":false`).Replace(third)
	wants(ctx, t, h.get, at, 200, archived)
	wants(ctx, t, h.create, with(`{"name":"a"}`), 409, `NameExistsError: A toggle with the name "a" exists.`)
	wants(ctx, t, h.update, with(`{"description":"d"}`), 200, strings.Replace(archived, `"description":null`,
		`"description":"d"`, 1))
	wants(ctx, t, h.revive, at, 200, "")
	wants(ctx, t, h.revive, at, 200, "")
	wants(ctx, t, h.archive, at, 202, "")
	wants(ctx, t, h.remove, at, 200, "")
	for _, handler := range []lambdahttp.HandlerFunc{h.get, h.update, h.archive} {
		wants(ctx, t, handler, with(`{}`), 404, gone)
	}
	for _, handler := range []lambdahttp.HandlerFunc{h.revive, h.remove} {
		wants(ctx, t, handler, at, 404, `NotFoundError: There is no toggle with the name "a".`)
		wants(ctx, t, handler, request{name: "%FF"}, 404, `NotFoundError: There is no toggle with the name "%FF".`)
	}
	const updated = "updated"
	want := []string{"created", "stale-on", updated, updated, "stale-off", "archived", updated, "revived", "archived",
		"deleted"}
	if got := db.events(t, "a", 0); got != strings.Join(want, " ") {
		t.Error(got)
	}
	_, header, _ := serve(ctx, h.create, with(`{"name":"b"}`))
	if location := header.Get("Location"); location != "https://example.com/dev/api/admin/projects/p/features/b" {
		t.Error(location)
	}
}

// The name of a creator can be removed, and is not in the events of the toggle.
func TestRemoveCreatorName(t *testing.T) {
	t.Parallel()
	db, _ := newTyped(t)
	h := newHandlers(t, db.store)
	for id, name := range []string{"ada", "eve"} {
		p := access.Principal{ID: name, UserID: int64(id + 1), Name: name}
		wants(access.WithPrincipal(t.Context(), p), t, h.create, request{project: "p", body: `{"name":"of-` + name + `"}`},
			201, "{…")
	}
	foreign := toggle("foreign")
	foreign.CreatedBy = &feature.Creator{Name: "bob"}
	db.create(t, foreign)
	for range 2 {
		check(t, db.store.RemoveCreatorName(t.Context(), 1))
	}
	for name, want := range map[string]string{"of-ada": "user:1", "of-eve": "eve", "foreign": "bob"} {
		if f := db.get(t, name); f.CreatedBy.Name != want {
			t.Errorf("%s was created by %s", name, f.CreatedBy.Name)
		}
	}
	check(t, db.Log().All(t.Context(), eventlog.Filter{Types: []string{string(eventlog.FeatureCreated)}},
		func(e eventlog.Event) error {
			if named := strings.Contains(string(e.Data), "createdBy"); named != (e.FeatureName == "foreign") {
				t.Errorf("%s", e.Data)
			}
			return nil
		}))
	wants(t.Context(), t, h.get, request{project: "default", name: "foreign"}, 200, `{"name":"foreign"…`)
	if _, _, text := serve(t.Context(), h.get, request{project: "default", name: "foreign"}); !strings.Contains(text,
		`"createdBy":null`) {
		t.Error(text)
	}
}

// An operation with a project finds only its toggles, and refuses an impossible project and body.
func TestRefusals(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	h := newHandlers(t, db.store)
	db.create(t, toggle("a"))
	for _, handler := range []lambdahttp.HandlerFunc{h.get, h.update, h.archive} {
		wants(ctx, t, handler, request{project: "p", name: "a", body: `{}`}, 404, gone)
		wants(ctx, t, handler, request{project: "p", name: "%FF", body: `{}`}, 404, strings.Replace(gone, `"a"`, `"%FF"`, 1))
	}
	for _, project := range []string{"%FF", "a b", strings.Repeat("x", 101)} {
		for i, handler := range []lambdahttp.HandlerFunc{h.get, h.update, h.archive, h.list, h.create, h.stale} {
			body := []string{`{}`, `{}`, `{}`, `{}`, `{"name":"n"}`, `{"features":["a"],"stale":true}`}[i]
			wants(ctx, t, handler, request{project, "a", "", body, ""}, 400,
				"ValidationError: The `/params/projectId` property must have 1 to 100 of…")
		}
	}
	for body, want := range map[string]string{
		`{"name":"revive"}`:           "The `/body/name` property must not be \"revive\"…",
		`{"name":".."}`:               "The `/body/name` property must have only the characters A-Z…",
		`{"Name":"n","name":"n"}`:     "The `/body/Name` property is unknown; the closest one is `name`.",
		`{"name":"n","type":"other"}`: "The `/body/type` property must be the id of a feature type; you sent \"other\".",
		`{"name":"n","description":"` + strings.Repeat("é", 1001) +
			`"}`: "The `/body/description` property must have at most 1000 characters…",
	} {
		wants(ctx, t, h.create, request{project: "p", body: body}, 400, "ValidationError: "+want)
	}
	wants(ctx, t, h.update, request{project: "q", name: "a", body: `{"type":"other"}`}, 400,
		"ValidationError: The `/body/type`…")
	wants(ctx, t, h.update, request{project: "q", name: "a", body: `{"state":true}`}, 400,
		"ValidationError: The `/body/state` property is unknown; the closest one is `stale`.")
	many, _ := json.Marshal(slices.Repeat([]string{"a"}, 51))
	wants(ctx, t, h.stale, request{project: "default", body: `{"stale":true,"features":` + string(many) + `}`}, 400,
		"ValidationError: The `/body/features` property must have at most 50 elements…")
	db.create(t, feature.Feature{Name: "b", Project: "p", Type: "release"})
	wants(ctx, t, h.stale, request{project: "default", body: `{"stale":true,"features":["a","b"]}`}, 404,
		`NotFoundError: There is no toggle with the name "b" in the project "default".`)
	if db.get(t, "a").Stale {
		t.Error("one of two toggles is marked")
	}
}

// A toggle whose context field was deleted cannot be revived.
func TestReviveWithoutContextField(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	f := toggle("a", "b", "gone")
	f.Archived = true
	db.create(t, f)
	wants(ctx, t, newHandlers(t, db.store).revive, request{name: "a"}, 409,
		`ConflictError: The toggle uses the context field "gone", which does not exist. Create the field first.`)
	if f := db.get(t, "a"); !f.Archived {
		t.Error(f)
	}
}

// The tag of a toggle changes with what an update can overwrite, and not with flips. It is compared by the write.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	h := newHandlers(t, db.store)
	f := toggle("a")
	f.Type = "long"
	db.create(t, f)
	tag := func() string {
		_, header, _ := serve(ctx, h.get, request{project: "default", name: "a"})
		return header.Get("ETag")
	}
	first, known := tag(), map[string]string{}
	for _, body := range []string{`{}`, `{"description":""}`, `{"impressionData":true}`, `{"type":"short"}`,
		`{"stale":true}`} {
		serve(ctx, h.update, request{project: "default", name: "a", body: body})
		if known[tag()] != "" {
			t.Errorf("%s has the tag of %s", body, known[tag()])
		}
		known[tag()] = body
	}
	reset := request{project: "default", name: "a",
		body: `{"description":null,"impressionData":false,"type":"long","stale":false}`}
	wants(ctx, t, h.update, request{reset.project, reset.name, "", reset.body, first}, 412,
		"PreconditionFailed: The resource has changed…")
	wants(ctx, t, h.update, request{reset.project, reset.name, "", reset.body, tag()}, 200, "{…")
	db.flip(t, rangeOf(f, false), db.get(t, "a"), true)
	if tag() != first || !db.get(t, "a").PotentiallyStale {
		t.Error("a flip changes the tag")
	}
	// Another client changes the toggle after it was read.
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 1 {
			serve(context.WithoutCancel(ctx), h.update, request{project: "default", name: "a", body: `{"description":"theirs"}`})
		}
		return c.Pass()
	})
	overtaken := newHandlers(t, feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, now, 0)))
	wants(ctx, t, overtaken.update, request{"default", "a", "", `{"description":"mine"}`, first}, 412,
		"PreconditionFailed: …")
	if f := db.get(t, "a"); *f.Description != "theirs" {
		t.Error(*f.Description)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	h := newHandlers(t, db.store)
	archived, other := toggle("a"), toggle("b")
	archived.Archived, other.Project = true, "p"
	db.create(t, toggle("d", "a"), toggle("c"), archived, other)
	wants(ctx, t, h.list, request{project: "default"}, 200, `{"version":2,"features":[{"name":"c","type":"release",`+
		`"project":"default","description":null,"impressionData":false,"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z",`+
		`"createdBy":null,"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z",`+rest+`},{"name":"d",…`)
	wants(ctx, t, h.list, request{project: "unknown"}, 200, `{"version":2,"features":[]}`)
}

// A list that a Lambda function cannot return is a 400 that names the search.
func TestListIsTooLarge(t *testing.T) {
	t.Parallel()
	db, ctx := newTyped(t)
	var requests []types.WriteRequest
	for i := range 1150 { // 4,500 bytes each: a quotation mark is four bytes in the response of a function
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: dynamo.Item{
			"name": dynamo.S(fmt.Sprint(i)), "project": dynamo.S("p"), "type": dynamo.S("release"),
			"createdAt":   dynamo.Time(now()),
			"description": dynamo.S(strings.Repeat(`"`, 1000)),
		}}})
	}
	for batch := range slices.Chunk(requests, 25) {
		_, err := db.Client.BatchWriteItem(ctx,
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{db.Tables.Features: batch}})
		check(t, err)
	}
	wants(ctx, t, newHandlers(t, db.store).list, request{project: "p"}, 400,
		"ValidationError: The list of the 1150 toggles of the project "+
			"is too large. Use GET /api/admin/search/features?project=IS:p.")
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	for _, f := range []struct {
		construct app.Constructor
		more      string
	}{
		{feature.NewGetFunction, "FEATURE_TYPES_TABLE"},
		{feature.NewListFunction, "FEATURE_TYPES_TABLE"},
		{feature.NewSearchFunction, "FEATURE_TYPES_TABLE"},
		{feature.NewCreateFunction, "FEATURE_TYPES_TABLE EVENTS_TABLE"},
		{feature.NewUpdateFunction, "FEATURE_TYPES_TABLE EVENTS_TABLE"},
		{feature.NewMarkStaleFunction, "FEATURE_TYPES_TABLE EVENTS_TABLE"},
		{feature.NewArchiveFunction, "FEATURE_TYPES_TABLE CONTEXT_FIELDS_TABLE EVENTS_TABLE"},
		{feature.NewReviveFunction, "FEATURE_TYPES_TABLE CONTEXT_FIELDS_TABLE EVENTS_TABLE"},
		{feature.NewDeleteFunction, "EVENTS_TABLE EVENT_LOG_DAYS"},
	} {
		database.RequireVariables(t, env, f.construct, append(strings.Fields(f.more), "FEATURES_TABLE")...)
	}
}
