package doctor

import (
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/outcome"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/user"
)

// seeds looks for what every installation has.
func (d *doctor) seeds(ctx context.Context) (string, error) {
	i := d.Installation
	if err := i.MustBeInitialised(ctx); outcome.Of(err) == outcome.Uninitialised {
		return "", problem(err.Error(), fmt.Sprintf("toggleadmin init %s", i.Option))
	} else if err != nil {
		return "", err
	}
	marker, _, err := seed.ReadMarker(ctx, i.Client, i.Tables)
	if err != nil {
		return "", err
	}
	types, err := featuretype.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range featuretype.Defaults() {
		if !slices.ContainsFunc(types, func(have featuretype.FeatureType) bool { return have.ID == t.ID }) {
			return "", problem(fmt.Sprintf("the feature type %q is missing from the table FeatureTypes", t.ID), lost)
		}
	}
	fields, err := contextfield.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range contextfield.Defaults(marker.At) {
		if !slices.ContainsFunc(fields, func(have contextfield.ContextField) bool { return have.Name == f.Name }) {
			return "", problem(fmt.Sprintf("the context field %q is missing from the table ContextFields", f.Name), lost)
		}
	}
	people, err := user.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	administrators := 0
	for _, u := range people {
		if u.Kind == user.Person && u.Role == auth.RoleAdmin && !u.Disabled {
			administrators++
		}
	}
	if administrators == 0 {
		return "", problem("no administrator is enabled",
			fmt.Sprintf("enable one (toggleadmin users enable ID %[1]s) or add one (toggleadmin users add %[1]s --role Admin …)", i.Option))
	}
	return fmt.Sprintf("initialised at %s: %d feature types, %d context fields, enabled administrators: %d",
		datetime.Format(marker.At), len(types), len(fields), administrators), nil
}

const lost = "no command of this service removes one, so data are lost: restore the table from a backup (see docs/backup.md)"
