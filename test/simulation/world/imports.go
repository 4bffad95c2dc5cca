package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// importedToggle is a toggle that only imports create. It has the shard of the others.
const importedToggle = "t83"

// importToggles imports a document with some of the toggles, often side by side with somebody who imports them, too, or
// deletes one. A context field that it contains is created by the first import.
func (a *actor) importToggles() {
	d := a.document(importedToggle, subject(a, a.toggles.names...))
	if a.IntN(2) == 0 {
		a.deleteToggle(importedToggle)
	}
	switch a.IntN(4) {
	case 0:
		a.beforeWrite(func(b *actor) { b.importDocument(b.document(importedToggle)) })
	case 1:
		a.beforeWrite(func(b *actor) { b.deleteToggle(importedToggle) })
	default:
		a.meanwhile(func(b *actor) { b.importDocument(d) })
	}
	a.importDocument(d)
	for _, t := range d.Features {
		if t.Name == importedToggle {
			a.readToggle(a.admin, t.Name, t.Project)
		}
	}
}

// document returns a document with toggles and a context field.
func (a *actor) document(names ...string) transfer.Document {
	a.n++
	d := transfer.Document{ContextFields: []transfer.ContextField{{
		Name: "imported", SortOrder: -1, LegalValues: []transfer.LegalValue{},
	}}}
	for _, name := range names {
		d.Features = append(d.Features, toggle.FeatureJSON{
			Name:          name,
			Project:       choose(a, "default", "shop"),
			Type:          choose(a, a.types.names...),
			Description:   new(fmt.Sprint(a.name, " ", a.n)),
			Stale:         a.IntN(4) == 0,
			ContextFields: []string{},
		})
	}
	return d
}

// importDocument imports a document. Whatever has happened to its toggles before, they are afterwards as it has them.
func (a *actor) importDocument(d transfer.Document) {
	var report transfer.Report
	o := a.command(fmt.Sprintf("import %v", d.Features), func(ctx context.Context) (err error) {
		report, err = a.operator.Import(ctx, d, transfer.Options{Progress: func(string, int, int) {}})
		if err != nil && ctx.Err() != nil { // it reports an interruption
			err = dynamo.ErrUnavailable
		}
		return err
	})
	o.unknown = !o.ok()
	for _, t := range d.Features {
		i := slices.IndexFunc(report.Features.Skipped, func(r transfer.Remark) bool { return r.Name == t.Name })
		if i >= 0 && strings.Contains(report.Features.Skipped[i].Text, "depend") {
			a.checkHeld(o, t.Name, true)
			continue // it is of another project
		}
		if i >= 0 {
			a.fail("an import skips the toggle %s: %v", t.Name, report.Features.Skipped)
		}
		a.edit(o, "toggle", t.Name, "put", edit{change: object{
			"project": t.Project, "type": t.Type, "description": *t.Description, "archived": false, "stale": t.Stale,
			"contextFields": t.ContextFields,
		}})
	}
}
