package doctor_test

import (
	"crypto/rand"
	"testing"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// world makes changes that touch every relation between tables.
type world struct {
	*testing.T
	*operator.Operator
	fields *contextfield.Store
}

func newWorld(t *testing.T, i *installation.Installation) *world {
	t.Helper()
	return &world{t, operator.New(i, time.Now, rand.Reader), contextfield.NewStore(i.Client, i.Tables, i.Log(time.Now))}
}

func (w *world) must(errs ...error) {
	w.Helper()
	assert.OK(w, errs...)
}

func (w *world) account(kind user.Kind, name, email string) int64 {
	w.Helper()
	a, err := w.AddAccount(w.Context(), kind, name, email, "Editor")
	w.must(err)
	return a.ID
}

func (w *world) token(owner int64, name string) operator.Token {
	w.Helper()
	token, _, err := w.CreateToken(w.Context(), owner, name, new(time.Now().Add(time.Hour)))
	w.must(err)
	return token
}

func (w *world) toggle(name, project string, fields ...string) {
	w.Helper()
	_, _, _, err := w.PutToggle(w.Context(), name, operator.ToggleChange{Project: &project, ContextFields: &fields})
	w.must(err)
}

func (w *world) field(name string) {
	w.must(w.fields.Create(w.Context(), contextfield.ContextField{Name: name}))
}

func (w *world) link(id int64, subject string) {
	_, _, err := w.Link(w.Context(), id, user.Identity{Issuer: "https://issuer.example.com", Subject: subject})
	w.must(err)
}

// copyTables returns copies of a table, or of all: logical id → name.
func copyTables(t *testing.T, db *database.Database, all []samtemplate.Table, which string) map[string]string {
	t.Helper()
	copies := map[string]string{}
	for _, table := range all {
		if id := table.Name; id == which || which == "all" {
			table.Name = "copy-of-" + id
			copies[id] = table.Name
			assert.OK(t, tables.Make(t.Context(), db.Client, []samtemplate.Table{table}))
			for _, item := range db.Scan(t, db.Tables.ByID()[id]) {
				db.Put(t, table.Name, item)
			}
		}
	}
	return copies
}

// TestRestore restores each table alone, or all, to an older state, repairs, and uses what is there.
func TestRestore(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	for _, restored := range append(dynamo.TableIDs(), "all") {
		t.Run(restored, func(t *testing.T) {
			t.Parallel()
			db, i := newInstallation(t)
			i.TokenLimit, i.AccountLimit = 10, user.DefaultLimit
			w := newWorld(t, i)
			w.field("plan")
			w.toggle("checkout", "shop", "plan", "userId")
			w.toggle("search", "shop", "plan")
			build, ada := w.account(user.ServiceAccount, "build", ""), w.account(user.Person, "Ada", "ada@example.com")
			w.link(ada, "ada")
			w.token(ada, "laptop")
			kept, old := w.token(build, "kept"), w.token(build, "pipeline")
			copies := copyTables(t, db, template.Tables, restored)

			w.field("tier")
			w.toggle("banner", "shop", "tier")
			w.toggle("checkout", "other", "userId", "tier")
			w.must(w.DeleteToggle(t.Context(), "search"), w.fields.Delete(t.Context(), "plan"))
			w.must(w.Revoke(t.Context(), old))
			renewed := w.token(build, "pipeline")
			w.must(w.Revoke(t.Context(), w.token(build, "temporary")))
			w.must(w.DeleteAccount(t.Context(), user.Person, ada))
			ada = w.account(user.Person, "Ada", "ada@example.com")
			w.link(ada, "ada")
			w.token(w.account(user.ServiceAccount, "deploy", ""), "x")
			highest := w.account(user.ServiceAccount, "temporary", "")
			w.must(w.Revoke(t.Context(), w.token(highest, "temporary")), w.DeleteAccount(t.Context(), user.ServiceAccount,
				highest))
			events := len(db.Events(t))

			for id, source := range copies {
				w.restore(db, i, id, source)
			}
			repair(t, i)
			if problems := examine(t, i, api(t, db)); len(problems) > 0 {
				t.Errorf("after the repair: %v", problems)
			}
			if n := len(db.Events(t)); n < events {
				t.Errorf("%d events, %d before", n, events)
			}
			// The log says which of the restored tokens was revoked, unless the table of their owners is restored too.
			for id, want := range map[string]bool{
				kept.ID: true, old.ID: restored == "all", renewed.ID: restored != "PersonalAccessTokens" && restored != "all",
			} {
				if _, err := w.FindToken(t.Context(), id); (err == nil) != want {
					t.Errorf("the token %s exists: %t", id, !want)
				}
			}
			w.requireUsable(db, highest)
		})
	}
}

// restore restores a table. Restore keeps its counter of ids; restore then puts back the old one, as an operator might.
func (w *world) restore(db *database.Database, i *installation.Installation, id, source string) {
	w.Helper()
	key, table := map[string]dynamo.Item{"Users": user.Key(0), "PersonalAccessTokens": pat.Key(0, 0)}[id],
		db.Tables.ByID()[id]
	var before dynamo.Item
	if key != nil {
		before = db.Get(w, table, key)
	}
	_, err := i.Restore(w.Context(), id, source, time.Now())
	w.must(err)
	if key != nil {
		assert.Equal(w, before, db.Get(w, table, key), database.Items())
		db.Put(w, table, db.Get(w, source, key))
	}
}

// requireUsable checks that new ids are higher than all before, and that everything can be deleted and leaves nothing.
func (w *world) requireUsable(db *database.Database, highest int64) {
	w.Helper()
	if id := w.account(user.ServiceAccount, "new", ""); id <= highest {
		w.Errorf("the account %d was added after the account %d", id, highest)
	}
	before := db.Events(w)
	token := w.token(2, "new")
	if used := database.About(before, eventlog.Subject("pat:"+token.ID)); len(used) > 0 {
		w.Errorf("the id of a new token was used before: %s", used)
	}
	toggles, err := w.Toggles(w.Context())
	w.must(err)
	for _, t := range toggles {
		w.must(w.DeleteToggle(w.Context(), t.Name))
	}
	fields, err := w.fields.List(w.Context())
	w.must(err)
	for _, f := range fields {
		w.must(w.fields.Delete(w.Context(), f.Name))
	}
	if all := db.Scan(w, db.Tables.ContextFields); len(all) != 1 || all[0].Int("size") != 0 {
		w.Errorf("without context fields: %v", all)
	}
	for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
		accounts, err := w.Accounts(w.Context(), kind)
		w.must(err)
		for _, a := range accounts {
			w.must(w.DeleteAccount(w.Context(), kind, a.ID))
		}
	}
	// counter and marker
	if all := append(db.Scan(w, db.Tables.Identifiers), db.Scan(w, db.Tables.PersonalAccessTokens)...); len(all) > 2 {
		w.Errorf("without accounts: %v", all)
	}
	for _, item := range db.Scan(w, db.Tables.Users) {
		if n := item.Int("serviceAccounts"); n != 0 {
			w.Errorf("%d service accounts", n)
		}
	}
}
