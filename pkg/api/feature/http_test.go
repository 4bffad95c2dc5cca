package feature_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// The life of a toggle, with the response of each step.
func TestOperations(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	all := toggles.Handlers(db.Store)
	users := user.NewStore(db.Client, db.Tables, eventlog.Discard(db.Client, time.Now))
	assert.OK(t, users.Create(t.Context(), user.User{ID: 7, Kind: user.Person, Name: "ada", Role: access.RoleEditor}))
	ctx := access.WithPrincipal(t.Context(), access.Principal{ID: "user:7", UserID: 7, Name: "ada",
		Permissions: []access.Permission{access.Admin}})
	const (
		created = `"createdAt":"2026-12-30T05:39:00.123Z","createdBy":{"id":7,"name":"ada","imageUrl":""},` +
			`"owner":{"kind":"user","id":7,"name":"ada"},"keepUntil":null,"keepReason":null`
		isNew = `"stage":"new","lifecycle":{"stage":"initial","enteredStageAt":"2026-12-30T05:39:00.123Z"},`
		rest  = `"lastSeenAt":null,"environments":[],"segments":[],"dependencies":[],"children":[],"dependencyType":null,` +
			`"tags":[],"favorite":false,"contextFields":[],"links":[]}`
		active   = `"archived":false,` + created + `,"archivedAt":null,"potentiallyStale":false,"potentiallyStaleAt":null,` + isNew + rest
		archived = `"archived":true,` + created + `,"archivedAt":"2026-12-30T05:39:00.123Z","potentiallyStale":false,"potentiallyStaleAt":null,` +
			`"stage":"archived","lifecycle":{"stage":"archived","enteredStageAt":"2026-12-30T05:39:00.123Z"},` + rest
		duplicate = `409 NameExistsError: A toggle with the name "a" exists. Names are unique in the installation, archived ` +
			`toggles included.`

		asCreated = `{"name":"a","type":"release","project":"p","description":null,"impressionData":false,"stale":false,` +
			`"archived":false,` + created + `,"archivedAt":null,"potentiallyStale":false,` +
			`"potentiallyStaleAt":"2027-02-08T05:39:00.123Z",` + isNew + rest
	)
	// endless returns a response after the type was changed.
	endless := func(description, stale, state string) string {
		if stale == "true" {
			state = strings.Replace(state, isNew, `"stage":"to-remove","lifecycle":{"stage":"completed","enteredStageAt":"2026-12-30T05:39:00.000Z"},`, 1)
		}
		return `200 {"name":"a","type":"endless","project":"p","description":` + description + `,"impressionData":true,` +
			`"stale":` + stale + `,` + state
	}
	toggles.Expect(ctx, t, all, []toggles.Call{
		{"get", "p/a", "", toggles.UnknownIn("p", "a")},
		{"create", "p/", `{"name":"a"}`, "201 " + asCreated},
		{"create", "q/", `{"name":"a"}`, duplicate},
		{"get", "p/a", "", "200 " + asCreated},
		{"update", "p/a", `{}`, "200 " + asCreated},
		{"update", "p/a", asCreated, "200 " + asCreated},
		{"update", "p/a", `{"archived":true}`, "400 ValidationError: The `/body/archived` property must be false, as the " +
			"toggle is: an update neither archives nor revives it; you sent true."},
		{
			"update", "p/a", `{"type":"endless","description":"","impressionData":true,"stale":true}`,
			endless(`""`, "true", active),
		},
		{"update", "p/a", `{}`, endless(`""`, "true", active)},
		{"update", "p/a", `{"description":null}`, endless("null", "true", active)},
		{"stale", "p/", `{"features":["a","a"],"stale":false}`, "202"},
		{"remove", "p/a", "", `409 ConflictError: The toggle "a" is not archived. Archive it first.`},
		{"revive", "p/a", "", "200"},
		{"archive", "p/a", "", "202"},
		{"archive", "p/a", "", "202"},
		{"get", "p/a", "", endless("null", "false", archived)},
		{"create", "p/", `{"name":"a"}`, duplicate},
		{"update", "p/a", `{"description":"d","archived":true}`, endless(`"d"`, "false", archived)},
		{"revive", "p/a", "", "200"},
		{"revive", "p/a", "", "200"},
		{"get", "p/a", "", endless(`"d"`, "false", active)},
		{"archive", "p/a", "", "202"},
		{"remove", "p/a", "", "200"},
		{"get", "p/a", "", toggles.UnknownIn("p", "a")},
		{"update", "p/a", `{}`, toggles.UnknownIn("p", "a")},
		{"archive", "p/a", "", toggles.UnknownIn("p", "a")},
		{"revive", "p/a", "", toggles.Unknown("a")},
		{"remove", "p/a", "", toggles.Unknown("a")},
		{"revive", "/%FF", "", toggles.Unknown("%FF")},
		{"remove", "/%FF", "", toggles.Unknown("%FF")},
	})
	want, err := os.ReadFile("testdata/events.txt")
	assert.OK(t, err)
	assert.Equal(t, string(want), strings.Join(database.About(db.Events(t), "toggle:a"), "\n")+"\n")
	_, header, _ := all.Serve(ctx, operation.Request{Operation: "create", Path: "p/", Body: `{"name":"b"}`})
	assert.Equal(t, "https://example.com/dev/api/admin/x/b", header.Get("Location"))
}

