package contextfield_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/test/assert"
	"toggleadmin/test/operation"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	h.Run(t.Context(), t, strings.NewReplacer("FIRST", `{"name":"first","description":null,"stickiness":false,`+
		`"sortOrder":0,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,"legalValues":[]}`,
		"VALUES", `"legalValues":[{"value":" é ","description":""},{"value":" É "},{"value":"z","description":"d"}]`).Replace(`
		create | | {"name":"first"} | 201 FIRST
		get | first | | 200 FIRST
		create | | {"name":"a.~","description":"","stickiness":true,"sortOrder":-5.0,"usedInFeatures":7,VALUES} | 201 {"name":"a.~","description":"","stickiness":true,"sortOrder":-5,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,VALUES}
		get | a.~ | | 200 {"name":"a.~","description":"","stickiness":true,"sortOrder":-5,"createdAt":"2026-11-20T05:39:00.123Z","usedInFeatures":0,"usedInProjects":0,VALUES}
		create | | {"name":"first","description":"other","sortOrder":9} | 409 NameExistsError: A context field with the name "first" exists.
		create | | {"name":"first"} | 409 NameExistsError: A context field with the name "first" exists.
	`))
	_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "create", Body: `{"name":"b"}`})
	if location := header.Get("Location"); location != "https://example.com/dev/api/admin/x/b" {
		t.Error(location)
	}
}

// Names, and the members that a creation and an update have in common.
func TestBodies(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	repeat := strings.NewReplacer("1001e", strings.Repeat("e", 1001), "1000e", strings.Repeat("e", 1000), "256e",
		strings.Repeat("e", 256), "255é", strings.Repeat("é", 255), "100e", strings.Repeat("e", 100), "101n",
		strings.Repeat("n", 101), "100n", strings.Repeat("n", 100), "100~", strings.Repeat("~", 100), "1001×{}",
		strings.Repeat("{},", 1000)+"{}", "33×{}", strings.Repeat("{},", 33),
		"400 /", "400 ValidationError: The ^/body/", "; /", " The ^/body/", "^ ", "^ property ")
	for _, members := range []string{`"description":null`, `"sortOrder":-2147483648`, `"sortOrder":2147483647`,
		`"description":"1000e","legalValues":[{"value":"255é","description":"1000e"}]`} {
		name := fmt.Sprint(len(members))
		_, _, created := h.Serve(t.Context(), operation.Request{Operation: "create",
			Body: repeat.Replace(`{"name":"` + name + `",` + members + `}`)})
		h.Want(t.Context(), t, operation.Request{Operation: "update", Path: name, Body: repeat.Replace("{" + members + "}")},
			"200 "+created)
	}
	h.Run(t.Context(), t, repeat.Replace(`
		create update | n | {"name":"n","description":"1001e"} | 400 /description^ must have at most 1000 characters; you sent "100e…".
		create update | n | {"name":"n","sortOrder":-2147483649} | 400 /sortOrder^ must be at least -2147483648; you sent -2147483649.
		create update | n | {"name":"n","sortOrder":2147483648} | 400 /sortOrder^ must be at most 2147483647; you sent 2147483648.
		create update | n | {"name":"n","sortOrder":null,"stickiness":null} | 400 /sortOrder^ must be an integer; you sent null.; /stickiness^ must be a boolean; you sent null.
		create update | n | {"name":"n","legalValues":null} | 400 /legalValues^ must be an array; you sent null.
		create update | n | {"name":"n","legalValues":["a",{},{"value":""}]} | 400 /legalValues/0^ must be an object; you sent "a".; /legalValues/1/value^ is required; you did not send it.; /legalValues/2/value^ must have 1 or more characters; you sent "".
		create update | n | {"name":"n","legalValues":[{"value":"256e"}]} | 400 /legalValues/0/value^ must have at most 255 characters; you sent "100e…".
		create update | n | {"name":"n","legalValues":[{"value":"a","description":null},{"value":"a"}]} | 400 /legalValues/0/description^ must be a string; you sent null.; /legalValues/1/value^ must be unique; you sent "a" more than once.
		create update | n | {"name":"n","legalValues":[{"value":"a","description":"1001e"}]} | 400 /legalValues/0/description^ must have at most 1000 characters; you sent "100e…".
		create update | n | {"name":"n","legalValues":[{"value":"a"},{"value":"A"},{"value":"\u0061"}]} | 400 /legalValues/2/value^ must be unique; you sent "a" more than once.
		create update | n | {"name":"n","legalValues":[1001×{}]} | 400 /legalValues^ must have at most 1000 elements; you sent [33×{}….
		# a misspelled member does not delete the values that it was meant to set
		create update | n | {"name":"n","legalvalues":[{"value":"v"}]} | 400 /legalvalues^ is unknown; the closest one is ^legalValues^.
		create | | {"name":null} | 400 /name^ must be a string; you sent null.
		create | | {"name":"."} | 400 /name^ must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent ".".
		create | | {"name":"a b"} | 400 /name^ must have only…
		create | | {"name":"é"} | 400 /name^ must have only…
		create | | {"name":""} | 400 /name^ must have 1 or more characters; you sent "".…
		create | | {"name":"101n"} | 400 /name^ must have at most 100 characters; you sent "100n…".
		create | | {} | 400 /name^ is required; you did not send it.
		create | | {"name":"100~"} | 201 {…
	`))
}

// A body of the maximum size fits into an item, whatever its escapes are: an escape is longer than what it stands for.
func TestLargestBody(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	var values []string
	for i := range 1000 { // 4-byte characters, about 100,000 bytes
		values = append(values, fmt.Sprintf(`{"value":"%04d%s"}`, i, strings.Repeat("😀", 20)))
	}
	body := `{"name":"large","legalValues":[` + strings.Join(values, ",") + `]}`
	if status, _, text := h.Serve(t.Context(), operation.Request{Operation: "create", Body: body}); status != 201 ||
		len(body) < 95_000 {
		t.Errorf("%d bytes: %d %.100s", len(body), status, text)
	}
}

func TestNextSortOrder(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	for _, tt := range []struct {
		name        string
		stored      int64 // sort order of the field that is created before
		want, again int64 // for a new field, and for the stored one
	}{{"a", -5, -4, 0}, {"b", 3, 4, -4}, {"c", math.MaxInt32, math.MaxInt32, 4},
		{"d", math.MaxInt32, math.MaxInt32, math.MaxInt32}} {
		create(t, store, contextfield.ContextField{Name: tt.name, SortOrder: tt.stored})
		for name, want := range map[string]int64{"new": tt.want, tt.name: tt.again} {
			got, err := store.NextSortOrder(t.Context(), name)
			assert.OK(t, err)
			assert.Equal(t, want, got)
		}
	}
}
