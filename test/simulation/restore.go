package simulation

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// related are the tables whose items belong together.
var related = []string{"Users", "Identifiers", "PersonalAccessTokens", "ContextFields", "Features"}

// copySuffix is the end of the name of the copy of a table.
const copySuffix = "-copy"

// copyTables copies the tables that are restored in the end: one or all.
func (w *World) copyTables() {
	w.copied = related
	if random := w.random(10); random.IntN(3) > 0 {
		w.copied = related[random.IntN(len(related)):][:1]
	}
	for _, id := range w.copied {
		w.db.Copy(id, id+copySuffix)
	}
}

// restore restores the tables from their copies, as docs/backup.md describes, and checks what must hold afterwards.
func (w *World) restore() {
	if len(w.copied) == 0 || w.over {
		return
	}
	p := w.newProcess("operator/restore")
	i := w.newInstallation(p)
	o := operator.New(i, p.now, p)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour) // after a violation, nothing responds
	defer cancel()
	highest := slices.Max(slices.Collect(maps.Keys(w.users())))
	must := func(what string, err error) {
		if err != nil {
			w.fail("after the restore of %v, toggleadmin %s fails: %v", w.copied, what, err)
		}
	}
	w.copying = true
	for _, id := range w.copied {
		_, err := i.Restore(ctx, id, id+copySuffix, p.now())
		must("restore", err)
	}
	problems := doctor.Repair(ctx, doctor.Config{Installation: i, Now: p.now, Random: p, Report: func(f doctor.Finding) {
		w.note("%s: %s: %s", f.Check, f.Status, f.Detail)
	}})
	if w.copying = false; problems > 0 {
		w.fail("after the restore of %v, %d problems are left", w.copied, problems)
	}
	w.checkUsage()
	w.checkRelations()
	a, err := o.AddAccount(ctx, user.Person, "Last", "last@example.com", access.RoleViewer)
	must("users add", err)
	token, _, err := o.CreateToken(ctx, a.ID, "last", new(p.now().AddDate(0, 0, 1)))
	must("tokens create", err)
	if id, _ := strconv.ParseInt(token.ID, 10, 64); a.ID <= highest || id <= w.highest {
		w.fail("after the restore of %v, the account %d and the token %s are created, and existed", w.copied, a.ID, token.ID)
	}
	for _, name := range w.toggles {
		_, _, _, err := o.PutToggle(ctx, name, operator.ToggleChange{Project: new("last")})
		must("features put", err)
	}
}

func (w *World) newOperator(p *process) *operator.Operator {
	return operator.New(w.newInstallation(p), p.now, p)
}

func (w *World) newInstallation(p *process) *installation.Installation {
	client, err := dynamo.NewClient(p.config(), "")
	w.must(err)
	return &installation.Installation{
		Name: "the simulation", Tables: w.tables, TokenLimit: tokenLimit, AccountLimit: user.DefaultLimit,
		EventSource: source, Issuer: "https://" + issuerHost, Client: client,
	}
}
