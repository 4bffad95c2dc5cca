package contextfield_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/test/database"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := newHandlers(t, store)
	for _, tt := range []struct{ body, want string }{
		{`{"name":"first"}`,
			`{"name":"first","description":null,"stickiness":false,"sortOrder":0,"createdAt":"2026-11-20T05:39:00.123Z",` +
				`"usedInFeatures":0,"usedInProjects":0,"legalValues":[]}`},
		{`{"name":"a.~","description":"","stickiness":true,"sortOrder":-5.0,"usedInFeatures":7,` +
			`"legalValues":[{"value":" é ","description":""},{"value":" É "},{"value":"z","description":"d"}]}`,
			`{"name":"a.~","description":"","stickiness":true,"sortOrder":-5,"createdAt":"2026-11-20T05:39:00.123Z",` +
				`"usedInFeatures":0,"usedInProjects":0,"legalValues":[{"value":" é ","description":""},{"value":" É "},{"value":"z","description":"d"}]}`},
	} {
		status, header, text := serve(t.Context(), h.create, "", tt.body)
		name, _, _ := strings.Cut(tt.want[len(`{"name":"`):], `"`)
		if location := header.Get("Location"); status != 201 || text != tt.want ||
			location != "https://example.com/dev/api/admin/context/"+name {
			t.Errorf("%d %s %s", status, location, text)
		}
		requireServed(t, h.get, name, "", 200, tt.want)
	}
	const exists = `NameExistsError: A context field with the name "first" exists.`
	requireServed(t, h.create, "", `{"name":"first","description":"other","sortOrder":9}`, 409, exists)
	requireServed(t, h.create, "", `{"name":"first"}`, 409, exists)
}

// Names, and the members that a creation and an update have in common.
func TestBodies(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := newHandlers(t, store)
	property := func(pointer, text string) string { return "The `/body/" + pointer + "` property " + text }
	text := strings.Repeat
	for _, tt := range []struct{ name, members, want string }{
		{"longest texts", `"description":"` + text("é", 1000) + `","legalValues":[{"value":"` + text("é", 255) +
			`","description":"` + text("é", 1000) + `"}]`, ""},
		{"null description", `"description":null`, ""},
		{"lowest order", `"sortOrder":-2147483648`, ""},
		{"highest order", `"sortOrder":2147483647`, ""},
		{"long description", `"description":"` + text("e", 1001) + `"`,
			property("description", "must have at most 1000 characters; you sent \""+text("e", 100)+"…\".")},
		{"order below", `"sortOrder":-2147483649`,
			property("sortOrder", "must be at least -2147483648; you sent -2147483649.")},
		{"order above", `"sortOrder":2147483648`, property("sortOrder", "must be at most 2147483647; you sent 2147483648.")},
		{"nulls", `"sortOrder":null,"stickiness":null,"legalValues":null`,
			property("legalValues", "must be an array; you sent null. ") +
				property("sortOrder", "must be an integer; you sent null. ") + property("stickiness",
				"must be a boolean; you sent null.")},
		{"invalid legal values", `"legalValues":["a",{},{"value":""},{"value":"` + text("v", 256) +
			`"},{"value":"a","description":null},{"value":"a"}]`,
			property("legalValues/0", `must be an object; you sent "a". `) + property("legalValues/1/value",
				"is required; you did not send it. ") +
				property("legalValues/2/value", `must have 1 or more characters; you sent "". `) +
				property("legalValues/3/value", `must have at most 255 characters; you sent "`+text("v", 100)+`…". `) +
				property("legalValues/4/description", "must be a string; you sent null. ") +
				property("legalValues/5/value", `must be unique; you sent "a" more than once.`)},
		{"long description of a value", `"legalValues":[{"value":"a","description":"` + text("d", 1001) + `"}]`,
			property("legalValues/0/description", `must have at most 1000 characters; you sent "`+text("d", 100)+`…".`)},
		{"duplicate values", `"legalValues":[{"value":"a"},{"value":"A"},{"value":"\u0061"},{"value":"a"}]`,
			property("legalValues/2/value", `must be unique; you sent "a" more than once. `) + property("legalValues/3/value",
				`must be unique; you sent "a" more than once.`)},
		{"too many values", `"legalValues":[` + text("{},", 1000) + `{}]`,
			property("legalValues", "must have at most 1000 elements; you sent ["+text("{},", 33)+"….")},
	} {
		status, want := http.StatusBadRequest, "ValidationError: "+tt.want
		if tt.want == "" {
			create, _, created := serve(t.Context(), h.create, "",
				`{"name":"`+strings.ReplaceAll(tt.name, " ", "-")+`",`+tt.members+`}`)
			update, _, updated := serve(t.Context(), h.update, strings.ReplaceAll(tt.name, " ", "-"), `{`+tt.members+`}`)
			if create != 201 || update != 200 || created != updated {
				t.Errorf("%s: %d %s\n%d %s", tt.name, create, created, update, updated)
			}
			continue
		}
		requireServed(t, h.create, "", `{"name":"n",`+tt.members+`}`, status, want)
		requireServed(t, h.update, "n", `{`+tt.members+`}`, status, want)
	}
	const characters = "must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent "
	for name, want := range map[string]string{
		`null`: "must be a string; you sent null.", `"."`: characters + `".".`, `".."`: characters + `"..".`,
		`"a b"`: characters + `"a b".`, `"é"`: characters + `"é".`,
		`""`:                       `must have 1 or more characters; you sent "". ` + property("name", characters+`"".`),
		`"` + text("n", 101) + `"`: `must have at most 100 characters; you sent "` + text("n", 100) + `…".`,
	} {
		requireServed(t, h.create, "", `{"name":`+name+`}`, 400, "ValidationError: "+property("name", want))
	}
	requireServed(t, h.create, "", `{}`, 400, "ValidationError: "+property("name", "is required; you did not send it."))
	if status, _, text := serve(t.Context(), h.create, "", `{"name":"`+text("~", 100)+`"}`); status != 201 {
		t.Error(text)
	}
}

