package contextfield_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
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
	handlers(store).Run(t.Context(), t, strings.NewReplacer("REST", `"createdAt":"2026-11-20T05:39:00.123Z",`+
		`"usedInFeatures":0,"usedInProjects":0,"legalValues":`,
		"400 /", "400 ValidationError: The ^/body/", "; /", " The ^/body/", "^ ", "^ property ").Replace(`
		create | | {"name":"a","description":null,"sortOrder":-2147483648} | 201 {"name":"a","description":null,"stickiness":false,"sortOrder":-2147483648,REST[]}
		update | a | {"description":null,"sortOrder":2147483647} | 200 {"name":"a","description":null,"stickiness":false,"sortOrder":2147483647,REST[]}
		update | a | {"sortOrder":-2147483648} | 200 {"name":"a","description":null,"stickiness":false,"sortOrder":-2147483648,REST[]}
		create | | {"name":"b","sortOrder":2147483647,"description":"1000×e","legalValues":[{"value":"255×é","description":"1000×e"}]} | 201 {"name":"b","description":"1000×e","stickiness":false,"sortOrder":2147483647,REST[{"value":"255×é","description":"1000×e"}]}
		update | b | {"sortOrder":1,"description":"1000×e","legalValues":[{"value":"255×é","description":"1000×e"}]} | 200 {"name":"b","description":"1000×e","stickiness":false,"sortOrder":1,REST[{"value":"255×é","description":"1000×e"}]}
		update | a | {"sortOrder":1,"legalValues":[{"value":"x","description":null},{"value":"y","description":""}]} | 200 {"name":"a","description":null,"stickiness":false,"sortOrder":1,REST[{"value":"x"},{"value":"y","description":""}]}
		create | | {"name":"c","sortOrder":1,"legalValues":[{"value":"x","description":null}]} | 201 {"name":"c","description":null,"stickiness":false,"sortOrder":1,REST[{"value":"x"}]}
		create update | n | {"name":"n","description":"1001×e"} | 400 /description^ must have at most 1000 characters; you sent "100×e…".
		create update | n | {"name":"n","sortOrder":-2147483649} | 400 /sortOrder^ must be at least -2147483648; you sent -2147483649.
		create update | n | {"name":"n","sortOrder":2147483648} | 400 /sortOrder^ must be at most 2147483647; you sent 2147483648.
		create update | n | {"name":"n","sortOrder":null,"stickiness":null} | 400 /sortOrder^ must be an integer; you sent null.; /stickiness^ must be a boolean; you sent null.
		create update | n | {"name":"n","legalValues":null} | 400 /legalValues^ must be an array; you sent null.
		create update | n | {"name":"n","legalValues":["a",{},{"value":""}]} | 400 /legalValues/0^ must be an object; you sent "a".; /legalValues/1/value^ is required; you did not send it.; /legalValues/2/value^ must have 1 or more characters; you sent "".
		create update | n | {"name":"n","legalValues":[{"value":"256×e"}]} | 400 /legalValues/0/value^ must have at most 255 characters; you sent "100×e…".
		create update | n | {"name":"n","legalValues":[{"value":"a","description":1},{"value":"a"}]} | 400 /legalValues/0/description^ must be a string or null; you sent 1.; /legalValues/1/value^ must be unique; you sent "a" more than once.
		create update | n | {"name":"n","legalValues":[{"value":"a","description":"1001×e"}]} | 400 /legalValues/0/description^ must have at most 1000 characters; you sent "100×e…".
		create update | n | {"name":"n","legalValues":[{"value":"a"},{"value":"A"},{"value":"\u0061"}]} | 400 /legalValues/2/value^ must be unique; you sent "a" more than once.
		create update | n | {"name":"n","legalValues":[1000×({},){}]} | 400 /legalValues^ must have at most 1000 elements; you sent [33×({},)….
		# a misspelled member does not delete the values that it was meant to set
		create update | n | {"name":"n","legalvalues":[{"value":"v"}]} | 400 /legalvalues^ is unknown; the closest one is ^legalValues^.
		create | | {"name":null} | 400 /name^ must be a string; you sent null.
		create | | {"name":"."} | 400 /name^ must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent ".".
		create | | {"name":"a b"} | 400 /name^ must have only…
		create | | {"name":"é"} | 400 /name^ must have only…
		create | | {"name":""} | 400 /name^ must have 1 or more characters; you sent "".…
		create | | {"name":"101×n"} | 400 /name^ must have at most 100 characters; you sent "100×n…".
		create | | {} | 400 /name^ is required; you did not send it.
		create | | {"name":"100×~"} | 201 {…
	`))
}

// A body of the maximum size fits into an item, whatever its escapes are: an escape is longer than what it stands for.
func TestLargestBody(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	var values strings.Builder
	for i := range 1000 { // 4-byte characters, about 100,000 bytes
		fmt.Fprintf(&values, `{"value":"%04d 20×😀"},`, i)
	}
	handlers(store).Run(t.Context(), t, `create | | {"name":"large","legalValues":[`+strings.TrimSuffix(values.String(), ",")+
		`]} | 201 {…`)
}

// The default is the highest sort order of the other fields plus 1.
func TestNextSortOrder(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	handlers(store).Run(t.Context(), t, strings.ReplaceAll(`
		create | | {"name":"a","sortOrder":-5} | 201 {"name":"a",ORDER-5,…
		update | a | {} | 200 {"name":"a",ORDER0,…
		update | a | {"sortOrder":-5} | 200 {…
		create | | {"name":"b"} | 201 {"name":"b",ORDER-4,…
		update | b | {} | 200 {"name":"b",ORDER-4,…
		update | a | {} | 200 {"name":"a",ORDER-3,…
		create | | {"name":"most","sortOrder":2147483647} | 201 {…
		create | | {"name":"c"} | 201 {"name":"c",ORDER2147483647,…
		delete | c | | 200
		update | most | {} | 200 {"name":"most",ORDER-2,…
	`, "ORDER", `"description":null,"stickiness":false,"sortOrder":`))
}

// Fields that are created at the same time do not get the same default.
func TestNextSortOrderIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	// through returns the operations of another function, before whose first transaction something happens.
	through := func(first string) operation.Set {
		client := db.Before(t, "TransactWriteItems", 1, func() { h.Run(t.Context(), t, first) })
		return handlers(contextfield.NewStore(client, db.Tables, db.LogThrough(client)))
	}
	order := func(name string, n int) string {
		return fmt.Sprintf(`{"name":%q,"description":null,"stickiness":false,"sortOrder":%d,…`, name, n)
	}
	h.Run(t.Context(), t, `create | | {"name":"a"} | 201 `+order("a", 0))
	through(`create | | {"name":"b"} | 201 `+order("b", 1)).Run(t.Context(), t,
		`create | | {"name":"c"} | 201 `+order("c", 2))
	through(`update | b | {"sortOrder":7} | 200 `+order("b", 7)).Run(t.Context(), t, `update | a | {} | 200 `+order("a", 8))
	through(`delete | a | | 200`).Run(t.Context(), t, `create | | {"name":"d"} | 201 `+order("d", 8))
	through(`create | | {"name":"e"} | 201 `+order("e", 9)).Run(t.Context(), t, `create | | {"name":"e"} | 409 …`)
}
