package doctor_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
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
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
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
	a, err := w.AddAccount(w.Context(), kind, name, email, access.RoleEditor)
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

func (w *world) project(id string) {
	w.Helper()
	_, err := w.CreateProject(w.Context(), id, operator.ProjectChange{}, operator.Owners{})
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

// copyPrefix is the beginning of the names of copies.
const copyPrefix = "copy-of-"

// copyTables makes copies of all tables.
func copyTables(t *testing.T, db *database.Database) {
	t.Helper()
	template, err := samtemplate.Load("../../../template.yaml", samtemplate.Settings{})
	assert.OK(t, err)
	for _, table := range template.Tables {
		id := table.Name
		table.Name, table.StreamViewType, table.TTLAttribute = copyPrefix+id, "", "" // which a recovery does not copy
		assert.OK(t, tables.Make(t.Context(), db.Client, []samtemplate.Table{table}))
		for _, item := range db.Scan(t, db.Tables[id]) {
			db.Put(t, table.Name, item)
		}
	}
}

// restore restores all tables, and returns the accounts and tokens that stay as they are.
func (w *world) restore(i *installation.Installation) (withdrawn []eventlog.Subject) {
	w.Helper()
	w.must(i.Restore(w.Context(), copyPrefix, time.Now, func(r installation.Restored) {
		withdrawn = append(withdrawn, r.Withdrawn...)
	}))
	slices.Sort(withdrawn)
	return withdrawn
}

// TestRestore restores all tables to an older state, repairs, and uses what is there. In one case, doctor finds that the
// first attempt has not ended.
func TestRestore(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		t.Run(fmt.Sprint("interrupted: ", interrupted), func(t *testing.T) {
			t.Parallel()
			db, i := newInstallation(t)
			i.TokenLimit, i.AccountLimit = 10, user.DefaultLimit
			w := newWorld(t, i)
			w.project("other")
			w.field("plan")
			w.toggle("checkout", "shop", "plan", "userId")
			w.toggle("search", "shop", "plan")
			build, ada := w.account(user.ServiceAccount, "build", ""), w.account(user.Person, "Ada", "ada@example.com")
			w.link(ada, "ada")
			w.token(ada, "laptop")
			kept, old := w.token(build, "kept"), w.token(build, "pipeline")
			copyTables(t, db)

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

			if interrupted {
				ctx, interrupt := context.WithCancel(t.Context())
				err := i.Restore(ctx, copyPrefix, time.Now, func(r installation.Restored) {
					if r.Table == "Identifiers" {
						interrupt()
					}
				})
				assert.ErrorIs(t, err, context.Canceled)
				if problems := examine(t, i, api(t, db)); problems["accounts"] == "" || problems["snapshots"] == "" {
					t.Errorf("after half a restore: %v", problems)
				}
			}
			assert.Equal(t, []eventlog.Subject{"pat:4", "pat:6", eventlog.PersonSubject(ada)}, w.restore(i))
			// an operator can put back a counter
			for table, key := range map[string]dynamo.Item{"Users": user.Key(0), "PersonalAccessTokens": pat.Key(0, 0)} {
				counter := db.Get(t, db.Tables[table], key)
				older := db.Get(t, copyPrefix+table, key)
				if fmt.Sprint(counter) == fmt.Sprint(older) {
					t.Errorf("the restore puts back the counter of %s", table)
				}
				db.Put(t, db.Tables[table], older)
			}
			repair(t, i)
			if problems := examine(t, i, api(t, db)); len(problems) > 0 {
				t.Errorf("after the repair: %v", problems)
			}
			if n := len(db.Events(t)); n < events {
				t.Errorf("%d events, %d before", n, events)
			}
			for id, want := range map[string]bool{kept.ID: true, old.ID: false, renewed.ID: false} {
				if _, err := w.FindToken(t.Context(), id); (err == nil) != want {
					t.Errorf("the token %s exists: %t", id, !want)
				}
			}
			_, err := w.fields.Get(t.Context(), "plan")
			w.must(err)
			w.requireUsable(db, highest)
		})
	}
}

