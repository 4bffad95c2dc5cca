package operator

import (
	"context"
	"errors"
	"fmt"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/operator/unleash"
	"toggleadmin/pkg/toggle"
)

// installed returns where documents come from and go to.
func (o *Operator) installed() transfer.Installation {
	return transfer.Installation{
		Types:        o.types,
		Fields:       o.fields,
		Environments: o.environments,
		Projects:     o.projects,
		Roles:        o.roles,
		Groups:       o.groups,
		TagTypes:     o.tagTypes,
		Segments:     o.segments,
		Features:     o.features,
		FeatureLimit: o.installation.FeatureLimit,
		Users:        o.users,
		AccountLimit: o.installation.AccountLimit,
		Issuer:       o.installation.Issuer,
		Now:          o.now,
		NewStrategy:  toggle.NewStrategyIDs(o.now, o.random),
	}
}

// Export returns everything but secrets: types, context fields, toggles, and accounts without their tokens.
func (o *Operator) Export(ctx context.Context) (transfer.Document, error) {
	return o.installed().Export(ctx)
}

// Import writes a document. The report is valid even with an error. If ctx ends, the error states it.
func (o *Operator) Import(ctx context.Context, d transfer.Document, options transfer.Options) (transfer.Report, error) {
	report, err := o.installed().Import(ctx, d, options)
	if err != nil && ctx.Err() != nil {
		err = exitstatus.Errorf(exitstatus.Failure,
			"interrupted: what was written stays; repeat the command to write the rest")
	}
	return report, err
}

// ParseImport reads a file: an export of toggleadmin, or one of Unleash. name is the name of the file.
func ParseImport(name string, text []byte) (transfer.Document, error) {
	d, err := transfer.Parse(text)
	if errors.Is(err, transfer.ErrFormat) {
		if d, err = unleash.Parse(text); errors.Is(err, unleash.ErrFormat) {
			err = fmt.Errorf("%w, and %w", transfer.ErrFormat, err)
		}
	}
	if err != nil {
		return transfer.Document{}, exitstatus.Errorf(exitstatus.Usage, "%s cannot be imported: %v", name, err)
	}
	return d, nil
}
