package operator

import (
	"context"
	"fmt"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
)

// DisableWarnings returns what an operator should know before an account is disabled.
func (o *Operator) DisableWarnings(ctx context.Context, a Account) ([]string, error) {
	warnings, err := o.DemoteWarnings(ctx, a)
	if a.Kind == user.Person && a.Identity == nil && o.installation.Issuer != "" {
		warnings = append(warnings,
			fmt.Sprintf("%s (%d) is not linked to an identity. If unknown people may sign in (OidcDefaultRole), ID tokens "+
				"without "+
				"the e-mail address of %[1]s add a new account: link %[1]s first, with `toggleadmin users link %[2]d --subject SUB`.", a.Name, a.ID))
	}
	return warnings, err
}

// DeleteWarnings returns what an operator should know before an account is deleted.
func (o *Operator) DeleteWarnings(ctx context.Context, a Account) ([]string, error) {
	warnings, err := o.DemoteWarnings(ctx, a)
	if a.Kind == user.Person && o.installation.Issuer != "" {
		warnings = append(warnings,
			fmt.Sprintf("If unknown people may sign in (OidcDefaultRole), the next sign-in of %s adds a new account. "+
				"To keep %[1]s out, use `toggleadmin users disable %[2]d` instead.", a.Name, a.ID))
	}
	return warnings, err
}

// DemoteWarnings returns what an operator should know before a person loses the role Admin.
func (o *Operator) DemoteWarnings(ctx context.Context, a Account) ([]string, error) {
	if a.Kind != user.Person || a.Role != access.RoleAdmin || a.Disabled {
		return nil, nil
	}
	people, err := o.Accounts(ctx, user.Person)
	if err != nil {
		return nil, err
	}
	for _, other := range people {
		if other.ID != a.ID && other.Role == access.RoleAdmin && !other.Disabled {
			return nil, nil
		}
	}
	return []string{fmt.Sprintf("%s (%d) is the last enabled person with the role Admin.", a.Name, a.ID)}, nil
}
