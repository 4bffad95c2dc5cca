package serviceaccount_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

// TestUpdateAndList also checks the form of the list.
func TestUpdateAndList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "one", 0)
	f.account(t, "two", 2)
	const (
		created = `"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null`
		expires = `"expiresAt":"2027-11-20T05:39:00.123Z"`
		rest    = created + `,"isAPI":false,"tokens":[` +
			`{"id":1,` + created + `,"userId":3,"description":"token 0",` + expires + `},` +
			`{"id":2,` + created + `,"userId":3,"description":"token 1",` + expires + `}]}`
	)
	f.expect(t, []call{
		{"update", "3", `{}`, `200 {"id":3,"name":"two","username":"two","rootRole":2,` + rest},
		{"update", "3", `{"name":" new "}`, `200 {"id":3,"name":" new ","username":"two","rootRole":2,` + rest},
		{
			"update", "3", `{"rootRole":1,"username":"two"}`,
			`200 {"id":3,"name":" new ","username":"two","rootRole":1,` + rest,
		},
		{
			"update", "3", `{"disabled":true}`,
			`200 {"id":3,"name":" new ","username":"two","rootRole":1,` + rest,
		},
		{
			"update", "3", `{"rootRole":3,"name":"newer"}`,
			`200 {"id":3,"name":"newer","username":"two","rootRole":3,` + rest,
		},
		{"update", "1", `{"rootRole":3}`, noAccount("1")}, // a person
		{"update", "4", `{}`, noAccount("4")},
		{"update", "3.5", `{}`, noAccount("3.5")},
		{
			"list", "", "",
			`200 {"serviceAccounts":[` +
				`{"id":2,"name":"one","username":"one","rootRole":2,` + created + `,"isAPI":false,"tokens":[]},` +
				`{"id":3,"name":"newer","username":"two","rootRole":3,` + rest + `],` +
				`"rootRoles":[{"id":1,"name":"Admin","type":"root","description":"May use every operation."},` +
				`{"id":2,"name":"Editor","type":"root","description":"May change context fields, tag types, ` +
				`segments and the toggles of open projects, and create projects."},` +
				`{"id":3,"name":"Viewer","type":"root",` +
				`"description":"May read everything outside private projects."}]}`,
		},
	})
	for query, want := range map[string]string{"disabled=true": "3", "disabled=false": "2", "disabled=all": "2 3"} {
		_, _, text := f.Serve(t.Context(), operation.Request{Operation: "list", Query: query})
		var got struct{ ServiceAccounts []struct{ ID json.Number } }
		assert.OK(t, json.Unmarshal([]byte(text), &got))
		var ids []string
		for _, a := range got.ServiceAccounts {
			ids = append(ids, a.ID.String())
		}
		assert.Equal(t, want, strings.Join(ids, " "))
	}
	f.ExpectQuery(t.Context(), t, "list", "disabled=yes",
		"400 ValidationError: The `/query/disabled` parameter must be all or true or false; you sent \"yes\".")
}

func TestUpdateRejectsInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "one", 0)
	for _, test := range []struct{ body, message string }{
		{`{"name":null}`, "The `/body/name` property must be a string; you sent null."},
		{
			`{"name":""}`,
			"The `/body/name` property must have 1 or more characters; you sent \"\".",
		},
		{`{"username":"two","name":"n"}`, "The `/body/username` property must be \"one\", which does not change; you sent \"two\"."},
		{`{"rootRole":4}`, "The `/body/rootRole` property must be the id or the name of a root role; you sent 4."},
	} {
		f.Expect(t.Context(), t, "update", "2", test.body, "400 ValidationError: "+test.message)
	}
}
