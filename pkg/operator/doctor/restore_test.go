package doctor_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/tokenexpiry"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
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

func (w *world) token(owner int64, name string) tokenlist.Token {
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
	_, err := w.fields.Create(w.Context(), contextfield.ContextField{Name: name})
	w.must(err)
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
			for _, item := range db.Scan(t, db.Tables[id]) {
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
	for _, restored := range append(slices.Sorted(maps.Keys(template.TableNames())), "all") {
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
			w.must(w.DeleteAccount(t.Context(), user.Person, ada, true))
			w.link(w.account(user.Person, "Ada", "ada@example.com"), "ada")
			w.token(w.account(user.ServiceAccount, "deploy", ""), "x")
			highest := w.account(user.ServiceAccount, "temporary", "")
			w.must(w.Revoke(t.Context(), w.token(highest, "temporary")), w.DeleteAccount(t.Context(), user.ServiceAccount,
				highest, true))
			events := len(db.Events(t))

			for id, source := range copies {
				w.restore(db, i, id, source)
			}
			if restored == "Users" || restored == "all" { // the deleted account is back
				problems := repairAndReport(t, i)
				assert.Equal(t, []string{"recorded accounts"}, slices.Collect(maps.Keys(problems)))
				w.must(w.DeleteAccount(t.Context(), user.Person, ada, true))
			}
			repair(t, i)
			if problems := examine(t, i, api(t, db)); len(problems) > 0 {
				t.Errorf("after the repair: %v", problems)
			}
			if n := len(db.Events(t)); n < events {
				t.Errorf("%d events, %d before", n, events)
			}
			// The log says which of the restored tokens was revoked.
			for id, want := range map[string]bool{
				kept.ID: true, old.ID: false, renewed.ID: restored != "PersonalAccessTokens" && restored != "all",
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
		db.Tables[id]
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

// TestRestoreBringsNothingBack restores tables to a second after which access was withdrawn. Before the repair, the
// schedule announces the expiry of a token, and people sign in.
func TestRestoreBringsNothingBack(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	for _, restored := range [][]string{{"PersonalAccessTokens"}, {"Users", "Identifiers", "PersonalAccessTokens"},
		slices.Sorted(maps.Keys(template.TableNames()))} {
		for _, used := range []bool{false, true} {
			t.Run(fmt.Sprint(restored, " used: ", used), func(t *testing.T) {
				t.Parallel()
				db, i := newInstallation(t)
				i.TokenLimit, i.AccountLimit = 10, user.DefaultLimit
				w := newWorld(t, i)
				disabled, demoted := w.account(user.Person, "Disabled", "disabled@example.com"), w.account(user.Person, "Demoted", "demoted@example.com")
				unlinked, deleted := w.account(user.Person, "Unlinked", "unlinked@example.com"), w.account(user.ServiceAccount, "deleted", "")
				w.link(unlinked, "recycled")
				creator := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "Disabled", UserID: disabled})
				_, _, _, err := w.PutToggle(creator, "checkout", operator.ToggleChange{})
				w.must(err)
				revoked, _, err := w.CreateToken(t.Context(), disabled, "revoked", new(time.Now().Add(10*24*time.Hour)))
				w.must(err)
				kept := w.token(demoted, "kept")
				api, _, err := w.CreateToken(t.Context(), 0, "api", nil)
				w.must(err)
				copies := map[string]string{}
				for _, id := range restored {
					maps.Copy(copies, copyTables(t, db, template.Tables, id))
				}

				_, _, err = w.SetDisabled(t.Context(), user.Person, disabled, true, true)
				w.must(err)
				_, _, err = w.SetRole(t.Context(), user.Person, demoted, "Viewer", true)
				w.must(err)
				_, _, err = w.Unlink(t.Context(), unlinked)
				w.must(err)
				w.must(w.Revoke(t.Context(), revoked), w.Revoke(t.Context(), api),
					w.DeleteAccount(t.Context(), user.ServiceAccount, deleted, true))
				_, err = w.RemoveName(t.Context(), disabled)
				w.must(err)

				for id, source := range copies {
					_, err := i.Restore(t.Context(), id, source, time.Now())
					w.must(err)
				}
				if used {
					a := tokenexpiry.Announcer{PATs: pat.NewStore(i.Client, i.Tables, i.Log(time.Now), nil),
						ClientTokens: clienttoken.NewStore(i.Client, i.Tables, i.Log(time.Now)), Now: time.Now,
						Logger: slog.New(slog.DiscardHandler)}
					_, err := a.Announce(t.Context(), nil)
					w.must(err)
					_, err = user.NewStore(i.Client, i.Tables, i.Log(time.Now)).SignIn(t.Context(), user.SignIn{
						Identity: user.Identity{Issuer: "https://issuer.example.com", Subject: "disabled"}, Email: "disabled@example.com",
						EmailVerified: true, Now: time.Now(), Logger: slog.New(slog.DiscardHandler)})
					w.must(err)
				}
				problems := repairAndReport(t, i)
				want := map[string]string{}
				if len(restored) > 1 { // an operator must decide whether the account is to come back
					want["recorded accounts"] = "repaired: " +
						"the account 5 (Disabled) is enabled as Editor, and disabled as Editor in the event log; " +
						"the account 6 (Demoted) is enabled as Editor, and enabled as Viewer in the event log; " +
						"the account 7 (Unlinked) has an identity that was removed; " +
						"the account 8 (deleted) is enabled as Editor, and deleted in the event log; " +
						"1 inconsistency: the account 8 (deleted) is disabled as Editor, and deleted in the " +
						"event log → delete it again: `toggleadmin service-accounts delete 8 --local`, or keep it: " +
						"`toggleadmin service-accounts enable 8 --local`"
				}
				assert.Equal(t, want, problems)
				for _, id := range []string{revoked.ID, api.ID} {
					if _, err := w.FindToken(t.Context(), id); exitstatus.Of(err) != exitstatus.NotFound {
						t.Errorf("the revoked token %s is back: %v", id, err)
					}
				}
				_, err = w.FindToken(t.Context(), kept.ID)
				w.must(err)
				people, err := w.Accounts(t.Context(), user.Person)
				w.must(err)
				for _, p := range people {
					if p.ID == disabled && !p.Disabled || p.ID == demoted && p.Role != "Viewer" || p.ID == unlinked && p.Identity != nil {
						t.Errorf("%+v", p)
					}
				}
				if text := fmt.Sprint(db.Get(t, db.Tables["Features"], dynamo.Item{"name": dynamo.S("checkout")})); strings.Contains(text,
					"Disabled") {
					t.Errorf("the removed name is back: %s", text)
				}
				if len(restored) == 1 {
					return
				}
				// Both decisions end the problem.
				if used {
					w.must(w.DeleteAccount(t.Context(), user.ServiceAccount, deleted, true))
				} else {
					_, _, err := w.SetDisabled(t.Context(), user.ServiceAccount, deleted, false, true)
					w.must(err)
				}
				repair(t, i)
			})
		}
	}
}

// TestRestoreTakesAway restores accounts to a second before they were enabled, promoted and added: an operator decides.
func TestRestoreTakesAway(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	db, i := newInstallation(t)
	i.TokenLimit, i.AccountLimit = 10, user.DefaultLimit
	w := newWorld(t, i)
	build := w.account(user.ServiceAccount, "build", "")
	_, _, err = w.SetDisabled(t.Context(), user.ServiceAccount, build, true, true)
	w.must(err)
	copies := copyTables(t, db, template.Tables, "Users")
	_, _, err = w.SetDisabled(t.Context(), user.ServiceAccount, build, false, true)
	w.must(err)
	_, _, err = w.SetRole(t.Context(), user.ServiceAccount, build, "Admin", true)
	w.must(err)
	w.account(user.Person, "Ada", "ada@example.com")

	_, err = i.Restore(t.Context(), "Users", copies["Users"], time.Now())
	w.must(err)
	assert.Equal(t, map[string]string{"recorded accounts": "1 inconsistency: the account 5 (build) is disabled as Editor, " +
		"and enabled as Admin in the event log → `toggleadmin service-accounts enable 5 --local`, " +
		"`toggleadmin service-accounts set-role 5 Admin --local`"}, repairAndReport(t, i))
	lost := ""
	doctor.Repair(t.Context(), doctor.Config{Installation: i, Now: time.Now, Random: rand.Reader,
		Report: func(f doctor.Finding) {
			if f.Check == "accounts" {
				_, lost, _ = strings.Cut(f.Detail, "that do not exist: ")
			}
		}})
	assert.Equal(t, "user:6", lost)
	_, _, err = w.SetDisabled(t.Context(), user.ServiceAccount, build, false, true)
	w.must(err)
	_, _, err = w.SetRole(t.Context(), user.ServiceAccount, build, "Admin", true)
	w.must(err)
	repair(t, i)
}

// TestCounterAfterAFutureCreation loses the counter of accounts after the deletion of one. An imported account has a
// createdAt in the future.
func TestCounterAfterAFutureCreation(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	i.AccountLimit = user.DefaultLimit
	w := newWorld(t, i)
	future := time.Now().AddDate(1, 0, 0)
	_, err := user.NewStore(i.Client, i.Tables, i.Log(time.Now)).Add(t.Context(),
		user.User{Kind: user.Person, Name: "imported", Role: "Viewer", CreatedAt: &future}, user.DefaultLimit)
	w.must(err)
	deleted := w.account(user.ServiceAccount, "deleted", "")
	w.must(w.DeleteAccount(t.Context(), user.ServiceAccount, deleted, true))
	counter := user.Key(0)
	counter["lastAccountId"] = dynamo.N(2)
	db.Put(t, db.Tables["Users"], counter)
	repair(t, i)
	if id := w.account(user.ServiceAccount, "new", ""); id <= deleted {
		t.Errorf("the account %d was added after the account %d", id, deleted)
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
	if all := db.Scan(w, db.Tables["ContextFields"]); len(all) != 1 { // the version
		w.Errorf("without context fields: %v", all)
	}
	for _, kind := range []user.Kind{user.Person, user.ServiceAccount} {
		accounts, err := w.Accounts(w.Context(), kind)
		w.must(err)
		for _, a := range accounts {
			w.must(w.DeleteAccount(w.Context(), kind, a.ID, true))
		}
	}
	// counter and marker
	if all := append(db.Scan(w, db.Tables["Identifiers"]), db.Scan(w, db.Tables["PersonalAccessTokens"])...); len(all) > 2 {
		w.Errorf("without accounts: %v", all)
	}
	for _, item := range db.Scan(w, db.Tables["Users"]) {
		if n := item.Int("serviceAccounts"); n != 0 {
			w.Errorf("%d service accounts", n)
		}
	}
}