// Toggles and their events have the ids of their creators. Responses have the names, also of an account that was deleted.
func TestCreator(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"of-ada","createdBy":{"id":1,"name":"ada"}}`,
		`{"name":"of-eve","createdBy":{"id":2,"name":"eve"}}`, `{"name":"foreign","createdBy":{"name":"bob"}}`)
	users := user.NewStore(db.Client, db.Tables, eventlog.Discard(db.Client, time.Now))
	assert.OK(t, users.Create(t.Context(), user.User{ID: 1, Kind: user.Person, Name: "Countess", Role: access.RoleEditor}))
	// toggle returns a toggle in the list of the project.
	toggle := func(name, creator string) string {
		return `{"name":"` + name + `","type":"release","project":"default","description":null,"impressionData":false,` +
			`"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":` + creator + `,` +
			`"owner":null,"keepUntil":null,"keepReason":null,"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z",` +
			`"stage":"overdue","lifecycle":{"stage":"initial","enteredStageAt":"2026-11-20T05:39:00.123Z"},"lastSeenAt":null,"environments":[],` +
			`"segments":[],"dependencies":[],"children":[],"dependencyType":null,"tags":[],"favorite":false}`
	}
	toggles.Handlers(db.Store).Expect(t.Context(), t, "list", "default/", "", `200 {"version":2,"features":[`+
		toggle("foreign", "null")+","+
		toggle("of-ada", `{"id":1,"name":"Countess","imageUrl":""}`)+","+
		toggle("of-eve", `{"id":2,"name":"deleted user 2","imageUrl":""}`)+`]}`)
	assert.Equal(t, "bob", db.Toggle(t, "foreign").CreatedBy.Name)
	text := fmt.Sprint(db.Events(t), db.Scan(t, db.Tables["Features"]))
	assert.Equal(t, []string{`"createdBy":"bob"`}, regexp.MustCompile(`"createdBy":"\w+"|"(ada|eve)"`).FindAllString(text, -1))
}

// An operation with a project finds only its toggles. A toggle whose context field was deleted cannot be revived.
func TestOtherProject(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a"}`, `{"name":"b","project":"p"}`,
		`{"name":"c","contextFields":["b","gone"],"archived":true}`)
	h := toggles.Handlers(db.Store)
	for _, operation := range []string{"get", "update", "archive"} {
		h.Expect(t.Context(), t, operation, "q/a", `{}`, toggles.UnknownIn("q", "a"))
		h.Expect(t.Context(), t, operation, "q/%FF", `{}`, toggles.UnknownIn("q", "%FF"))
	}
	toggles.Expect(t.Context(), t, h, []toggles.Call{
		{"stale", "default/", `{"stale":true,"features":["a","b"]}`, toggles.UnknownIn("default", "b")},
		{"stale", "default/", `{"stale":true,"features":["a","x"]}`, toggles.UnknownIn("default", "x")},
		{
			"revive", "/c", "",
			`409 ConflictError: The toggle uses the context field "gone", which does not exist. Create the field first.`,
		},
		{
			"get", "default/c", "",
			`200 {"name":"c","type":"release","project":"default","description":null,"impressionData":false,"stale":false,` +
				`"archived":true,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,` +
				`"owner":null,"keepUntil":null,"keepReason":null,"archivedAt":"2026-12-30T05:39:00.123Z","potentiallyStale":false,"potentiallyStaleAt":null,` +
				`"stage":"archived","lifecycle":{"stage":"archived","enteredStageAt":"2026-12-30T05:39:00.123Z"},` +
				`"lastSeenAt":null,"environments":[],"segments":[],"dependencies":[],"children":[],"dependencyType":null,"tags":[],"favorite":false,` +
				`"contextFields":["b","gone"],"links":[]}`,
		},
	})
	if db.Toggle(t, "a").Stale || !db.Toggle(t, "c").Archived {
		t.Error("a rejected operation has written")
	}
}

