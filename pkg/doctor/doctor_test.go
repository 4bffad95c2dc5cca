package doctor_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/doctor"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/exitstatus"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/user"
	"toggleadmin/test/database"
)

// newInstallation returns a local installation with seeded tables.
func newInstallation(t *testing.T) (*database.Database, *installation.Installation) {
	t.Helper()
	db := database.New(t)
	if _, err := seed.Seed(t.Context(), seed.Config{Client: db.Client, Tables: db.Tables, Now: time.Now, Random: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	types := []samtemplate.Table{{Name: db.Tables.FeatureTypes, StreamViewType: "NEW_AND_OLD_IMAGES"}}
	if err := tables.EnableStreams(t.Context(), db.Client, types); err != nil {
		t.Fatal(err)
	}
	return db, &installation.Installation{Name: "the installation", Option: "--local", Client: db.Client, Tables: db.Tables}
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

// authorizing is an API that accepts a request if its token is stored.
func authorizing(t *testing.T, db *database.Database) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, _ *http.Request) {
		tokens, err := apitoken.NewStore(db.Client, db.Tables).List(t.Context())
		if err != nil || len(tokens) != 2 { // the seeded one and doctor's
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*testing.T, *database.Database)
		want   map[string]string
	}{
		{"healthy", func(*testing.T, *database.Database) {}, map[string]string{}},
		{"no table", func(t *testing.T, db *database.Database) {
			t.Helper()
			if _, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &db.Tables.Traffic}); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{"table Traffic": "there is no table Traffic"}},
		{"lost type", func(t *testing.T, db *database.Database) {
			t.Helper()
			db.Delete(t, db.Tables.FeatureTypes, dynamo.Item{"id": dynamo.S("release")})
		}, map[string]string{"seeds": `the table FeatureTypes lacks the feature type "release"`}},
		{"lost field", func(t *testing.T, db *database.Database) {
			t.Helper()
			db.Delete(t, db.Tables.ContextFields, dynamo.Item{"name": dynamo.S("userId")})
		}, map[string]string{"seeds": `the table ContextFields lacks the context field "userId"`}},
		{"lost account", func(t *testing.T, db *database.Database) {
			t.Helper()
			db.Delete(t, db.Tables.Users, user.Key(2))
		}, map[string]string{"tokens": "the token 2 belongs to the account 2, which does not exist"}},
		{"lost token", func(t *testing.T, db *database.Database) {
			t.Helper()
			db.Delete(t, db.Tables.PersonalAccessTokens, pat.Key(2, 2))
		}, map[string]string{"tokens": "the account 2 lists a token 2 that does not exist"}},
		{"old account and counter", func(t *testing.T, db *database.Database) {
			t.Helper()
			account := db.Get(t, db.Tables.Users, user.Key(2))
			account[user.AttributePATs] = dynamo.M(dynamo.Item{})
			db.Put(t, db.Tables.Users, account)
			counter := db.Get(t, db.Tables.PersonalAccessTokens, pat.Key(0, 0))
			counter["lastId"] = dynamo.N(2)
			db.Put(t, db.Tables.PersonalAccessTokens, counter)
		}, map[string]string{"tokens": "the counter of ids is 2, below the token 3: ids would be reused; the account 2 does not list its token 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, i := newInstallation(t)
			tt.change(t, db)
			want := map[string]string{}
			for check, detail := range tt.want {
				want[check] = strings.ReplaceAll(detail, "table Traffic", "table "+db.Tables.Traffic)
			}
			if diff := cmp.Diff(want, examine(t, i, authorizing(t, db))); diff != "" {
				t.Error(diff)
			}
		})
	}
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
		if diff := cmp.Diff(map[string]string{"token round trip": want}, problems); diff != "" {
			t.Error(diff)
		}
	}
	if n := len(db.Scan(t, db.Tables.APITokens)); n != 1 {
		t.Errorf("%d API tokens, want the seeded one", n)
	}
}

// TestWrongTables swaps tables.
func TestWrongTables(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	if err := doctor.RequireTables(t.Context(), i); err != nil {
		t.Error(err)
	}
	i.Tables.FeatureTypes = db.Tables.Users
	err := doctor.RequireTables(t.Context(), i)
	if want := "lacks key id:S, stream NEW_AND_OLD_IMAGES; it has key id:N, index email email:S"; exitstatus.Of(err) != exitstatus.Uninitialized ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("status %d, %v", exitstatus.Of(err), err)
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
	for url, valid := range map[string]bool{
		"https://api.example.com/prod": true, "http://127.0.0.1:3000": true, "http://localhost:3000/x": true, "http://[::1]:3000": true,
		"http://api.example.com": false, "http://10.0.0.1": false, "ftp://127.0.0.1": false, "api.example.com": false, "": false, "https://": false,
		"http://localhost.example.com": false,
	} {
		if err := doctor.CheckURL(url); (err == nil) != valid {
			t.Errorf("%q: %v", url, err)
		}
	}
}
