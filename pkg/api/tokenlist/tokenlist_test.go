package tokenlist_test

import (
	"bytes"
	"crypto/rand"
	"testing"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func TestList(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	now := time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)
	stores := tokenlist.Stores{
		Users:     user.NewStore(db.Client, db.Tables, db.Log()),
		APITokens: apitoken.NewStore(db.Client, db.Tables, db.Log()),
		PATs:      pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader),
	}
	h := operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{
		"list": tokenlist.List(stores, func() time.Time { return now }),
	}}
	h.Expect(t.Context(), t, "list", "", "", `200 {"tokens":[]}`)

	for _, u := range []user.User{
		{ID: 1, Kind: user.Person, Name: "ada", Role: access.RoleAdmin},
		{ID: 2, Kind: user.ServiceAccount, Name: "ci", Username: "ci", Role: access.RoleViewer},
		{ID: 3, Kind: user.Person, Name: "bob", Role: access.RoleAdmin, Disabled: true},
	} {
		assert.OK(t, stores.Users.Create(t.Context(), u))
		_, _, err := stores.PATs.Create(t.Context(), pat.PAT{
			UserID: u.ID, Description: "of " + u.Name, CreatedAt: now.AddDate(0, 0, -30), ExpiresAt: now.AddDate(0, 1, 0),
		}, pat.Owner{Kind: u.Kind, Limit: 1})
		assert.OK(t, err)
	}
	_, err := stores.APITokens.Create(t.Context(), apitoken.APIToken{Name: "migration", CreatedAt: now},
		bytes.NewReader(bytes.Repeat([]byte{1}, 48)))
	assert.OK(t, err)

	pats := func(id, owner, role, risks string) string {
		return `{"kind":"pat","id":"` + id + `",` + owner + `,"role":"` + role + `","createdAt":"2026-10-21T05:39:00.000Z",` +
			`"expiresAt":"2026-12-20T05:39:00.000Z","seenAt":null,"expired":false,"risks":[` + risks + `]}`
	}
	h.Expect(t.Context(), t, "list", "", "", `200 {"tokens":[`+
		`{"kind":"api-token","id":"AQEBAQEBAQEBAQEBAQEBAQ","name":"migration","userId":null,"userName":null,"userKind":null,`+
		`"role":"Admin","createdAt":"2026-11-20T05:39:00.000Z","expiresAt":null,"seenAt":null,"expired":false,`+
		`"risks":["admin-never-expires"]},`+
		pats("1", `"name":"of ada","userId":1,"userName":"ada","userKind":"user"`, "Admin", `"admin-never-used"`)+`,`+
		pats("2", `"name":"of ci","userId":2,"userName":"ci","userKind":"service-account"`, "Viewer", "")+`,`+
		pats("3", `"name":"of bob","userId":3,"userName":"bob","userKind":"user"`, "Admin", "")+`]}`)
	for query, want := range map[string]string{
		"userId=2": `200 {"tokens":[` + pats("2", `"name":"of ci","userId":2,"userName":"ci","userKind":"service-account"`, "Viewer", "") + `]}`,
		"userId=9": `200 {"tokens":[]}`,
		"userId=x": "400 ValidationError: The `/query/userId` parameter must be the id of a person or a service account; you sent \"x\".",
	} {
		h.ExpectQuery(t.Context(), t, "list", query, want)
	}
}
