package feature_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
)

// handlers returns the operations on a store.
func handlers(store *feature.Store) operation.Set {
	return operation.Set{Parameters: []string{"projectId", "featureName"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create": feature.Create(store, now), "update": feature.Update(store), "stale": feature.MarkStale(store),
		"get": feature.Get(store), "list": feature.List(store),
		"search": feature.Search(store), "count": feature.Count(store), "archive": feature.Archive(store), "revive": feature.Revive(store),
		"remove": feature.Delete(store),
	}}
}

// The life of a toggle, with the response of each step.
func TestOperations(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	all := handlers(db.store)
	ctx := access.WithPrincipal(t.Context(), access.Principal{ID: "user:7", UserID: 7, Name: "ada"})
	const made = `"createdAt":"2026-12-30T05:39:00.123Z","createdBy":{"id":7,"name":"ada","imageUrl":""}`
	const rest = `"environments":[],"segments":[],"tags":[],"favorite":false,"dependencyType":null,"contextFields":[]`
	all.Run(ctx, t, strings.NewReplacer("MADE", made, "REST", rest,
		"GONE", `404 NotFoundError: There is no toggle with the name "a"`,
		"EXISTS", `409 NameExistsError: A toggle with the name "a" exists.`,
		"FIRST", `{"name":"a","type":"release","project":"p","description":null,"impressionData":false,"stale":false,`+
			`"archived":false,`+made+`,"archivedAt":null,"potentiallyStale":false,`+
			`"potentiallyStaleAt":"2027-02-08T05:39:00.123Z",`+rest+`}`).Replace(`
		get | p/a | | GONE in the project "p".
		create | p/ | {"name":"a"} | 201 FIRST
		create | q/ | {"name":"a"} | EXISTS
		get | p/a | | 200 FIRST
		update | p/a | {} | 200 FIRST
		# read-only members are ignored
		update | p/a | {"name":"b","project":"q","archived":true,"createdAt":7} | 200 FIRST
		update | p/a | {"type":"endless","description":"","impressionData":true,"stale":true} | 200 {"name":"a","type":"endless","project":"p","description":"","impressionData":true,"stale":true,"archived":false,MADE,"archivedAt":null,"potentiallyStale":false,"potentiallyStaleAt":null,REST}
		update | p/a | {} | 200 {"name":"a","type":"endless","project":"p","description":"","impressionData":true,"stale":true…
		update | p/a | {"description":null} | 200 {"name":"a","type":"endless","project":"p","description":null,"impressionData":true,"stale":true…
		stale | p/ | {"features":["a","a"],"stale":false} | 202
		remove | p/a | | 409 ConflictError: The toggle "a" is not archived. Archive it first.
		revive | p/a | | 200
		archive | p/a | | 202
		archive | p/a | | 202
		get | p/a | | 200 {"name":"a","type":"endless","project":"p","description":null,"impressionData":true,"stale":false,"archived":true,MADE,"archivedAt":"2026-12-30T05:39:00.123Z","potentiallyStale":false,"potentiallyStaleAt":null,REST}
		create | p/ | {"name":"a"} | EXISTS
		update | p/a | {"description":"d"} | 200 {"name":"a","type":"endless","project":"p","description":"d","impressionData":true,"stale":false,"archived":true…
		revive | p/a | | 200
		revive | p/a | | 200
		get | p/a | | 200 {"name":"a","type":"endless","project":"p","description":"d","impressionData":true,"stale":false,"archived":false,MADE,"archivedAt":null,"potentiallyStale":false,"potentiallyStaleAt":null,REST}
		archive | p/a | | 202
		remove | p/a | | 200
		get update archive | p/a | {} | GONE in the project "p".
		revive remove | p/a | | GONE.
		revive remove | /%FF | | 404 NotFoundError: There is no toggle with the name "%FF".
	`))
	want, err := os.ReadFile("testdata/events.txt")
	assert.OK(t, err)
	assert.Equal(t, string(want), strings.Join(database.About(db.Events(t), "toggle:a"), "\n")+"\n")
	_, header, _ := all.Serve(ctx, operation.Request{Operation: "create", Path: "p/", Body: `{"name":"b"}`})
	assert.Equal(t, "https://example.com/dev/api/admin/x/b", header.Get("Location"))
}

