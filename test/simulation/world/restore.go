package world

import (
	"context"
	"errors"
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
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// restoreState is what the world knows about the final restore.
type restoreState struct {
	copied  bool   // the tables have copies, which the restore uses
	copying bool   // until it has repaired what it has restored
	end     func() // ends its calls; nil: it has not begun
}

// copyPrefix is the beginning of the name of the copy of a table.
const copyPrefix = "copy-of-"

// copyTables makes the copies of the tables for the final restore.
func (w *World) copyTables() {
	w.restores.copied = true
	for id, name := range w.tables {
		w.db.Copy(name, copyPrefix+id)
	}
}

// restore checks that doctor finds nothing. In some worlds, it restores the tables from their copies, as docs/backup.md
// describes, and checks what must hold afterwards. In some of them, a first attempt ends early.
func (w *World) restore() {
	if w.over {
		return
	}
	p := w.newProcess("operator/restore")
	i := w.newInstallation(p)
	o := operator.New(i, p.now, p)
	ctx, end := context.WithTimeout(context.Background(), time.Hour)
	defer end()
	w.restores.end = end
	must := func(what string, err error) {
		if err != nil {
			w.fail("after the restore, toggleadmin %s fails: %v", what, err)
		}
	}
	w.restores.copying = true
	if !w.delivers { // nothing has been compiled
		for _, environment := range w.existingEnvironments() {
			if err := w.compiler(i.Client, p, p.now).Compile(ctx, environment); err != nil {
				w.fail("before the restore, the compilation of %s fails: %v", environment, err)
			}
		}
	}
	if w.teams.interrupted { // what a deleted group leaves
		w.repair(ctx, i, p)
	}
	if problems, repaired := w.repair(ctx, i, p); problems > 0 || repaired {
		w.fail("doctor finds a problem") // which the repair after a restore would hide
	}
	if w.over || !w.restores.copied {
		return
	}
	w.withdraw(ctx, o, 1) // so late that indexes can lack it
	before := w.access()
	highest := slices.Max(slices.Collect(maps.Keys(before.users)))
	begun, interrupt := context.WithCancel(ctx)
	tables := 1 + w.random(10).IntN(2*len(w.tables))
	_ = i.Restore(begun, copyPrefix, p.now, func(installation.Restored) {
		if tables--; tables == 0 {
			interrupt()
		}
	})
	interrupt()
	w.withdraw(ctx, o, 2)
	before.lower(w.access())
	must("restore", i.Restore(ctx, copyPrefix, p.now, func(installation.Restored) {}))
	w.meanwhileRestored()
	w.withdraw(ctx, o, 3)
	before.lower(w.access())
	w.repair(ctx, i, p)
	w.checkFields()
	w.checkClientTokens()
	w.checkWithdrawn(before)
	if problems, _ := w.repair(ctx, i, p); problems > 0 {
		w.fail("after the restore, %d problems are left", problems)
	}
	w.restores.copying = false
	w.changedTeams()
	w.checkMemberships(w.latest())
	w.restartHistories()
	w.checkRelations()
	a, err := o.AddAccount(ctx, user.Person, "Last", "last@example.com", access.RoleViewer)
	must("users add", err)
	token, _, err := o.CreateToken(ctx, a.ID, "last", new(p.now().AddDate(0, 0, 1)))
	must("tokens create", err)
	if id, _ := strconv.ParseInt(token.ID, 10, 64); a.ID <= highest || id <= w.tokens.highest {
		w.fail("after the restore, the account %d and the token %s are created, and existed", a.ID, token.ID)
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
		visitor.do(identified(subject, time.Now()), "GET user", nil)
	}
	for _, id := range w.accounts.robots {
		visitor.do(w.admin, fmt.Sprint("PUT service-account/", id), object{"name": "Renamed"})
	}
}

// withdraw takes rights away as an operator does: it revokes and rotates tokens, disables and unlinks accounts, and
// lowers their roles. Around a restore, some of it fails because the tables differ.
func (w *World) withdraw(ctx context.Context, o *operator.Operator, n uint64) {
	random := w.random(12, n)
	done := func(what string, err error) {
		w.note("%s is withdrawn: %v", what, err)
		if err != nil && !errors.Is(err, dynamo.ErrUnavailable) && exitstatus.Of(err) == exitstatus.Failure {
			w.fail("around the restore of %v, %s is not withdrawn: %v", w.restores.copied, what, err)
		}
	}
	tokens, err := o.Tokens(ctx, 0)
	done("a list", err)
	for _, t := range tokens {
		if random.IntN(3) == 0 && (t.UserID == nil || *t.UserID != w.admin.account) {
			done("the token "+t.ID, o.Revoke(ctx, t))
		}
	}
	clientTokens, err := o.ClientTokens(ctx)
	done("a list", err)
	for _, t := range clientTokens {
		if random.IntN(3) == 0 && t.Name != "sdk" {
			done("the client token "+t.ID, o.RevokeClientToken(ctx, t))
		} else if n == 1 && random.IntN(3) == 0 { // later, the world would not know the new secret
			_, _, err := o.RotateClientToken(ctx, t, time.Hour)
			done("the secret of the client token "+t.ID, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.users())) {
		kind := user.Kind(w.users()[id].String("kind"))
		if kind == "" || id == w.admin.account {
			continue
		}
		what := fmt.Sprint("the account ", id)
		switch random.IntN(6) {
		case 0:
			done(what, errorOf(o.SetDisabled(ctx, kind, id, true, true)))
		case 1:
			done(what, errorOf(o.SetRole(ctx, kind, id, access.RoleViewer, true)))
		case 2:
			if kind == user.Person {
				done(what, errorOf(o.Unlink(ctx, id)))
			}
		}
	}
}

// returning are the subjects who sign in between a restore and its repair.
var returning = []string{"ada", "bob", "eve"}

// rights are the accounts and the ids of the tokens at a time.
type rights struct {
	users  map[int64]dynamo.Item
	tokens map[string]bool
	ends   map[string]time.Time // of secrets that were rotated, by the ids of tokens
}

func (w *World) access() rights {
	r := rights{w.users(), map[string]bool{}, map[string]time.Time{}}
	for _, table := range []string{"PersonalAccessTokens", "ApiTokens", "ClientTokens"} {
		for _, item := range w.db.Items(table) {
			id := fmt.Sprint(table, item["id"], item.String(clienttokentable.Hash))
			r.tokens[id] = item["verifier"] != nil
			if until := item.Time(clienttokentable.AttributeValidUntil); until != nil {
				r.ends[id] = *until
			}
		}
	}
	for _, item := range w.db.Items(accesstable.Table) {
		if isTrust(item) {
			r.tokens[fmt.Sprint("the trust ", item.Int("trust"))] = true
		}
	}
	return r
}

// lower leaves what somebody may do at both times.
func (r rights) lower(later rights) {
	for token := range r.tokens {
		r.tokens[token] = r.tokens[token] && later.tokens[token]
	}
	maps.Copy(r.ends, later.ends)
	for id, u := range r.users {
		now := later.users[id]
		if now["kind"] == nil || u["kind"] == nil {
			continue
		}
		lowest := maps.Clone(u)
		if now.Bool("disabled") {
			lowest["disabled"] = now["disabled"]
		}
		if now.Int("rootRole") > u.Int("rootRole") {
			lowest["rootRole"] = now["rootRole"]
		}
		if now["identity"] == nil {
			delete(lowest, "identity")
		}
		r.users[id] = lowest
	}
}

// checkWithdrawn checks that nobody may do more after a restore and its repair than before.
func (w *World) checkWithdrawn(before rights) {
	now := w.access()
	for id, u := range now.users {
		old, known := before.users[id]
		was, is := access.Role(old.Int("rootRole")), access.Role(u.Int("rootRole"))
		identity := u.Map("identity").String("subject")
		switch {
		case u["kind"] == nil:
		case u.Bool("disabled"):
		case old["kind"] == nil && id <= slices.Max(slices.Collect(maps.Keys(before.users))):
			w.fail("the restore brings the account %d back", id)
		case !known: // it was added by a sign-in
		case old.Bool("disabled"):
			w.fail("the restore enables the account %d", id)
		case is < was:
			w.fail("the restore makes the account %d %s, from %s", id, is, was)
		case identity != "" && identity != old.Map("identity").String("subject") && !slices.Contains(returning, identity):
			w.fail("the restore links the account %d to %s", id, identity)
		}
	}
	for token, valid := range now.tokens {
		if valid && !before.tokens[token] {
			w.fail("the restore brings %s back", token)
		}
		if end, ends := before.ends[token]; ends && (now.ends[token].IsZero() || now.ends[token].After(end)) && valid {
			w.fail("after the restore, %s ends at %s, and it had to end at %s", token, now.ends[token], end)
		}
	}
}
