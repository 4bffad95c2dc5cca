package contextfield_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/test/helper/operation"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	const (
		values = `"legalValues":[{"value":" é ","description":""},{"value":" É ","description":null},` +
			`{"value":"z","description":"d"}]`
		field = `{"name":"a.~","description":"","stickiness":true,"sortOrder":-5,"createdAt":"2026-11-20T05:39:00.123Z",` +
			`"usedInFeatures":0,"usedInProjects":0,` + values + `}`
	)
	expect(t, h, []call{
		{"create", "", `{"name":"first"}`, "201 " + plain("first", 0)},
		{"get", "first", "", "200 " + plain("first", 0)},
		{
			"create", "", `{"name":"a.~","description":"","stickiness":true,"sortOrder":-5.0,"usedInFeatures":7,` + values + `}`,
			"201 " + field,
		},
		{"get", "a.~", "", "200 " + field},
		{"create", "", `{"name":"first","description":"other","sortOrder":9}`, exists("first")},
		{"create", "", `{"name":"first"}`, exists("first")},
	})
	_, header, _ := h.Serve(t.Context(), operation.Request{Operation: "create", Body: `{"name":"b"}`})
	if location := header.Get("Location"); location != "https://example.com/dev/api/admin/x/b" {
		t.Error(location)
	}
}

// A creation and an update accept the limits of each property.
func TestBodies(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	long := `"` + strings.Repeat("e", 1000) + `"`
	value := `{"value":"` + strings.Repeat("é", 255) + `","description":` + long + `}`
	longest := strings.Repeat("~", 100)
	expect(t, handlers(store), []call{
		{"create", "", `{"name":"a","description":null,"sortOrder":-2147483648}`, "201 " + plain("a", -2147483648)},
		{"update", "a", `{"description":null,"sortOrder":2147483647}`, "200 " + plain("a", 2147483647)},
		{"update", "a", `{"sortOrder":-2147483648}`, "200 " + plain("a", -2147483648)},
		{
			"create", "", `{"name":"b","sortOrder":2147483647,"description":` + long + `,"legalValues":[` + value + `]}`,
			"201 " + described("b", long, 2147483647, value),
		},
		{
			"update", "b", `{"sortOrder":1,"description":` + long + `,"legalValues":[` + value + `]}`,
			"200 " + described("b", long, 1, value),
		},
		{
			"update", "a", `{"sortOrder":1,"legalValues":[{"value":"x"},{"value":"y","description":""}]}`,
			"200 " + described("a", "null", 1, `{"value":"x","description":null},{"value":"y","description":""}`),
		},
		{
			"create", "", `{"name":"c","sortOrder":1,"legalValues":[{"value":"x","description":null}]}`,
			"201 " + described("c", "null", 1, `{"value":"x","description":null}`),
		},
		{"create", "", `{"name":"` + longest + `","sortOrder":1}`, "201 " + plain(longest, 1)},
	})
}

// Both operations reject the same bodies.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	for _, test := range []struct{ properties, message string }{
		{
			`"description":"` + strings.Repeat("e", 1001) + `"`,
			"The `/body/description` property must have at most 1000 characters; you sent \"" +
				strings.Repeat("e", 100) + "…\".",
		},
		{
			`"sortOrder":-2147483649`,
			"The `/body/sortOrder` property must be at least -2147483648; you sent -2147483649.",
		},
		{
			`"sortOrder":2147483648`,
			"The `/body/sortOrder` property must be at most 2147483647; you sent 2147483648.",
		},
		{
			`"sortOrder":null,"stickiness":null`,
			"The `/body/sortOrder` property must be an integer; you sent null. " +
				"The `/body/stickiness` property must be a boolean; you sent null.",
		},
		{
			`"legalValues":null`,
			"The `/body/legalValues` property must be an array; you sent null.",
		},
		{
			`"legalValues":["a",{},{"value":""}]`,
			"The `/body/legalValues/0` property must be an object; you sent \"a\". " +
				"The `/body/legalValues/1/value` property is required; you did not send it. " +
				"The `/body/legalValues/2/value` property must have 1 or more characters; you sent \"\".",
		},
		{
			`"legalValues":[{"value":"` + strings.Repeat("e", 256) + `"}]`,
			"The `/body/legalValues/0/value` property must have at most 255 characters; you sent \"" +
				strings.Repeat("e", 100) + "…\".",
		},
		{
			`"legalValues":[{"value":"a","description":1},{"value":"a"}]`,
			"The `/body/legalValues/0/description` property must be a string or null; you sent 1. " +
				"The `/body/legalValues/1/value` property must be unique among the legal values; you sent \"a\".",
		},
		{
			`"legalValues":[{"value":"a","description":"` + strings.Repeat("e", 1001) + `"}]`,
			"The `/body/legalValues/0/description` property must have at most 1000 characters; you sent \"" +
				strings.Repeat("e", 100) + "…\".",
		},
		{
			`"legalValues":[{"value":"a"},{"value":"A"},{"value":"\u0061"}]`,
			"The `/body/legalValues/2/value` property must be unique among the legal values; you sent \"a\".",
		},
		{
			`"legalValues":[` + strings.Repeat("{},", 1000) + `{}]`,
			"The `/body/legalValues` property must have at most 1000 elements; you sent [" +
				strings.Repeat("{},", 33) + "….",
		},
		{ // a misspelled property does not delete the values that it was meant to set
			`"legalvalues":[{"value":"v"}]`,
			"The `/body/legalvalues` property is unknown; the closest one is `legalValues`.",
		},
	} {
		body := `{"name":"n",` + test.properties + `}`
		h.Expect(t.Context(), t, "create", "", body, "400 ValidationError: "+test.message)
		h.Expect(t.Context(), t, "update", "n", body, "400 ValidationError: "+test.message)
	}
}