// The name of a creator can be removed, and is not in the events of the toggle.
func TestRemoveCreatorName(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, `{"name":"of-ada","createdBy":{"id":1,"name":"ada"}}`,
		`{"name":"of-eve","createdBy":{"id":2,"name":"eve"}}`, `{"name":"foreign","createdBy":{"name":"bob"}}`)
	for range 2 {
		assert.OK(t, db.store.RemoveCreatorName(t.Context(), 1))
	}
	handlers(db.store).Run(t.Context(), t, `
		list | default/ | | 200 {"version":2,"features":[{"name":"foreign","type":"release","project":"default","description":null,"impressionData":false,"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z","environments":[],"segments":[],"tags":[],"favorite":false,"dependencyType":null},{"name":"of-ada","type":"release","project":"default","description":null,"impressionData":false,"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":{"id":1,"name":"user:1","imageUrl":""},"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z","environments":[],"segments":[],"tags":[],"favorite":false,"dependencyType":null},{"name":"of-eve","type":"release","project":"default","description":null,"impressionData":false,"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":{"id":2,"name":"eve","imageUrl":""},"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z","environments":[],"segments":[],"tags":[],"favorite":false,"dependencyType":null}]}
	`)
	assert.Equal(t, "bob", db.get(t, "foreign").CreatedBy.Name)
	text := strings.Join(db.Events(t), " ")
	assert.Equal(t, []string{`"createdBy":"bob"`},
		regexp.MustCompile(`"createdBy":"\w+"|"(ada|eve)"`).FindAllString(text, -1))
}

// An operation with a project finds only its toggles, and refuses an impossible project and body. A toggle whose
// context field was deleted cannot be revived.
func TestRefusals(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, `{"name":"a"}`, `{"name":"b","project":"p"}`,
		`{"name":"c","contextFields":["b","gone"],"archived":true}`)
	handlers(db.store).Run(t.Context(), t, strings.NewReplacer("PROJECT", "400 ValidationError: The ^/params/projectId^ property must have 1 to 100 of…", "400 ^",
		"400 ValidationError: The ^/body/").Replace(`
		get update archive | q/a | {} | 404 NotFoundError: There is no toggle with the name "a" in the project "q".
		get update archive | q/%FF | {} | 404 NotFoundError: There is no toggle with the name "%FF" in the project "q".
		get update archive list | %FF/a | {} | PROJECT
		get update archive list | a b/a | {} | PROJECT
		# clients remove these segments from a path
		get update archive list | ./a | {} | PROJECT
		get update archive list | ../a | {} | PROJECT
		create | ../ | {"name":"n"} | PROJECT
		stale | ../ | {"features":["a"],"stale":true} | PROJECT
		get update archive list | 101×x/a | {} | PROJECT
		create | a b/ | {"name":"n"} | PROJECT
		stale | a b/ | {"features":["a"],"stale":true} | PROJECT
		create | p/ | {"name":"revive"} | 400 ^name^ property must not be "revive"…
		create | p/ | {"name":".."} | 400 ^name^ property must have only the characters A-Z…
		create | p/ | {"Name":"n","name":"n"} | 400 ^Name^ property is unknown; the closest one is ^name^.
		create | p/ | {"name":"n","type":"other"} | 400 ^type^ property must be the id of a feature type; you sent "other".
		create | p/ | {"name":"n","description":"1001×é"} | 400 ^description^ property must have at most 1000 characters…
		update | q/a | {"type":"other"} | 400 ^type^…
		update | q/a | {"state":true} | 400 ^state^ property is unknown; the closest one is ^stale^.
		stale | default/ | {"stale":true,"features":[50×("a",)"a"]} | 400 ^features^ property must have at most 50 elements…
		stale | default/ | {"stale":true,"features":["a","b"]} | 404 NotFoundError: There is no toggle with the name "b" in the project "default".
		stale | default/ | {"stale":true,"features":["a","x"]} | 404 NotFoundError: There is no toggle with the name "x" in the project "default".
		get | default/c | | 200 {"name":"c","type":"release","project":"default","description":null,"impressionData":false,"stale":false,"archived":true,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,"archivedAt":"2026-12-30T05:39:00.123Z","potentiallyStale":false,"potentiallyStaleAt":null…
		revive | /c | | 409 ConflictError: The toggle uses the context field "gone", which does not exist. Create the field first.
	`))
	if db.get(t, "a").Stale || !db.get(t, "c").Archived {
		t.Error("a refused operation has written")
	}
}

