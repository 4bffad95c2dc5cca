package clienttoken_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

// A token of another installation keeps its secret. Its environment and its projects are those of the request.
func TestImportedToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	const (
		secret = "default:development.aabbccddeeff00112233445566778899"
		body   = `{"tokenName":"a","type":"backend","environment":"production","project":"shop","secret":"` + secret + `"}`
		id     = "xfn_c0NlXSTzHgHAyjPshw"
		listed = `{"id":"` + id + `","secret":"shop:production.****","tokenName":"a","type":"client","project":"shop",` +
			`"projects":["shop"],"environment":"production","expiresAt":null,"createdAt":"2026-11-27T05:39:00.123Z","alias":null,` +
			`"seenAt":null,"secure":true,"validUntil":null,"imported":true}`
	)
	admin := access.WithPrincipal(t.Context(), access.APITokenPrincipal(access.Selector{1}))
	status, header, text := f.Serve(admin, operation.Request{Operation: "create", Body: body})
	assert.Equal(t, []any{201, strings.Replace(listed, `"client"`, `"backend"`, 1)}, []any{status, text})
	if location := header.Get("Location"); !strings.HasSuffix(location, "/"+id) {
		t.Errorf("Location: %s", location)
	}
	f.Expect(admin, t, "list", "", "", `200 {"tokens":[`+listed+`]}`)
	f.Expect(admin, t, "create", "", strings.Replace(body, "production", "development", 1),
		"409 ConflictError: A client token with this secret already exists.")
	assert.Equal(t, []int64{0, 1}, f.counts(t))

	for _, text := range []string{secret, "shop:production.****", "shop:production.v2_" + id} {
		f.Expect(admin, t, "delete", text, "", noToken)
	}
	f.Expect(admin, t, "update", id, `{"expiresAt":"2030-01-01T00:00:00Z"}`, "200")
	f.Expect(admin, t, "rotate", id, `{}`, "201 "+shown("shop:production.v2_"+selector1+random1, "a",
		`"type":"client","project":"shop","projects":["shop"],"environment":"production","expiresAt":"2030-01-01T00:00:00.000Z"`))
	f.Expect(admin, t, "delete", id, "", "200")
	f.ExpectStatus(admin, t, "create", "", body, 201)
}

// The check of the table names imported tokens that are still used.
func TestImportedTokensInUse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	for i, age := range []time.Duration{29 * 24 * time.Hour, time.Hour, time.Minute, 0, 31 * 24 * time.Hour} {
		secret, _ := clienttokentable.ParseImported(strings.Repeat("s", 30+i))
		created, err := f.store.Import(t.Context(), clienttokentable.Token{Name: fmt.Sprint("t", i), Type: clienttokentable.Backend,
			Environment: "production", CreatedAt: now()}, secret, clienttoken.MaxTokens)
		assert.OK(t, err)
		created.SeenAt = new(time.Now().Add(-age))
		f.Put(t, f.Tables[clienttokentable.Table], clienttokentable.Marshal(created))
	}
	summary, _, err := f.store.Check(t.Context())
	assert.OK(t, err)
	assert.Equal(t, `5, as counted; imported ones that were used in the last 30 days: 4 ("t0", "t1", "t2", …): rotate them `+
		`when it suits you`, summary)
}

func TestImportIsRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, unlimited())
	body := func(secret string) string { return `{"tokenName":"a","type":"backend","secret":"` + secret + `"}` }
	for _, secret := range []string{
		"", strings.Repeat("a", 23), strings.Repeat("a", 513), strings.Repeat("a", 30) + " ", "user:" + strings.Repeat("a", 30),
		"*:*." + strings.Repeat("a", 30), "*:development.v2_" + selector1 + random1,
	} {
		got := f.Call(t.Context(), "create", "", body(secret))
		if !strings.Contains(got, "`/body/secret` property must have 24 to 512 visible ASCII characters, and must not look") ||
			len(secret) > 0 && strings.Contains(got, secret) {
			t.Errorf("%q: %s", secret, got)
		}
	}
	editor := access.WithPrincipal(t.Context(), access.UserPrincipal(5, access.RoleEditor))
	f.Expect(editor, t, "create", "", body(strings.Repeat("a", 30)),
		`403 NoAccessError: You need the "ADMIN" permission to perform this operation.`)
}