func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	h := toggles.Handlers(toggles.NewFixture(t).Store)
	for _, test := range []struct{ operation, path, body, message string }{
		{
			"create", "p/", `{"name":"revive"}`,
			"The `/body/name` property must not be \"revive\", which is a path of the API.",
		},
		{
			"create", "p/", `{"name":".."}`,
			"The `/body/name` property must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; " +
				"you sent \"..\".",
		},
		{
			"create", "p/", `{"Name":"n","name":"n"}`,
			"The `/body/Name` property is unknown; the closest one is `name`.",
		},
		{
			"create", "p/", `{"name":"n","type":"other"}`,
			"The `/body/type` property must be the id of a feature type; you sent \"other\".",
		},
		{
			"create", "p/", `{"name":"n","description":"` + strings.Repeat("é", 1001) + `"}`,
			"The `/body/description` property must have at most 1000 characters; you sent \"" +
				strings.Repeat("é", 100) + "…\".",
		},
		{
			"update", "q/a", `{"type":"other"}`,
			"The `/body/type` property must be the id of a feature type; you sent \"other\".",
		},
		{
			"update", "p/a", `{"project":"q"}`,
			"The `/body/project` property must be \"p\", as in the path; you sent \"q\".",
		},
		{
			"update", "p/a", `{"name":"b","tags":["simple:a"],"favorite":true}`,
			"The `/body/name` property must be \"a\", as in the path; you sent \"b\".",
		},
		{
			"create", "p/", `{"name":"n","project":"q","tags":["simple:a"],"favorite":true,"stale":true,"archived":true}`,
			"The `/body/archived` property must be false; you sent true. " +
				"The `/body/stale` property must be false; you sent true. " +
				"The `/body/project` property must be \"p\", as in the path; you sent \"q\".",
		},
		{
			"update", "q/a", `{"state":true}`,
			"The `/body/state` property is unknown; the closest one is `stage`.",
		},
		{
			"stale", "default/", `{"stale":true,"features":[` + strings.Repeat(`"a",`, 50) + `"a"]}`,
			"The `/body/features` property must have at most 50 elements; you sent [" + strings.Repeat(`"a",`, 24) + `"a"….`,
		},
	} {
		h.Expect(t.Context(), t, test.operation, test.path, test.body, "400 ValidationError: "+test.message)
	}
}

// The tag of a toggle changes with what an update can overwrite, and not with flips. It is compared by the write.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	db, ctx := toggles.NewFixture(t), t.Context()
	h := toggles.Handlers(db.Store)
	db.Create(t, `{"name":"a","type":"long"}`)
	tag := func() string {
		_, header, _ := h.Serve(ctx, operation.Request{Operation: "get", Path: "default/a"})
		return header.Get("ETag")
	}
	first, known := tag(), map[string]string{}
	for _, body := range []string{`{}`, `{"description":""}`, `{"impressionData":true}`, `{"type":"short"}`,
		`{"stale":true}`,
		`{"owner":{"kind":"text","name":"a"}}`, `{"keepUntil":"2027-01-31"}`, `{"keepReason":"b"}`} {
		h.Serve(ctx, operation.Request{Operation: "update", Path: "default/a", Body: body})
		if known[tag()] != "" {
			t.Errorf("%s has the tag of %s", body, known[tag()])
		}
		known[tag()] = body
	}
	const reset = `{"description":null,"impressionData":false,"type":"long","stale":false,"owner":null,"keepUntil":null}`
	h.With("If-Match", first).Expect(ctx, t, "update", "default/a", reset, toggles.Changed)
	h.With("If-Match", tag()).ExpectStatus(ctx, t, "update", "default/a", reset, 200)
	f := db.Toggle(t, "a")
	db.Flip(t, toggles.RangeOf(f, false), f, true)
	if tag() != first || !db.Toggle(t, "a").PotentiallyStale {
		t.Error("a flip changes the tag")
	}
	// Another client changes the toggle after it was read.
	superseded := toggles.Handlers(db.StoreOn(db.Before(t, "TransactWriteItems", 1, func() {
		h.ExpectStatus(ctx, t, "update", "default/a", `{"description":"theirs"}`, 200)
	})))
	superseded.With("If-Match", first).Expect(ctx, t, "update", "default/a", `{"description":"mine"}`, toggles.Changed)
	assert.Equal(t, "theirs", *db.Toggle(t, "a").Description)
}