// A body of the maximum size fits into an item, whatever its escapes are: an escape is longer than what it stands for.
func TestLargestBody(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := newHandlers(t, store)
	var values []string
	for i := range 1000 { // 4-byte characters, about 100,000 bytes
		values = append(values, fmt.Sprintf(`{"value":"%04d%s"}`, i, strings.Repeat("😀", 20)))
	}
	body := `{"name":"large","legalValues":[` + strings.Join(values, ",") + `]}`
	if status, _, text := serve(t.Context(), h.create, "", body); status != 201 || len(body) < 95_000 {
		t.Errorf("%d bytes: %d %.100s", len(body), status, text)
	}
}

func TestNextSortOrder(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	for _, tt := range []struct {
		name        string
		stored      int64 // sort order of the field that is created before
		want, again int64 // for a new field, and for the stored one
	}{{"a", -5, -4, 0}, {"b", 3, 4, -4}, {"c", math.MaxInt32, math.MaxInt32, 4},
		{"d", math.MaxInt32, math.MaxInt32, math.MaxInt32}} {
		create(t, store, db, contextfield.ContextField{Name: tt.name, SortOrder: tt.stored})
		for name, want := range map[string]int64{"new": tt.want, tt.name: tt.again} {
			if got, err := store.NextSortOrder(t.Context(), name); got != want || err != nil {
				t.Errorf("%s: %d, %v, want %d", name, got, err, want)
			}
		}
	}
}

// A creation or deletion that was carried out succeeds, even if the first response is lost.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	_, db := newStore(t)
	client, tap := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.N%2 == 1 {
			return c.Lose()
		}
		return c.Pass()
	})
	store := contextfield.NewStore(client, db.Tables, db.LogThrough(client))
	if err := store.Create(t.Context(), contextfield.ContextField{Name: "a"}); err != nil {
		t.Error(err)
	}
	if err := store.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if calls := strings.Fields(tap.Calls()); len(calls) != 6 {
		t.Error(calls)
	}
}
