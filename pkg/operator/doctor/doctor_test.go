package doctor_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/issuer"
	"toggleadmin/test/table"
)

// newInstallation returns a local installation with seeded tables.
func newInstallation(t *testing.T) (*database.Database, *installation.Installation) {
	t.Helper()
	db := database.New(t)
	if _, err := seed.Seed(t.Context(), seed.Config{Client: db.Client, Tables: db.Tables, Log: db.Log(),
		Now: time.Now, Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	streams := []samtemplate.Table{
		{Name: db.Tables.FeatureTypes, StreamViewType: "NEW_AND_OLD_IMAGES"},
		{Name: db.Tables.Events, StreamViewType: "NEW_IMAGE"},
	}
	assert.OK(t, tables.EnableStreams(t.Context(), db.Client, streams))
	return db, &installation.Installation{Name: "the installation", Option: "--local", Client: db.Client,
		Tables: db.Tables}
}

// examine returns the problems that doctor finds: check → detail.
func examine(t *testing.T, i *installation.Installation, api http.HandlerFunc) map[string]string {
	t.Helper()
	server := httptest.NewServer(api)
	defer server.Close()
	i.BaseURL = server.URL
	problems := map[string]string{}
	n := doctor.Examine(t.Context(), doctor.Config{
		Installation: i, HTTP: server.Client(), Now: time.Now, Random: rand.Reader,
		Report: func(f doctor.Finding) {
			if f.Status == doctor.Problem {
				problems[f.Check] = strings.ReplaceAll(f.Detail, server.URL, "URL")
			}
			if (f.Status == doctor.Problem) != (f.Advice != "") {
				t.Errorf("the advice does not match the status: %+v", f)
			}
		},
	})
	if n != len(problems) {
		t.Errorf("%d problems, reported: %v", n, problems)
	}
	return problems
}

func TestData(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 6, `
		# table | change | item | check | problem | another problem of the accounts
		FeatureTypes | delete | {"id":"release"} | seeds | missing: the feature type release |
		ContextFields | put | {"name":"plan","sortOrder":9} | context fields | 1 inconsistency: the context field "plan" has no counts |
		ContextFields | put | {"name":"usage#userId","usage":{"default":1}} | context fields | 1 inconsistency: the context field "userId" counts default: 1, and its toggles are default: 2, shop: 1 |
		ContextFields | put | {"name":"usage#userId","usage":{"default":0}} | context fields | 1 inconsistency: the context field "userId" counts default: 0, and its toggles are default: 2, shop: 1 |
		ContextFields | put | {"name":"usage#plan","usage":{"default":1}} | context fields | 1 inconsistency: the context field "plan", whose usage is stored, does not exist |
		Users | delete | {"id":2} | tokens | 1 inconsistency: the token 2 belongs to the account 2, which does not exist | 1 inconsistency: "email:editor@example.com" is reserved for the account 2, which does not have it
		Users | put | {"id":2,"kind":"user","pats":{}} | tokens | 1 inconsistency: the account 2 does not list its token 2 | 1 inconsistency: "email:editor@example.com" is reserved for the account 2, which does not have it
		Users | put | {"id":4,"deleting":"user"} | deletions | the deletion of these accounts has not ended: user 4 | 2 inconsistencies: "username:CI" is reserved for the account 4, which does not have it; the number of service accounts is 0, not 1
		# the address of an account whose deletion has not ended
		Users | put | {"id":5,"deleting":"user","email":"editor@example.com"} | deletions | the deletion of these accounts has not ended: user 5 | 1 inconsistency: the counter of account ids is 4, below the account 5: ids would be reused
		PersonalAccessTokens | delete | {"userId":2,"id":2} | tokens | 1 inconsistency: the account 2 lists a token 2 that does not exist |
		Users | put | {"id":-1,"serviceAccounts":7} | accounts | 1 inconsistency: the number of service accounts is 1, not 7 |
		Identifiers | put | {"id":"username:X","accountId":7} | accounts | 2 inconsistencies: "username:X" is reserved for the account 7, which does not have it; the counter of account ids is 4, below the account 7: ids would be reused |
		PersonalAccessTokens | put | {"userId":0,"id":0,"lastId":2} | tokens | 1 inconsistency: the counter of ids is 2, below the token 3: ids would be reused |
	`) {
		t.Run(strings.Join(row[:3], " "), func(t *testing.T) {
			t.Parallel()
			db, i := newInstallation(t)
			change := db.Delete
			if row[1] == "put" {
				change = db.Put
			}
			var members map[string]any
			assert.OK(t, json.Unmarshal([]byte(row[2]), &members))
			change(t, db.Tables.ByID()[row[0]], item(members))
			want := map[string]string{row[3]: row[4]}
			if row[5] != "" {
				want["accounts"] = row[5]
			}
			assert.Equal(t, want, examine(t, i, api(t, db)))
			if row[3] == "seeds" || row[3] == "deletions" {
				return
			}
			repair(t, i)
			if problems := examine(t, i, api(t, db)); len(problems) > 0 {
				t.Errorf("after the repair: %v", problems)
			}
		})
	}
}

// item returns the item with the members of a JSON object.
func item(members map[string]any) dynamo.Item {
	i := dynamo.Item{}
	for name, member := range members {
		switch v := member.(type) {
		case string:
			i[name] = dynamo.S(v)
		case float64:
			i[name] = dynamo.N(int64(v))
		case map[string]any:
			i[name] = dynamo.M(item(v))
		}
	}
	return i
}

// api accepts a request if the token of doctor is stored.
func api(t *testing.T, db *database.Database) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, _ *http.Request) {
		if !slices.ContainsFunc(db.Scan(t, db.Tables.APITokens),
			func(i dynamo.Item) bool { return i.String("name") == "toggleadmin doctor" }) {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
}

func repair(t *testing.T, i *installation.Installation) {
	t.Helper()
	if problems := repairAndReport(t, i); len(problems) > 0 {
		t.Errorf("after the repair: %v", problems)
	}
}

// repairAndReport repairs and returns the problems that are left: check → detail and advice.
func repairAndReport(t *testing.T, i *installation.Installation) map[string]string {
	t.Helper()
	problems := map[string]string{}
	doctor.Repair(t.Context(), doctor.Config{
		Installation: i, Now: time.Now, Random: rand.Reader, Report: func(f doctor.Finding) {
			t.Logf("%+v", f)
			if f.Status == doctor.Problem {
				problems[f.Check] = f.Detail + " → " + f.Advice
			}
		},
	})
	return problems
}

func TestAPI(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	for want, status := range map[string]int{
		"URL rejects a valid credential":                           http.StatusUnauthorized,
		"URL/api/admin/feature-types responds with the status 500": http.StatusInternalServerError,
		"a deleted credential gets the status 200, not 401":        http.StatusOK,
		"URL/api/admin/feature-types responds with the status 302": http.StatusFound,
	} {
		problems := examine(t, i, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		assert.Equal(t, map[string]string{"token round trip": want}, problems)
	}
	if n := len(db.Scan(t, db.Tables.APITokens)); n != 1 {
		t.Errorf("%d API tokens, want the seeded one", n)
	}
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	_, i := newInstallation(t)
	provider := issuer.Start(false)
	t.Cleanup(provider.Close)
	i.Issuer, i.ClientID = provider.URL, issuer.ClientID
	check := func() string {
		problems := examine(t, i, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
		return strings.ReplaceAll(problems["OpenID Connect issuer"], provider.URL, "URL")
	}
	assert.Equal(t, "", check())
	provider.Respond(issuer.MetadataPath, func(w http.ResponseWriter, _ *http.Request) {
		issuer.WriteJSON(w, map[string]any{"issuer": "https://other.example.com"})
	})
	assert.Equal(t, `the discovery document of URL cannot be used: the discovery document is that of the issuer `+
		`"https://other.example.com", not of "URL"`, check())
}

func TestRequireTables(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	for want, name := range map[string]string{
		"lacks key id:S, stream NEW_AND_OLD_IMAGES; it has key id:N": db.Tables.Users,
		"there is no table none":                                     "none",
	} {
		i.Tables.FeatureTypes = name
		if err := doctor.RequireTables(t.Context(), i); exitstatus.Of(err) != exitstatus.Uninitialized ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("status %d: %v, want %q", exitstatus.Of(err), err, want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n := doctor.Examine(ctx, doctor.Config{
		Installation: &installation.Installation{}, Report: func(f doctor.Finding) { t.Errorf("reported: %+v", f) },
	}); n != 0 {
		t.Errorf("%d problems", n)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 2, `
		true | https://api.example.com/prod http://localhost:3000/x http://[::1]:3000
		false | http://api.example.com http://10.0.0.1 api.example.com http://localhost.example.com
	`) {
		for url := range strings.FieldsSeq(row[1]) {
			if err := doctor.CheckURL(url); fmt.Sprint(err == nil) != row[0] {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}
