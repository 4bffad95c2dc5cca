package operator

import (
	"context"
	"errors"
	"fmt"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator/exitstatus"
)

// CreatedClientToken is a client token that was created, with its secret.
type CreatedClientToken struct {
	ClientToken

	Secret clienttokentable.Secret `json:"-"`
}

// CreateClientTokens creates the client tokens of lines, all of them or none. It checks all before it creates the first
// one: its error names each line that cannot be created, up to maxProblems.
func (o *Operator) CreateClientTokens(ctx context.Context, lines []ClientTokenLine) (
	all []CreatedClientToken, err error,
) {
	stored, err := o.readForTokens(ctx)
	if err != nil {
		return nil, err
	}
	tokens := make([]clienttokentable.Token, len(lines))
	var problems []string
	for i, line := range lines {
		t, err := o.checkLine(line, stored)
		if err == nil {
			t.ExpiresAt, err = o.checkExpiry(line.ExpiresAt, t.CreatedAt)
		}
		if err != nil {
			problems = append(problems, line.problem(err))
		}
		tokens[i] = t
	}
	if err := o.rejectLines("nothing was created", problems, len(stored.tokens)+len(lines)); err != nil {
		return nil, err
	}
	for i, t := range tokens {
		created, secret, err := o.clientTokens.Create(ctx, t, o.installation.ClientTokenLimit, o.random)
		if err != nil {
			err = fmt.Errorf("line %d: %w", lines[i].Line, exitstatus.Explain(err))
			return nil, errors.Join(err, o.RevokeClientTokens(context.WithoutCancel(ctx), all))
		}
		all = append(all, CreatedClientToken{o.newClientToken(created, stored.toggles), secret})
	}
	return all, nil
}

// RevokeClientTokens deletes tokens that CreateClientTokens returned. It tries all of them.
func (o *Operator) RevokeClientTokens(ctx context.Context, all []CreatedClientToken) error {
	var errs []error
	for _, t := range all {
		errs = append(errs, o.RevokeClientToken(ctx, t.ClientToken))
	}
	return errors.Join(errs...)
}
