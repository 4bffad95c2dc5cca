package serviceaccount_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Run(t.Context(), t, strings.NewReplacer("400 /", "400 ValidationError: The ^/body/", "; /", " The ^/body/", "~", "^ property",
		"EXISTS", "409 NameExistsError: There is already a service account with this username.").Replace(`
		create | | {"username":"ci","name":" Nightly build ","rootRole":3.0,"id":7} | 201 {"id":2,"name":" Nightly build ","username":"ci","rootRole":3,"createdAt":"2026-11-20T05:39:00.123Z","seenAt":null,"isAPI":false,"tokens":[]}
		create | | {} | 400 /name~ is required; you did not send it.; /rootRole~ is required; you did not send it.; /username~ is required; you did not send it.
		create | | {"username":" a","name":"n","rootRole":1} | 400 /username~ must have no white space at either end; you sent " a".
		create | | {"username":"a\u3000","name":"n","rootRole":1} | 400 /username~ must have no white space at either end; you sent "a…
		create | | {"username":"\u2003","name":" \t","rootRole":1} | 400 /name~ must not be only white space; you sent " \t".; /username~ must have no…
		create | | {"username":"256×é","name":"n","rootRole":1} | 400 /username~ must have at most 255 characters; you sent "100×é…".
		create | | {"username":"u","name":"n","rootRole":0} | 400 /rootRole~ must be at least 1; you sent 0.
		create | | {"username":"u","name":"n","rootRole":4} | 400 /rootRole~ must be at most 3; you sent 4.
		create | | {"username":"u","name":"n","rootRole":"1"} | 400 /rootRole~ must be an integer; you sent "1".
		create | | {"username":"ci","name":"n","rootRole":1} | EXISTS
		create | | {"username":"cI","name":"n","rootRole":1} | EXISTS
		create | | {"username":"ci 2","name":"255×é","rootRole":1} | 201 {…
		create | | {"username":"é","name":"n","rootRole":1} | 201 {…
		create | | {"username":"ada@example.com","name":"n","rootRole":1} | 201 {…
		create | | {"username":"255×é","name":"n","rootRole":1} | 201 {…
	`))
}

func TestCreateAboveTheHighestID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Put(t, f.Tables.Users, dynamo.Item{"id": dynamo.N(0), "lastAccountId": dynamo.N(access.MaxID)})
	f.Run(t.Context(), t, `create | | {"username":"ci","name":"n","rootRole":2} | 403 NoAccessError: All ids of accounts, `+
		`up to 2147483647, are used up.`)
}

// A deleted account makes room for another one, once.
func TestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.users.SetLimit(2)
	f.Run(t.Context(), t, `
		create | | {"username":"a","name":"n","rootRole":2} | 201 {"id":2,…
		create | | {"username":"b","name":"n","rootRole":2} | 201 {…
		create | | {"username":"c","name":"n","rootRole":2} | 403 NoAccessError: The maximum number of service accounts (2) is reached. Delete one first.
		delete | 2 | | 200
		delete | 2 | | 404 …
		create | | {"username":"c","name":"n","rootRole":2} | 201 {…
		create | | {"username":"d","name":"n","rootRole":2} | 403 …
	`)
}
