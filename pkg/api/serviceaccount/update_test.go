package serviceaccount_test

import (
	"strings"
	"testing"
)

// TestUpdateAndList also checks the form of the list.
func TestUpdateAndList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.account(t, "one", 0)
	f.account(t, "two", 2)
	const made = `"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null`
	f.Run(t.Context(), t, strings.NewReplacer("MADE", made, "TOKENS", made+`,"isAPI":false,"tokens":[{"id":1,`+made+
		`,"userId":3,"description":"token 0","expiresAt":"2027-11-20T05:39:00.123Z"},{"id":2,`+made+
		`,"userId":3,"description":"token 1","expiresAt":"2027-11-20T05:39:00.123Z"}]}`,
		"400 /", "400 ValidationError: The ^/body/", "~", "^ property").Replace(`
		update | 3 | {} | 200 {"id":3,"name":"two","username":"two","rootRole":2,TOKENS
		update | 3 | {"name":" new "} | 200 {"id":3,"name":" new ","username":"two","rootRole":2,TOKENS
		update | 3e+00 | {"rootRole":1,"username":"ignored"} | 200 {"id":3,"name":" new ","username":"two","rootRole":1,TOKENS
		update | 3 | {"rootRole":3,"name":"newer"} | 200 {"id":3,"name":"newer","username":"two","rootRole":3,TOKENS
		update | 3 | {"name":null} | 400 /name~ must be a string; you sent null.
		update | 3 | {"name":""} | 400 /name~ must have 1 or more characters; you sent "".…
		update | 3 | {"rootRole":4} | 400 /rootRole~ must be at most 3; you sent 4.
		update | 1 | {"rootRole":3} | 404 NotFoundError: There is no service account with the id "1".
		update | 4 | {} | 404 NotFoundError: There is no service account with the id "4".
		update | 3.5 | {} | 404 NotFoundError: There is no service account with the id "3.5".
		list | | | 200 {"serviceAccounts":[{"id":2,"name":"one","username":"one","rootRole":2,MADE,"isAPI":false,"tokens":[]},{"id":3,"name":"newer","username":"two","rootRole":3,TOKENS],"rootRoles":[{"id":1,"name":"Admin","type":"root","description":"May use every operation."},{"id":2,"name":"Editor","type":"root","description":"May read feature types, context fields and toggles, and create, change and delete context fields and toggles."},{"id":3,"name":"Viewer","type":"root","description":"May read feature types, context fields and toggles."}]}
	`))
}
