package world

import (
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/dynamo"
)

// importToggles imports a document with some of the toggles, often side by side with somebody who imports the same one.
// A context field that it contains is created by the first import.
func (a *actor) importToggles() {
	a.n++
	d := transfer.Document{ContextFields: []transfer.ContextField{{
		Name: "imported", SortOrder: -1, LegalValues: []transfer.LegalValue{},
	}}}
	for _, name := range []string{subject(a, a.toggles.names...), choose(a, a.toggles.names...)} {
		if len(d.Features) > 0 && d.Features[0].Name == name {
			continue
		}
		d.Features = append(d.Features, transfer.Toggle{
			Name:          name,
			Project:       choose(a, "default", "shop"),
			Type:          choose(a, a.types.names...),
			Description:   new(fmt.Sprint(a.name, " ", a.n)),
			Stale:         a.IntN(4) == 0,
			ContextFields: []string{},
		})
	}
	a.meanwhile(func(b *actor) { b.importDocument(d) })
	a.importDocument(d)
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
		if slices.ContainsFunc(report.Features.Skipped, func(r transfer.Remark) bool { return r.Name == t.Name }) {
			a.fail("an import skips the toggle %s: %v", t.Name, report.Features.Skipped)
		}
		a.edit(o, "toggle", t.Name, "put", edit{change: object{
			"project": t.Project, "type": t.Type, "description": *t.Description, "archived": false, "stale": t.Stale,
			"contextFields": t.ContextFields,
		}})
	}
}