// Every change evaluates preconditions: after a 404, before a 409, and in the write.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	db, ctx := toggles.NewFixture(t), t.Context()
	h := toggles.Handlers(db.Store)
	db.Create(t, `{"name":"a"}`, `{"name":"b","archived":true}`, `{"name":"c","archived":true,"contextFields":["gone"]}`)
	before := db.List(t)
	_, header, _ := h.Serve(ctx, operation.Request{Operation: "get", Path: "default/a"}) // b and c have the same tag
	tag := header.Get("ETag")
	for _, test := range []struct{ header, value, want, wantList string }{
		{"If-Match", `"old"`, toggles.Changed, toggles.NoEntityTag}, // the resource that marks several toggles has no tag
		{"If-None-Match", "*", toggles.Exists, toggles.Exists},
	} {
		toggles.Expect(ctx, t, h.With(test.header, test.value), []toggles.Call{
			{"update", "default/a", `{"description":"d"}`, test.want},
			{"archive", "default/a", "", test.want},
			{"update", "other/a", `{}`, toggles.UnknownIn("other", "a")},
			{"archive", "other/a", "", toggles.UnknownIn("other", "a")},
			{"stale", "default/", `{"features":["a"],"stale":true}`, test.wantList},
			{"stale", "default/", `{"features":["a","unknown"],"stale":true}`, toggles.UnknownIn("default", "unknown")},
			{"remove", "/a", "", test.want}, // without the precondition these two are 409
			{"revive", "/c", "", test.want},
			{"remove", "/b", "", test.want},
			{"revive", "/b", "", test.want},
			{"remove", "/unknown", "", toggles.Unknown("unknown")},
			{"revive", "/unknown", "", toggles.Unknown("unknown")},
		})
	}
	h.With("If-Match", tag).Expect(ctx, t, "stale", "default/", `{"features":["a"],"stale":true}`, toggles.NoEntityTag)
	assert.Equal(t, before, db.List(t))
	// Another client changes the toggle after it was read.
	for _, test := range []struct{ operation, path, name string }{
		{"archive", "default/a", "a"},
		{"revive", "/b", "b"},
		{"remove", "/b", "b"},
	} {
		superseded := toggles.Handlers(db.StoreOn(db.Before(t, "TransactWriteItems", 1, func() {
			h.ExpectStatus(ctx, t, "update", "default/"+test.name, `{"description":"theirs"}`, 200)
		})))
		superseded.With("If-Match", tag).Expect(ctx, t, test.operation, test.path, "", toggles.Changed)
		h.ExpectStatus(ctx, t, "update", "default/"+test.name, `{"description":null}`, 200)
	}
	h.With("If-Match", "*").Expect(ctx, t, "stale", "default/", `{"features":["a"],"stale":false}`, "202")
	toggles.Expect(ctx, t, h.With("If-Match", "W/"+tag), []toggles.Call{
		{"archive", "default/a", "", "202"},
		{"revive", "/a", "", "200"},
		{"archive", "default/a", "", "202"},
		{"remove", "/a", "", "200"},
	})
}

// A list that a Lambda function cannot return is a 400 that names the search.
func TestList(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"d","contextFields":["a"]}`, `{"name":"c"}`, `{"name":"a","archived":true}`,
		`{"name":"b","project":"p"}`)
	for i := range 13 { // 400,000 bytes each: a quotation mark is four bytes in the response of a function
		db.Put(t, db.Tables["Features"], dynamo.Item{"name": dynamo.S(fmt.Sprint(i)), "project": dynamo.S("large"),
			"description": dynamo.S(strings.Repeat(`"`, 100_000))})
	}
	// toggle returns a toggle in the list of the project.
	toggle := func(name string) string {
		return `{"name":"` + name + `","type":"release","project":"default","description":null,"impressionData":false,` +
			`"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,"owner":null,"keepUntil":null,"keepReason":null,"archivedAt":null,` +
			`"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z",` +
			`"stage":"overdue","lifecycle":{"stage":"initial","enteredStageAt":"2026-11-20T05:39:00.123Z"},"lastSeenAt":null,"environments":[],"segments":[],` +
			`"dependencies":[],"children":[],"dependencyType":null,"tags":[],"favorite":false}`
	}
	toggles.Expect(t.Context(), t, toggles.Handlers(db.Store), []toggles.Call{
		{
			"list", "large/", "",
			"400 ValidationError: The list of the 13 toggles of the project is larger than 5000000 bytes. " +
				"Use the pages of GET /api/admin/search/features?project=IS:large.",
		},
		{"list", "default/", "", `200 {"version":2,"features":[` + toggle("c") + "," + toggle("d") + `]}`},
		{"list", "unknown/", "", `200 {"version":2,"features":[]}`},
	})
}

