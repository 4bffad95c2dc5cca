package serviceaccount_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	want := `{"id":2,"name":" Nightly build ","username":"ci","rootRole":3,"createdAt":"2026-11-20T05:39:00.123Z",` +
		`"seenAt":null,"isAPI":false,"tokens":[]}`
	if status, got := send(t, f.create, "",
		`{"username":"ci","name":" Nightly build ","rootRole":3.0,"id":7}`); status != http.StatusCreated || got != want {
		t.Errorf("%d %s", status, got)
	}
	const (
		name     = "The `/body/name` property "
		role     = "The `/body/rootRole` property "
		username = "The `/body/username` property "
		ends     = "must have no white space at either end; you sent "
		exists   = "There is already a service account with this username."
	)
	long := strings.Repeat("é", 255)
	body := func(username, name string) string {
		return `{"username":` + strconv.Quote(username) + `,"name":` + strconv.Quote(name) + `,"rootRole":1}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"nothing", `{}`, 400, name + "is required; you did not send it. " + role + "is required; you did not send it. " +
			username + "is required; you did not send it."},
		{"white space before", body(" a", "n"), 400, username + ends + `" a".`},
		{"white space after", body("a\u3000", "n"), 400, username + ends + "\"a\u3000\"."},
		{"white space only", body("\u2003", " \t"), 400, name + `must not be only white space; you sent " \t". ` + username +
			ends + "\"\u2003\"."},
		{"256 characters", body(long+"é", "n"), 400, username + `must have at most 255 characters; you sent "` +
			strings.Repeat("é", 100) + `…".`},
		{"role 0", `{"username":"u","name":"n","rootRole":0}`, 400, role + "must be at least 1; you sent 0."},
		{"role 4", `{"username":"u","name":"n","rootRole":4}`, 400, role + "must be at most 3; you sent 4."},
		{"role as text", `{"username":"u","name":"n","rootRole":"1"}`, 400, role + `must be an integer; you sent "1".`},
		{"same username", body("ci", "n"), 409, exists},
		{"other letter case", body("cI", "n"), 409, exists},
	} {
		if status, got := send(t, f.create, "", tt.body); status != tt.status || got != tt.want {
			t.Errorf("%s: %d %s", tt.name, status, got)
		}
	}
	for _, accepted := range []string{"ci 2", "é", "ada@example.com", long} {
		if status, got := send(t, f.create, "", body(accepted, long)); status != http.StatusCreated {
			t.Errorf("%s: %d %s", accepted, status, got)
		}
	}
}

func TestCreateAboveTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Put(t, f.Tables.Users, dynamo.Item{"id": dynamo.N(0), "lastAccountId": dynamo.N(access.MaxID)})
	if status, got := send(t, f.create, "", `{"username":"ci","name":"n","rootRole":2}`); status != 403 ||
		got != "All ids of accounts, up to 2147483647, are used up." {
		t.Errorf("%d %s", status, got)
	}
}

func TestFunctionsNeedTheirVariables(t *testing.T) {
	t.Parallel()
	env := database.New(t).Env(t)
	env.Vars["MAX_SERVICE_ACCOUNTS"] = "1"
	database.RequireVariables(t, env, serviceaccount.NewListFunction, "PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	database.RequireVariables(t, env, serviceaccount.NewCreateFunction, "MAX_SERVICE_ACCOUNTS", "USERS_TABLE",
		"IDENTIFIERS_TABLE", "EVENTS_TABLE", "EVENT_LOG_DAYS")
	database.RequireVariables(t, env, serviceaccount.NewUpdateFunction, "PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	database.RequireVariables(t, env, serviceaccount.NewDeleteFunction, "PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE",
		"IDENTIFIERS_TABLE")
}

// A deleted account makes room for another one, once.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.users.SetLimit(2)
	created := 0
	create := func(want int) {
		t.Helper()
		created++
		status, text := send(t, f.create, "", fmt.Sprintf(`{"username":"u%d","name":"n","rootRole":2}`, created))
		if status != want || status == 403 &&
			text != "The maximum number of service accounts (2) is reached. Delete one first." {
			t.Errorf("%d %s, want %d", status, text, want)
		}
	}
	create(201)
	create(201)
	create(403)
	all, err := f.store.List(t.Context())
	check(t, err)
	for _, want := range []int{200, 404} {
		if status, text := send(t, f.remove, fmt.Sprint(all[0].ID), ""); status != want {
			t.Errorf("%d %s, want %d", status, text, want)
		}
	}
	create(201)
	create(403)
}
