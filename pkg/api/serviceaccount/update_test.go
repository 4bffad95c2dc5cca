package serviceaccount_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpdateAndList also checks the form of the list.
func TestUpdateAndList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "one", 0)
	f.account(t, "two", 2)
	account := func(id int, username, name string, role int, tokens ...string) string {
		return fmt.Sprintf(`{"id":%d,"name":%q,"username":%q,"rootRole":%d,"createdAt":"2026-11-20T05:39:00.123Z",`+
			`"seenAt":null,"isAPI":false,"tokens":[%s]}`,
			id, name, username, role, strings.Join(tokens, ","))
	}
	token := func(id int) string {
		return fmt.Sprintf(`{"id":%d,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"userId":3,"description":"token `+
			`%d","expiresAt":"2027-11-20T05:39:00.123Z"}`, id, id-1)
	}
	for _, tt := range []struct {
		id, body string
		want     string
	}{
		{"3", `{}`, account(3, "two", "two", 2, token(1), token(2))},
		{"3", `{"name":" new "}`, account(3, "two", " new ", 2, token(1), token(2))},
		{"3e+00", `{"rootRole":1,"username":"ignored"}`, account(3, "two", " new ", 1, token(1), token(2))},
		{"3", `{"rootRole":3,"name":"newer"}`, account(3, "two", "newer", 3, token(1), token(2))},
	} {
		if status, got := send(t, f.update, tt.id, tt.body); status != http.StatusOK || got != tt.want {
			t.Errorf("%s: %d %s", tt.body, status, got)
		}
	}
	for _, tt := range []struct {
		id, body string
		status   int
		want     string
	}{
		{"3", `{"name":null}`, 400, "The `/body/name` property must be a string; you sent null."},
		{"3", `{"name":""}`, 400,
			"The `/body/name` property must have 1 or more characters; you sent \"\". The `/body/name` property must not be only white space; you sent \"\"."},
		{"3", `{"rootRole":4}`, 400, "The `/body/rootRole` property must be at most 3; you sent 4."},
		{"1", `{"rootRole":3}`, 404, `There is no service account with the id "1".`},
		{"4", `{}`, 404, `There is no service account with the id "4".`},
		{"3.5", `{}`, 404, `There is no service account with the id "3.5".`},
	} {
		if status, got := send(t, f.update, tt.id, tt.body); status != tt.status || got != tt.want {
			t.Errorf("%s %s: %d %s", tt.id, tt.body, status, got)
		}
	}
	status, got := send(t, f.list, "", "")
	want := `{"serviceAccounts":[` + account(2, "one", "one", 2) + "," + account(3, "two", "newer", 3, token(1),
		token(2)) + `],"rootRoles":[` +
		`{"id":1,"name":"Admin","type":"root","description":"May use every operation."},` +
		`{"id":2,"name":"Editor","type":"root","description":"May read feature types and context fields, and create, replace and delete context fields."},` +
		`{"id":3,"name":"Viewer","type":"root","description":"May read feature types and context fields."}]}`
	if diff := cmp.Diff(want, got); status != http.StatusOK || diff != "" {
		t.Error(status, diff)
	}
}