// A list of whole toggles has pages, which end before a toggle for which a Lambda function has no room.
func TestFullList(t *testing.T) {
	t.Parallel()
	db := toggles.NewActive(t)
	for i := range 15 { // 2 fit: 400,000 bytes each in the response of a function
		db.Put(t, db.Tables["Features"], dynamo.Item{"name": dynamo.S(fmt.Sprintf("large%02d", i)), "project": dynamo.S("default"),
			"description": dynamo.S(strings.Repeat(`"`, 100_000))})
	}
	h := toggles.Handlers(db.Store)
	list := func(query string) string {
		t.Helper()
		var got struct {
			Features []struct {
				Name         string
				Environments []struct{ Strategies []toggle.Strategy }
			}
			More bool
		}
		status, _, text := h.Serve(t.Context(), operation.Request{Operation: "list", Path: "default/", Query: query})
		assert.Equal(t, 200, status)
		assert.OK(t, json.Unmarshal([]byte(text), &got))
		last := got.Features[len(got.Features)-1]
		return fmt.Sprintf("%d to %s, whole: %t, more: %t", len(got.Features), last.Name, last.Environments[0].Strategies != nil, got.More)
	}
	assert.Equal(t, "12 to large11, whole: true, more: true", list("full=true"))
	assert.Equal(t, "3 to large14, whole: true, more: false", list("full=true&after=large11"))
	assert.Equal(t, "3 to large14, whole: false, more: false", list("after=large11"))
	h.Expect(t.Context(), t, "archive", "default/large14", "", "202")
	assert.Equal(t, "1 to large14, whole: false, more: false", list("archived=true"))
	h.ExpectQuery(t.Context(), t, "list", "full=yes",
		"400 ValidationError: The `/query/full` parameter must be false or true; you sent \"yes\".")
}

// A person marks favorites, which their responses have, and nobody else's.
func TestFavorites(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","project":"p"}`, `{"name":"b","project":"p"}`)
	h := toggles.Handlers(db.Store)
	h.Handlers["add"], h.Handlers["drop"] = feature.AddFavorite(db.Store.Reader), feature.RemoveFavorite(db.Store.Reader)
	person, other := operation.Viewer(t.Context()), access.WithPrincipal(t.Context(), access.UserPrincipal(7, access.RoleViewer))
	favorites := func(ctx context.Context) int {
		one, list := h.Call(ctx, "get", "p/a", ""), h.Call(ctx, "list", "p/", "")
		return strings.Count(one+list, `"favorite":true`)
	}
	toggles.Expect(person, t, h, []toggles.Call{
		{"add", "p/a", "", "200"},
		{"add", "p/a", "", "200"},
		{"add", "q/a", "", toggles.UnknownIn("q", "a")},
	})
	assert.Equal(t, []int{2, 0}, []int{favorites(person), favorites(other)})
	toggles.Expect(person, t, h, []toggles.Call{{"drop", "p/a", "", "200"}, {"drop", "p/b", "", "200"}})
	assert.Equal(t, 0, favorites(person))
}

// The stages of Unleash that a toggle has reached.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","project":"p"}`)
	h := toggles.Handlers(db.Store)
	h.Handlers["lifecycle"] = feature.GetLifecycle(db.Store.Reader)
	const initial = `{"stage":"initial","enteredStageAt":"2026-11-20T05:39:00.123Z"}`
	h.Expect(t.Context(), t, "lifecycle", "p/a", "", "200 ["+initial+"]")
	db.See(t, "a", map[string]time.Time{"development": toggles.Now()})
	db.Update(t, "a", `{"Archived":true}`)
	h.Expect(t.Context(), t, "lifecycle", "p/a", "", "200 ["+initial+`,{"stage":"pre-live","enteredStageAt":"2026-12-30T05:39:00.000Z"},`+
		`{"stage":"archived","enteredStageAt":"2026-12-30T05:39:00.123Z"}]`)
	h.Expect(t.Context(), t, "lifecycle", "q/a", "", toggles.UnknownIn("q", "a"))
}
