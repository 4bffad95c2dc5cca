package serviceaccount_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Expect(t.Context(), t, "create", "", `{"username":"ci","name":" Nightly build ","rootRole":3.0,"id":7}`,
		`201 {"id":2,"name":" Nightly build ","username":"ci","rootRole":3,"createdAt":"2026-11-20T05:39:00.123Z",`+
			`"seenAt":null,"isAPI":false,"tokens":[]}`)
	for _, username := range []string{"ci", "cI"} {
		f.Expect(t.Context(), t, "create", "", `{"username":"`+username+`","name":"n","rootRole":1}`, usernameExists)
	}
	longest := strings.Repeat("é", 255)
	for _, username := range []string{"ci 2", "é", "ada@example.com", longest} {
		f.ExpectStatus(t.Context(), t, "create", "", `{"username":"`+username+`","name":"`+longest+`","rootRole":1}`, 201)
	}
}

func TestCreateRejectsInvalidBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, test := range []struct{ body, message string }{
		{
			"{}",
			"The `/body/name` property is required; you did not send it. " +
				"The `/body/rootRole` property is required; you did not send it. " +
				"The `/body/username` property is required; you did not send it.",
		},
		{
			`{"username":" a","name":"n","rootRole":1}`,
			"The `/body/username` property must have no white space at either end; you sent \" a\".",
		},
		{
			`{"username":"a\u3000","name":"n","rootRole":1}`,
			"The `/body/username` property must have no white space at either end; you sent \"a\u3000\".",
		},
		{
			`{"username":"\u2003","name":" \t","rootRole":1}`,
			"The `/body/name` property must not be only white space; you sent \" \\t\". " +
				"The `/body/username` property must have no white space at either end; you sent \"\u2003\".",
		},
		{
			`{"username":"` + strings.Repeat("é", 256) + `","name":"n","rootRole":1}`,
			"The `/body/username` property must have at most 255 characters; you sent \"" + strings.Repeat("é", 100) + "…\".",
		},
		{
			`{"username":"u","name":"n","rootRole":0}`,
			"The `/body/rootRole` property must be the id or the name of a root role; you sent 0.",
		},
		{
			`{"username":"u","name":"n","rootRole":4}`,
			"The `/body/rootRole` property must be the id or the name of a root role; you sent 4.",
		},
		{
			`{"username":"u","name":"n","rootRole":"1"}`,
			"The `/body/rootRole` property must be an integer; you sent \"1\".",
		},
	} {
		f.Expect(t.Context(), t, "create", "", test.body, "400 ValidationError: "+test.message)
	}
}

func TestCreateAboveTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Put(t, f.Tables["Users"], dynamo.Item{"id": dynamo.N(0), "lastAccountId": dynamo.N(access.MaxID)})
	f.Expect(t.Context(), t, "create", "", `{"username":"ci","name":"n","rootRole":2}`,
		"403 NoAccessError: All ids of accounts, up to 2147483647, are used up.")
}

// A deleted account makes room for another one, once.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Handlers["create"] = serviceaccount.Create(f.users, role.NewStore(f.Client, f.Tables, nil), now, 2)
	create := func(username string, status int) {
		t.Helper()
		body := `{"username":"` + username + `","name":"n","rootRole":2}`
		f.ExpectStatus(t.Context(), t, "create", "", body, status)
	}
	create("a", 201)
	create("b", 201)
	f.expect(t, []call{
		{"create", "", `{"username":"c","name":"n","rootRole":2}`, tooMany},
		{"delete", "2", "", "200"},
		{"delete", "2", "", noAccount("2")},
	})
	create("c", 201)
	create("d", 403)
}
