package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// restoreState is what the world knows about the final restore.
type restoreState struct {
	copied  []string // the tables that it restores
	copying bool     // until it has repaired what it has restored
}

// related are the tables whose items belong together.
var related = []string{"Users", "Identifiers", "PersonalAccessTokens", "ContextFields", "Environments", "Segments",
	"Features", "ApiTokens", "ClientTokens"}

// copySuffix is the end of the name of the copy of a table.
const copySuffix = "-copy"

// copyTables copies the tables that are restored in the end: one or all.
func (w *World) copyTables() {
	w.restores.copied = related
	if random := w.random(10); random.IntN(3) > 0 {
		w.restores.copied = related[random.IntN(len(related)):][:1]
	}
	if w.delivers && w.upTo(2, 11) == 0 {
		w.restores.copied = append(slices.Clone(w.restores.copied), "Snapshots")
	}
	for _, id := range w.restores.copied {
		w.db.Copy(id, id+copySuffix)
	}
}

// restore checks that doctor finds nothing. In some worlds, it restores the tables from their copies, as docs/backup.md
// describes, and checks what must hold afterwards.
func (w *World) restore() {
	if w.over {
		return
	}
	p := w.newProcess("operator/restore")
	i := w.newInstallation(p)
	o := operator.New(i, p.now, p)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // after a violation, nothing responds
	defer cancel()
	must := func(what string, err error) {
		if err != nil {
			w.fail("after the restore of %v, toggleadmin %s fails: %v", w.restores.copied, what, err)
		}
	}
	w.restores.copying = true
	if !w.delivers { // nothing has been compiled
		for _, environment := range w.existingEnvironments() {
			w.must(w.compiler(i.Client, p, p.now).Compile(ctx, environment))
		}
	}
	if problems, repaired := w.repair(ctx, i, p); problems > 0 || repaired {
		w.fail("doctor finds a problem") // which the repair after a restore would hide
	}
	if w.over || len(w.restores.copied) == 0 {
		return
	}
	before := w.access()
	highest := slices.Max(slices.Collect(maps.Keys(before.users)))
	for _, id := range w.restores.copied {
		_, err := i.Restore(ctx, id, id+copySuffix, p.now())
		must("restore", err)
	}
	w.meanwhileRestored()
	w.repair(ctx, i, p)
	w.checkFields()
	w.checkClientTokens()
	w.checkWithdrawn(before)
	for _, id := range slices.Sorted(maps.Keys(w.users())) { // what docs/backup.md leaves to the operator
		u, old := w.users()[id], before.users[id]
		kind := user.Kind(u.String("kind"))
		if kind == "" || w.over {
			continue
		}
		if old["kind"] == nil { // it was deleted, or added by a sign-in, and can have the address of another account
			must("delete", o.DeleteAccount(ctx, kind, id, true))
			continue
		}
		must("enable", errorOf(o.SetDisabled(ctx, kind, id, old.Bool("disabled"), true)))
		must("set-role", errorOf(o.SetRole(ctx, kind, id, access.Role(old.String("rootRole")), true)))
	}
	if problems, _ := w.repair(ctx, i, p); problems > 0 {
		w.fail("after the restore of %v, %d problems are left", w.restores.copied, problems)
	}
	// An account that the operator deletes can have had the names of another one until the repair.
	w.restores.copying = false
	w.restartHistories()
	w.checkRelations()
	a, err := o.AddAccount(ctx, user.Person, "Last", "last@example.com", access.RoleViewer)
	must("users add", err)
	token, _, err := o.CreateToken(ctx, a.ID, "last", new(p.now().AddDate(0, 0, 1)))
	must("tokens create", err)
	if id, _ := strconv.ParseInt(token.ID, 10, 64); a.ID <= highest || id <= w.tokens.highest {
		w.fail("after the restore of %v, the account %d and the token %s are created, and existed", w.restores.copied, a.ID,
			token.ID)
	}
	held := map[string]bool{} // in their project, by dependencies
	for _, item := range w.db.Items("Features") {
		f := w.decodeFeature(item)
		held[f.Name] = f.Dependency != nil || len(f.Children) > 0
	}
	for _, name := range w.toggles.names {
		if held[name] {
			continue
		}
		_, _, _, err := o.PutToggle(ctx, name, operator.ToggleChange{Project: new("last")})
		must("features put", err)
	}
	w.checkConverged()
}

// repair repairs, and returns the number of problems that are left, and whether something was repaired.
func (w *World) repair(ctx context.Context, i *installation.Installation, p *process) (problems int, repaired bool) {
	problems = doctor.Repair(ctx, doctor.Config{Installation: i, Now: p.now, Random: p, Report: func(f doctor.Finding) {
		w.note("%s: %s: %s", f.Check, f.Status, f.Detail)
		repaired = repaired || strings.HasPrefix(f.Detail, "repaired: ")
	}})
	return problems, repaired
}

// meanwhileRestored is what happens between a restore and its repair: the search for expiring tokens runs, people sign
// in, and service accounts are renamed.
func (w *World) meanwhileRestored() {
	w.announce()
	visitor := &actor{World: w, Rand: w.random(11), name: "visitor"}
	for _, subject := range returning {
		visitor.do(identified(subject), "GET user", nil)
	}
	for _, id := range w.accounts.robots {
		visitor.do(w.admin, fmt.Sprint("PUT service-account/", id), object{"name": "Renamed"})
	}
}

// returning are the subjects who sign in between a restore and its repair.
var returning = []string{"ada", "bob", "eve"}

// rights are the accounts and the ids of the tokens at a time.
type rights struct {
	users  map[int64]dynamo.Item
	tokens map[string]bool
}

func (w *World) access() rights {
	r := rights{w.users(), map[string]bool{}}
	for _, table := range []string{"PersonalAccessTokens", "ApiTokens", "ClientTokens"} {
		for _, item := range w.db.Items(table) {
			id := fmt.Sprint(table, item["id"], item.String(clienttokentable.Hash))
			r.tokens[id] = item["verifier"] != nil
		}
	}
	return r
}

// checkWithdrawn checks that nobody may do more after a restore and its repair than before.
func (w *World) checkWithdrawn(before rights) {
	now := w.access()
	for id, u := range now.users {
		old, known := before.users[id]
		was, is := access.Role(old.String("rootRole")), access.Role(u.String("rootRole"))
		identity := u.Map("identity").String("subject")
		switch {
		case u["kind"] == nil:
		case u.Bool("disabled"):
		case old["kind"] == nil && id <= slices.Max(slices.Collect(maps.Keys(before.users))):
			w.fail("the restore of %v brings the account %d back", w.restores.copied, id)
		case !known: // it was added by a sign-in
		case old.Bool("disabled"):
			w.fail("the restore of %v enables the account %d", w.restores.copied, id)
		case is.ID() < was.ID():
			w.fail("the restore of %v makes the account %d %s, from %s", w.restores.copied, id, is, was)
		case identity != "" && identity != old.Map("identity").String("subject") && !slices.Contains(returning, identity):
			w.fail("the restore of %v links the account %d to %s", w.restores.copied, id, identity)
		}
	}
	for token, valid := range now.tokens {
		if valid && !before.tokens[token] {
			w.fail("the restore of %v brings %s back", w.restores.copied, token)
		}
	}
}