func TestInvalidNames(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	const characters = "must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..; you sent "
	for _, test := range []struct{ body, message string }{
		{`{}`, "is required; you did not send it."},
		{`{"name":null}`, "must be a string; you sent null."},
		{`{"name":"."}`, characters + `".".`},
		{`{"name":"a b"}`, characters + `"a b".`},
		{`{"name":"é"}`, characters + `"é".`},
		{
			`{"name":""}`,
			`must have 1 or more characters; you sent "".`,
		},
		{
			`{"name":"` + strings.Repeat("n", 101) + `"}`,
			`must have at most 100 characters; you sent "` + strings.Repeat("n", 100) + `…".`,
		},
	} {
		h.Expect(t.Context(), t, "create", "", test.body,
			"400 ValidationError: The `/body/name` property "+test.message)
	}
}

// A body of the maximum size fits into an item, whatever its escapes are: an escape is longer than what it stands for.
func TestLargestBody(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	var values []string
	for i := range 1000 { // 4-byte characters, about 100,000 bytes
		values = append(values, fmt.Sprintf(`{"value":"%04d %s"}`, i, strings.Repeat("😀", 20)))
	}
	handlers(store).ExpectStatus(t.Context(), t, "create", "",
		`{"name":"large","legalValues":[`+strings.Join(values, ",")+`]}`, 201)
}

// The default is the highest sort order of the other fields plus 1.
func TestNextSortOrder(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	expect(t, handlers(store), []call{
		{"create", "", `{"name":"a","sortOrder":-5}`, "201 " + plain("a", -5)},
		{"update", "a", `{}`, "200 " + plain("a", 0)},
		{"update", "a", `{"sortOrder":-5}`, "200 " + plain("a", -5)},
		{"create", "", `{"name":"b"}`, "201 " + plain("b", -4)},
		{"update", "b", `{}`, "200 " + plain("b", -4)},
		{"update", "a", `{}`, "200 " + plain("a", -3)},
		{"create", "", `{"name":"most","sortOrder":2147483647}`, "201 " + plain("most", 2147483647)},
		{"create", "", `{"name":"c"}`, "201 " + plain("c", 2147483647)},
		{"delete", "c", "", "200"},
		{"update", "most", `{}`, "200 " + plain("most", -2)},
	})
}

// Fields that are created at the same time do not get the same default.
func TestNextSortOrderIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	h.Expect(t.Context(), t, "create", "", `{"name":"a"}`, "201 "+plain("a", 0))
	for _, test := range []struct{ meanwhile, call call }{
		{
			meanwhile: call{"create", "", `{"name":"b"}`, "201 " + plain("b", 1)},
			call:      call{"create", "", `{"name":"c"}`, "201 " + plain("c", 2)},
		},
		{
			meanwhile: call{"update", "b", `{"sortOrder":7}`, "200 " + plain("b", 7)},
			call:      call{"update", "a", `{}`, "200 " + plain("a", 8)},
		},
		{
			meanwhile: call{"delete", "a", "", "200"},
			call:      call{"create", "", `{"name":"d"}`, "201 " + plain("d", 8)},
		},
		{
			meanwhile: call{"create", "", `{"name":"e"}`, "201 " + plain("e", 9)},
			call:      call{"create", "", `{"name":"e"}`, exists("e")},
		},
	} {
		client := db.Before(t, "TransactWriteItems", 1, func() { expect(t, h, []call{test.meanwhile}) })
		other := handlers(contextfield.NewStore(client, db.Tables, db.LogThrough(client)))
		expect(t, other, []call{test.call})
	}
}
