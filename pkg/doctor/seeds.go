package doctor

import (
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/exitstatus"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/user"
)

// seeds checks the data that every installation has.
func (d *doctor) seeds(ctx context.Context) (string, error) {
	const restore = "no command of this service deletes it, so data was lost: restore the table from a backup (see docs/backup.md)"
	i := d.Installation
	marker, err := i.Initialization(ctx)
	if exitstatus.Of(err) == exitstatus.Uninitialized {
		return "", problem(err.Error(), "toggleadmin init "+i.Option)
	}
	if err != nil {
		return "", err
	}
	types, err := featuretype.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	for _, t := range featuretype.Defaults() {
		if !slices.ContainsFunc(types, func(stored featuretype.FeatureType) bool { return stored.ID == t.ID }) {
			return "", problem(fmt.Sprintf("the table FeatureTypes lacks the feature type %q", t.ID), restore)
		}
	}
	fields, err := contextfield.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range contextfield.Defaults(marker.At) {
		if !slices.ContainsFunc(fields, func(stored contextfield.ContextField) bool { return stored.Name == f.Name }) {
			return "", problem(fmt.Sprintf("the table ContextFields lacks the context field %q", f.Name), restore)
		}
	}
	accounts, err := user.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	administrators := 0
	for _, u := range accounts {
		if u.Kind == user.Person && u.Role == auth.RoleAdmin && !u.Disabled {
			administrators++
		}
	}
	if administrators == 0 {
		return "", problem("no administrator is enabled",
			fmt.Sprintf("enable one (toggleadmin users enable ID %[1]s) or add one (toggleadmin users add %[1]s --role Admin …)", i.Option))
	}
	return fmt.Sprintf("initialized at %s: %d feature types, %d context fields, enabled administrators: %d",
		datetime.Format(marker.At), len(types), len(fields), administrators), nil
}
