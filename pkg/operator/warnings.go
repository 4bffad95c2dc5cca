package operator

import (
	"context"
	"fmt"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
)

// DisableWarnings returns what an operator should know before an account is disabled. Its error is that of
// DemoteWarnings.
func (o *Operator) DisableWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	warnings, err := o.DemoteWarnings(ctx, a, force)
	if a.Kind == user.Person && a.Identity == nil && o.installation.Issuer != "" {
		warnings = append(warnings,
			fmt.Sprintf("%s (%d) is not linked to an identity. If unknown people may sign in (OidcDefaultRole), ID tokens "+
				"without "+
				"the e-mail address of %[1]s add a new account: link %[1]s first, with `toggleadmin users link %[2]d --subject SUB`.", a.Name, a.ID))
	}
	return warnings, err
}

// DeleteWarnings returns what an operator should know before an account is deleted. Its error is that of DemoteWarnings.
func (o *Operator) DeleteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	warnings, err := o.DemoteWarnings(ctx, a, force)
	if a.Kind == user.Person && o.installation.Issuer != "" {
		warnings = append(warnings,
			fmt.Sprintf("If unknown people may sign in (OidcDefaultRole), the next sign-in of %s adds a new account. "+
				"To keep %[1]s out, use `toggleadmin users disable %[2]d` instead.", a.Name, a.ID))
	}
	return warnings, err
}

// DemoteWarnings returns what an operator should know before a person loses the role Admin, or an error if the person is
// the last enabled Admin and force is false.
func (o *Operator) DemoteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	if a.Kind != user.Person || a.Role != access.RoleAdmin || a.Disabled {
		return nil, nil
	}
	people, err := o.Accounts(ctx, user.Person)
	if err != nil {
		return nil, err
	}
	return demoteWarnings(a, people, force)
}

// demoteWarnings is DemoteWarnings for a person who is an enabled Admin.
func demoteWarnings(a Account, people []Account, force bool) ([]string, error) {
	for _, other := range people {
		if other.ID != a.ID && other.Role == access.RoleAdmin && !other.Disabled {
			return nil, nil
		}
	}
	if !force {
		return nil, exitstatus.Errorf(exitstatus.Rejected,
			"%s (%d) is the last enabled person with the role Admin: make another person Admin first, or use --force", a.Name, a.ID)
	}
	return []string{fmt.Sprintf("%s (%d) is the last enabled person with the role Admin.", a.Name, a.ID)}, nil
}
