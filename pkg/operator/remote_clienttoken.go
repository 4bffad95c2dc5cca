package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/datetime"
)

// remoteToken is a client token in the API.
type remoteToken struct {
	ClientToken

	Name   string `json:"tokenName"`
	Secret string `json:"secret"` // masked, except in the response to its creation
}

// token returns the token as commands show it. used are the numbers of toggles of projects that are not archived.
func (r *Remote) token(t remoteToken, used map[string]int) ClientToken {
	shown := t.ClientToken
	shown.Name, shown.ProjectsWithoutToggles = t.Name, []string{}
	if shown.Type == clienttokentable.OldBackend {
		shown.Type = clienttokentable.Backend
	}
	if ends := shown.Ends(); ends != nil {
		shown.Expired = *ends <= datetime.Format(r.now())
	}
	for _, project := range shown.Projects {
		if project != clienttokentable.AllProjects && used[project] == 0 {
			shown.ProjectsWithoutToggles = append(shown.ProjectsWithoutToggles, project)
		}
	}
	return shown
}

// usedProjects returns the numbers of toggles of projects that are not archived.
func (r *Remote) usedProjects(ctx context.Context) (map[string]int, error) {
	used := map[string]int{}
	all, err := r.listProjects(ctx)
	for _, p := range all {
		used[p.ID] = p.Toggles
	}
	return used, err
}

// ClientTokens is Operator.ClientTokens.
func (r *Remote) ClientTokens(ctx context.Context) ([]ClientToken, error) {
	used, err := r.usedProjects(ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Tokens []remoteToken `json:"tokens"`
	}
	if err := r.get(ctx, nil, &list, "api-tokens"); err != nil {
		return nil, err
	}
	all := make([]ClientToken, len(list.Tokens))
	for i, t := range list.Tokens {
		all[i] = r.token(t, used)
	}
	return all, nil
}

// FindClientToken is Operator.FindClientToken.
func (r *Remote) FindClientToken(ctx context.Context, text string) (ClientToken, error) {
	all, err := r.ClientTokens(ctx)
	if err != nil {
		return ClientToken{}, err
	}
	return findClientToken(all, text)
}

// FindClientTokenBySecret returns an error: the API does not search secrets.
func (r *Remote) FindClientTokenBySecret(context.Context, string) (ClientToken, error) {
	return ClientToken{}, exitstatus.Errorf(exitstatus.Usage, "a token on stdin is not possible with --url: use its id or its name")
}

// CreateClientToken is Operator.CreateClientToken.
func (r *Remote) CreateClientToken(ctx context.Context, request ClientTokenRequest) (
	ClientToken, clienttokentable.Secret, error,
) {
	projects := request.Projects
	if len(projects) == 0 {
		projects = []string{clienttokentable.AllProjects}
	}
	body := map[string]any{
		"tokenName": request.Name, "type": request.Type, "environment": request.Environment, "projects": projects,
	}
	if request.ExpiresAt != nil {
		body["expiresAt"] = datetime.Format(*request.ExpiresAt)
	}
	return r.created(ctx, body, "api-tokens")
}

// created sends a request that responds with a new secret.
func (r *Remote) created(ctx context.Context, body any, path ...string) (ClientToken, clienttokentable.Secret, error) {
	used, err := r.usedProjects(ctx)
	if err != nil {
		return ClientToken{}, clienttokentable.Secret{}, err
	}
	var made remoteToken
	if err := r.send(ctx, http.MethodPost, body, &made, path...); err != nil {
		return ClientToken{}, clienttokentable.Secret{}, err
	}
	secret, ok := clienttokentable.ParseSecret(made.Secret)
	if !ok {
		return ClientToken{}, secret, exitstatus.Errorf(exitstatus.Failure, "the response has no secret of this service: revoke %q",
			made.Name)
	}
	return r.token(made, used), secret, nil
}

// CreateClientTokens creates the client tokens of lines, all of them or none.
func (r *Remote) CreateClientTokens(ctx context.Context, lines []ClientTokenLine) (
	all []CreatedClientToken, err error,
) {
	for _, line := range lines {
		created, secret, err := r.CreateClientToken(ctx, line.ClientTokenRequest)
		if err != nil {
			err = exitstatus.Errorf(exitstatus.Of(err), "nothing was created: line %d: %v", line.Line, err)
			return nil, errors.Join(err, r.RevokeClientTokens(context.WithoutCancel(ctx), all))
		}
		all = append(all, CreatedClientToken{created, secret})
	}
	return all, nil
}

// RevokeClientTokens is Operator.RevokeClientTokens.
func (r *Remote) RevokeClientTokens(ctx context.Context, all []CreatedClientToken) error {
	var errs []error
	for _, t := range all {
		errs = append(errs, r.RevokeClientToken(ctx, t.ClientToken))
	}
	return errors.Join(errs...)
}

// RotateClientToken is Operator.RotateClientToken. The overlap is whole hours.
func (r *Remote) RotateClientToken(ctx context.Context, t ClientToken, overlap time.Duration) (
	ClientToken, clienttokentable.Secret, error,
) {
	if overlap%time.Hour != 0 {
		return ClientToken{}, clienttokentable.Secret{}, exitstatus.Errorf(exitstatus.Usage,
			"--overlap is %s: with --url, it must be hours or days", overlap)
	}
	return r.created(ctx, map[string]any{"overlapHours": int(overlap / time.Hour)}, "api-tokens", t.ID, "rotate")
}

// RevokeClientToken is Operator.RevokeClientToken.
func (r *Remote) RevokeClientToken(ctx context.Context, t ClientToken) error {
	err := r.send(ctx, http.MethodDelete, nil, nil, "api-tokens", t.ID)
	if exitstatus.Of(err) == exitstatus.NotFound {
		return fmt.Errorf("the client token %s was already revoked: %w", t.ID, err)
	}
	return err
}