// TestRestoreBringsNothingBack restores all tables to a second after which access was withdrawn. Before the repair, the
// schedule announces the expiry of a token, and people sign in.
func TestRestoreBringsNothingBack(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	i.TokenLimit, i.AccountLimit = 10, user.DefaultLimit
	w := newWorld(t, i)
	disabled, demoted := w.account(user.Person, "Disabled", "disabled@example.com"), w.account(user.Person, "Demoted", "demoted@example.com")
	unlinked, deleted := w.account(user.Person, "Unlinked", "unlinked@example.com"), w.account(user.ServiceAccount, "deleted", "")
	promoted := w.account(user.Person, "Promoted", "promoted@example.com")
	w.link(unlinked, "recycled")
	soon := new(time.Now().Add(10 * 24 * time.Hour))
	revoked, _, err := w.CreateToken(t.Context(), disabled, "revoked", soon)
	w.must(err)
	kept := w.token(demoted, "kept")
	api, _, err := w.CreateToken(t.Context(), 0, "api", nil)
	w.must(err)
	clientTokens := clienttoken.NewStore(i.Client, i.Tables, i.Log(time.Now))
	client, _, err := clientTokens.Create(t.Context(), clienttokentable.Token{Name: "client", Environment: "production",
		Type: clienttokentable.Backend, ExpiresAt: soon}, 10, rand.Reader)
	w.must(err)
	copyTables(t, db)

	_, _, err = w.SetDisabled(t.Context(), user.Person, disabled, true, true)
	w.must(err)
	_, _, err = w.SetRole(t.Context(), user.Person, demoted, access.RoleViewer, true)
	w.must(err)
	_, _, err = w.SetRole(t.Context(), user.Person, promoted, access.RoleAdmin, true)
	w.must(err)
	_, _, err = w.Unlink(t.Context(), unlinked)
	w.must(err)
	w.must(w.Revoke(t.Context(), revoked), w.Revoke(t.Context(), api),
		w.DeleteAccount(t.Context(), user.ServiceAccount, deleted, true))
	shortened := time.Now().Add(time.Hour)
	w.must(clientTokens.Update(t.Context(), client.Listed(), &shortened, time.Now()))

	assert.Equal(t, 7, len(w.restore(i)))
	a := tokenexpiry.Announcer{PATs: pat.NewStore(i.Client, i.Tables, i.Log(time.Now), nil),
		ClientTokens: clientTokens, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	_, err = a.Announce(t.Context(), nil)
	w.must(err)
	_, err = user.NewStore(i.Client, i.Tables, i.Log(time.Now)).SignIn(t.Context(), user.SignIn{
		Identity: user.Identity{Issuer: "https://issuer.example.com", Subject: "disabled"}, Email: "disabled@example.com",
		EmailVerified: true, Now: time.Now(), Logger: slog.New(slog.DiscardHandler)})
	w.must(err)
	repair(t, i)
	for _, id := range []string{revoked.ID, api.ID} {
		if _, err := w.FindToken(t.Context(), id); exitstatus.Of(err) != exitstatus.NotFound {
			t.Errorf("the revoked token %s is back: %v", id, err)
		}
	}
	_, err = w.FindToken(t.Context(), kept.ID)
	w.must(err)
	found, err := clientTokens.Find(t.Context(), client.Listed())
	w.must(err)
	if found.ExpiresAt.After(shortened) {
		t.Errorf("the client token expires at %v", found.ExpiresAt)
	}
	_, err = w.Account(t.Context(), user.ServiceAccount, deleted)
	assert.Equal(t, exitstatus.NotFound, exitstatus.Of(err))
	people, err := w.Accounts(t.Context(), user.Person)
	w.must(err)
	for _, p := range people {
		if p.ID == disabled && !p.Disabled || p.ID == demoted && p.Role != access.RoleViewer || p.ID == unlinked && p.Identity != nil ||
			p.ID == promoted && p.Role != access.RoleEditor {
			t.Errorf("%+v", p)
		}
	}
}

// TestRestoreOfAccess restores groups, roles, and who has which roles in projects. What was withdrawn since stays
// withdrawn, and ids are not used again.
func TestRestoreOfAccess(t *testing.T) {
	t.Parallel()
	db, i := newInstallation(t)
	i.AccountLimit = user.DefaultLimit
	w := newWorld(t, i)
	ada, ben, ci := w.account(user.Person, "Ada", "ada@example.com"), w.account(user.Person, "Ben", "ben@example.com"),
		w.account(user.ServiceAccount, "robot", "")
	role, err := w.CreateRole(t.Context(), access.CustomType, operator.RoleChange{Name: new("Releaser"),
		Permissions: &[]string{"UPDATE_FEATURE", "DELETE_FEATURE"}})
	w.must(err)
	group := func(name string, members ...int64) int64 {
		g, err := w.AddGroup(t.Context(), operator.GroupChange{Name: &name, RootRole: new("Editor"), Mappings: &[]string{name}})
		w.must(err)
		_, err = w.ChangeMembers(t.Context(), g.ID, members, nil)
		w.must(err)
		return g.ID
	}
	changed, kept, deleted := group("changed", ada, ben), group("kept", ada), group("deleted", ben)
	grant := func(project string, revoke bool, c operator.AccessChange) {
		c.Revoke = revoke
		_, _, err := w.ChangeAccess(t.Context(), project, c)
		w.must(err)
	}
	for _, id := range []string{"stays", "withdrawn", "gone"} {
		w.project(id)
		grant(id, false, operator.AccessChange{Accounts: []int64{ada, ci}, Groups: []int64{kept, deleted}, Roles: []string{"Owner", "Releaser"}})
	}
	copyTables(t, db)

	w.toggle("new", "stays")
	grant("stays", false, operator.AccessChange{Accounts: []int64{ben}, Roles: []string{"Owner"}})
	grant("withdrawn", true, operator.AccessChange{Accounts: []int64{ada}, Roles: []string{"Owner"}})
	grant("gone", true, operator.AccessChange{Accounts: []int64{ada}, Roles: []string{"Releaser"}})
	_, _, err = w.UpdateRole(t.Context(), role.ID, operator.RoleChange{Permissions: &[]string{"UPDATE_FEATURE"}})
	w.must(err)
	_, err = w.ChangeMembers(t.Context(), changed, nil, []int64{ben})
	w.must(err)
	_, _, err = w.UpdateGroup(t.Context(), changed, operator.GroupChange{Name: new("renamed"), RootRole: new("")})
	w.must(err)
	_, _, err = w.UpdateGroup(t.Context(), kept, operator.GroupChange{Description: new("d")})
	w.must(err)
	w.must(w.DeleteGroup(t.Context(), deleted), w.DeleteProject(t.Context(), "gone"))
	w.must(w.DeleteAccount(t.Context(), user.ServiceAccount, ci, true))
	last := group("last")

	assert.Equal(t, []eventlog.Subject{user.User{ID: ci, Kind: user.ServiceAccount}.Subject(),
		eventlog.Subject(fmt.Sprint("group:", changed)), eventlog.Subject(fmt.Sprint("group:", deleted)),
		"project:gone", "project:withdrawn", "role:7"}, w.restore(i))
	repair(t, i)
	if problems := examine(t, i, api(t, db)); len(problems) > 0 {
		t.Errorf("after the repair: %v", problems)
	}
	groups, err := w.Groups(t.Context())
	w.must(err)
	editor := new(int64(access.RoleEditor))
	assert.Equal(t, []operator.Group{
		{ID: changed, Name: "renamed", Mappings: []string{"changed"}, Members: []int64{ada}},
		{ID: kept, Name: "kept", Mappings: []string{"kept"}, RootRole: editor, Members: []int64{ada}},
	}, groups)
	users := user.NewStore(i.Client, i.Tables, nil)
	for id, want := range map[int64][]int64{ada: {changed, kept}, ben: nil} {
		u, err := users.Get(t.Context(), id)
		w.must(err)
		slices.Sort(u.Groups)
		assert.Equal(t, want, u.Groups)
	}
	for project, want := range map[string]string{
		"stays":     "user 5: Owner, Releaser; group 2: Owner, Releaser; ",
		"withdrawn": "user 5: Releaser; group 2: Owner, Releaser; ",
		"gone":      "",
	} {
		grants, err := w.Access(t.Context(), project)
		w.must(err)
		got := ""
		for _, g := range grants {
			var names []string
			for _, r := range g.Roles {
				names = append(names, r.Name)
			}
			got += fmt.Sprintf("%s %d: %s; ", g.Kind, g.ID, strings.Join(names, ", "))
		}
		assert.Equal(t, want, got)
	}
	restored, err := w.Role(t.Context(), role.ID)
	w.must(err)
	assert.Equal(t, []string{"UPDATE_FEATURE"}, restored.Permissions)
	if id := group("next"); id <= last {
		t.Errorf("the group %d was added after the group %d", id, last)
	}
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
		user.User{Kind: user.Person, Name: "imported", Role: access.RoleViewer, CreatedAt: &future}, user.DefaultLimit)
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