// The tag of a toggle changes with what an update can overwrite, and not with flips. It is compared by the write.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	db, ctx := newTables(t), t.Context()
	h := handlers(db.store)
	db.create(t, `{"name":"a","type":"long"}`)
	tag := func() string {
		_, header, _ := h.Serve(ctx, operation.Request{Operation: "get", Path: "default/a"})
		return header.Get("ETag")
	}
	first, known := tag(), map[string]string{}
	for _, body := range []string{`{}`, `{"description":""}`, `{"impressionData":true}`, `{"type":"short"}`,
		`{"stale":true}`} {
		h.Serve(ctx, operation.Request{Operation: "update", Path: "default/a", Body: body})
		if known[tag()] != "" {
			t.Errorf("%s has the tag of %s", body, known[tag()])
		}
		known[tag()] = body
	}
	const reset = `update | default/a | {"description":null,"impressionData":false,"type":"long","stale":false} | `
	h.With("If-Match", first).Run(ctx, t, reset+"412 PreconditionFailed: The resource has changed…")
	h.With("If-Match", tag()).Run(ctx, t, reset+"200 {…")
	f := db.get(t, "a")
	db.flip(t, rangeOf(f, false), f, true)
	if tag() != first || !db.get(t, "a").PotentiallyStale {
		t.Error("a flip changes the tag")
	}
	// Another client changes the toggle after it was read.
	overtaken := handlers(db.through(db.Before(t, "TransactWriteItems", 1, func() {
		h.Run(ctx, t, `update | default/a | {"description":"theirs"} | 200 {…`)
	})))
	overtaken.With("If-Match", first).Run(ctx, t, `
		update | default/a | {"description":"mine"} | 412 PreconditionFailed: …`)
	assert.Equal(t, "theirs", *db.get(t, "a").Description)
}

// Every change evaluates preconditions: after a 404, before a 409, and in the write.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	db, ctx := newTables(t), t.Context()
	h := handlers(db.store)
	db.create(t, `{"name":"a"}`, `{"name":"b","archived":true}`, `{"name":"c","archived":true,"contextFields":["gone"]}`)
	before := db.list(t)
	_, header, _ := h.Serve(ctx, operation.Request{Operation: "get", Path: "default/a"}) // b and c have the same tag
	tag := header.Get("ETag")
	for name, value := range map[string]string{"If-Match": `"old"`, "If-None-Match": "*"} {
		h.With(name, value).Run(ctx, t, strings.ReplaceAll(`
			update archive | default/a | {"description":"d"} | FAILED
			update archive | other/a | {} | 404 …
			stale | default/ | {"features":["a"],"stale":true} | FAILED
			stale | default/ | {"features":["a","unknown"],"stale":true} | 404 …
			# these are 409 without the precondition
			remove | /a | | FAILED
			revive | /c | | FAILED
			remove revive | /b | | FAILED
			remove revive | /unknown | | 404 …
		`, "FAILED", "412 PreconditionFailed: …"))
	}
	// The resource of this path has no tag.
	h.With("If-Match", tag).Run(ctx, t, `stale | default/ | {"features":["a"],"stale":true} | 412 PreconditionFailed: …`)
	assert.Equal(t, before, db.list(t))
	// Another client changes the toggle after it was read.
	for _, request := range []string{"archive | default/a", "revive remove | /b"} {
		_, path, _ := strings.Cut(request, "/")
		overtaken := handlers(db.through(db.Before(t, "TransactWriteItems", 1, func() {
			h.Run(ctx, t, `update | default/`+path+` | {"description":"theirs"} | 200 {…`)
		})))
		overtaken.With("If-Match", tag).Run(ctx, t, request+" | | 412 PreconditionFailed: …")
		h.Run(ctx, t, `update | default/`+path+` | {"description":null} | 200 {…`)
	}
	h.With("If-Match", "*").Run(ctx, t, `stale | default/ | {"features":["a"],"stale":false} | 202`)
	h.With("If-Match", "W/"+tag).Run(ctx, t, `
		archive | default/a | | 202
		revive | /a | | 200
		archive | default/a | | 202
		remove | /a | | 200
	`)
}

// A list that a Lambda function cannot return is a 400 that names the search.
func TestList(t *testing.T) {
	t.Parallel()
	db := newTables(t)
	db.create(t, `{"name":"d","contextFields":["a"]}`, `{"name":"c"}`, `{"name":"a","archived":true}`,
		`{"name":"b","project":"p"}`)
	for i := range 13 { // 400,000 bytes each: a quotation mark is four bytes in the response of a function
		db.Put(t, db.Tables.Features, dynamo.Item{"name": dynamo.S(fmt.Sprint(i)), "project": dynamo.S("large"),
			"description": dynamo.S(strings.Repeat(`"`, 100_000))})
	}
	handlers(db.store).Run(t.Context(), t, `
		list | large/ | | 400 ValidationError: The list of the 13 toggles of the project is too large. Use GET /api/admin/search/features?project=IS:large.
		list | default/ | | 200 {"version":2,"features":[{"name":"c","type":"release","project":"default","description":null,"impressionData":false,"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z","environments":[],"segments":[],"tags":[],"favorite":false,"dependencyType":null},{"name":"d",…
		list | unknown/ | | 200 {"version":2,"features":[]}
	`)
}
