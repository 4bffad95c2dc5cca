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
	return append(warnings, disableWarnings(a, o.installation.Issuer != "")...), err
}

// disableWarnings returns what an operator should know before an account is disabled in an installation at which people
// sign in.
func disableWarnings(a Account, signIn bool) []string {
	if !signIn || a.Kind != user.Person || a.Identity != nil {
		return nil
	}
	return []string{fmt.Sprintf("%s (%d) is not linked to an identity. If unknown people may sign in (OidcDefaultRole), ID "+
		"tokens without the e-mail address of %[1]s add a new account: link %[1]s first, with `toggleadmin users link %[2]d "+
		"--subject SUB`.", a.Name, a.ID)}
}

// DeleteWarnings returns what an operator should know before an account is deleted. Its error is that of DemoteWarnings.
func (o *Operator) DeleteWarnings(ctx context.Context, a Account, force bool) ([]string, error) {
	warnings, err := o.DemoteWarnings(ctx, a, force)
	return append(warnings, deleteWarnings(a, o.installation.Issuer != "")...), err
}

// deleteWarnings returns what an operator should know before an account is deleted in an installation at which people sign
// in.
func deleteWarnings(a Account, signIn bool) []string {
	if !signIn || a.Kind != user.Person {
		return nil
	}
	return []string{fmt.Sprintf("If unknown people may sign in (OidcDefaultRole), the next sign-in of %s adds a new account. "+
		"To keep %[1]s out, use `toggleadmin users disable %[2]d` instead.", a.Name, a.ID)}
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
