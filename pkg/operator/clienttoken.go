package operator

import (
	"context"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// ClientToken is a client token, without its secret.
type ClientToken struct {
	ID          string                `json:"id"` // the token without its random part
	Name        string                `json:"name"`
	Type        clienttokentable.Type `json:"type"`
	Environment string                `json:"environment"`
	Projects    []string              `json:"projects"` // only *: all
	CreatedAt   string                `json:"createdAt"`
	ExpiresAt   *string               `json:"expiresAt"`  // null: never
	SeenAt      *string               `json:"seenAt"`     // null: never used
	ValidUntil  *string               `json:"validUntil"` // of a secret that another one replaces; null: it is not replaced
	Expired     bool                  `json:"expired"`
	Imported    bool                  `json:"imported"` // it is of another installation

	// ProjectsWithoutToggles are those of the projects whose toggles are all archived, or that no toggle has.
	ProjectsWithoutToggles []string `json:"projectsWithoutToggles"`
}

// newClientToken converts a token to its output. used are the numbers of active toggles of projects.
func (o *Operator) newClientToken(t clienttokentable.Token, used map[string]int) ClientToken {
	token := ClientToken{
		ID:                     t.ID(),
		Name:                   t.Name,
		Type:                   t.Type,
		Environment:            t.Environment,
		Projects:               t.Projects,
		CreatedAt:              datetime.Format(t.CreatedAt),
		ExpiresAt:              datetime.FormatOptional(t.ExpiresAt),
		SeenAt:                 datetime.FormatOptional(t.SeenAt),
		ValidUntil:             datetime.FormatOptional(t.ValidUntil),
		Expired:                t.Expired(o.now()),
		Imported:               t.Imported,
		ProjectsWithoutToggles: []string{},
	}
	if len(t.Projects) == 0 {
		token.Projects = []string{clienttokentable.AllProjects}
	}
	for _, project := range t.Projects {
		if used[project] == 0 {
			token.ProjectsWithoutToggles = append(token.ProjectsWithoutToggles, project)
		}
	}
	return token
}

// ClientTokens returns the client tokens, ordered by name, then by time of creation.
func (o *Operator) ClientTokens(ctx context.Context) ([]ClientToken, error) {
	all, err := o.clientTokens.List(ctx)
	if err != nil {
		return nil, err
	}
	used, err := o.activeToggles(ctx)
	if err != nil {
		return nil, err
	}
	tokens := make([]ClientToken, len(all))
	for i, t := range all {
		tokens[i] = o.newClientToken(t, used)
	}
	return tokens, nil
}

// ClientTokenRequest describes a client token to create.
type ClientTokenRequest struct {
	Name        string
	Type        clienttokentable.Type
	Environment string
	Projects    []string   // none, or one of them is *: all
	ExpiresAt   *time.Time // nil: never
}

// CreateClientToken creates a client token, within the limits of the API.
func (o *Operator) CreateClientToken(ctx context.Context, request ClientTokenRequest) (
	ClientToken, clienttokentable.Secret, error,
) {
	none := clienttokentable.Secret{}
	t, err := o.newToken(request)
	if err != nil {
		return ClientToken{}, none, err
	}
	if t.ExpiresAt, err = o.checkExpiry(request.ExpiresAt, t.CreatedAt); err != nil {
		return ClientToken{}, none, err
	}
	if err := o.CheckEnvironment(ctx, request.Environment); err != nil {
		return ClientToken{}, none, err
	}
	for _, id := range t.Projects {
		if _, err := o.projects.Get(ctx, id); err != nil {
			return ClientToken{}, none, exitstatus.Explain(err)
		}
	}
	used, err := o.activeToggles(ctx)
	if err != nil {
		return ClientToken{}, none, err
	}
	created, secret, err := o.clientTokens.Create(ctx, t, o.installation.ClientTokenLimit, o.random)
	if err != nil {
		return ClientToken{}, none, exitstatus.Explain(err)
	}
	return o.newClientToken(created, used), secret, nil
}

// newToken returns the token of a request, without its expiry. It does not look up what the request names.
func (o *Operator) newToken(request ClientTokenRequest) (clienttokentable.Token, error) {
	name, err := CheckText("name", request.Name)
	if err != nil {
		return clienttokentable.Token{}, err
	}
	projects, err := CheckProjects(request.Projects)
	if err != nil {
		return clienttokentable.Token{}, err
	}
	return clienttokentable.Token{
		Name:        name,
		Type:        request.Type,
		Environment: request.Environment,
		Projects:    projects,
		CreatedAt:   datetime.Milliseconds(o.now()),
	}, nil
}

// CheckProjects returns the projects of a client token, each once. It returns none for all projects, which * stands for.
func CheckProjects(names []string) ([]string, error) {
	var projects []string
	for _, name := range names {
		if name == clienttokentable.AllProjects {
			continue
		}
		if err := toggle.CheckName(name); err != nil {
			return nil, exitstatus.Errorf(exitstatus.Usage, "%.50q is not a valid project: %v", name, err)
		}
		if !slices.Contains(projects, name) {
			projects = append(projects, name)
		}
	}
	if slices.Contains(names, clienttokentable.AllProjects) {
		return nil, nil
	}
	return projects, nil
}

// ShortID returns the last part of the id, without the projects and the environment. It identifies the token too.
func (t ClientToken) ShortID() string { return t.ID[strings.LastIndexByte(t.ID, '.')+1:] }

// FindClientToken returns the client token with an id, a short id or a name. Several tokens can have the same name, which is an error.
func (o *Operator) FindClientToken(ctx context.Context, text string) (ClientToken, error) {
	all, err := o.ClientTokens(ctx)
	if err != nil {
		return ClientToken{}, err
	}
	return findClientToken(all, text)
}

// findClientToken returns the token with an id, a short id or a name.
func findClientToken(all []ClientToken, text string) (ClientToken, error) {
	var named []ClientToken
	var ids []string
	for _, t := range all {
		if t.ID == text || t.ShortID() == text {
			return t, nil
		}
		if t.Name == text {
			named, ids = append(named, t), append(ids, t.ID)
		}
	}
	switch len(named) {
	case 0:
		return ClientToken{}, exitstatus.Errorf(exitstatus.NotFound,
			"there is no client token with the id or the name %q: list them with `toggleadmin client-tokens list`", text)
	case 1:
		return named[0], nil
	}
	return ClientToken{}, exitstatus.Errorf(exitstatus.Rejected,
		"%d client tokens have the name %q: use the id of one of them: %s", len(named), text, strings.Join(ids, ", "))
}

// FindClientTokenBySecret returns the client token with a secret in plain text.
func (o *Operator) FindClientTokenBySecret(ctx context.Context, text string) (ClientToken, error) {
	if _, ok := clienttokentable.ParseSecret(text); !ok {
		return ClientToken{}, exitstatus.Errorf(exitstatus.Usage, "the input is not a client token of this service")
	}
	t, err := o.clientTokens.Find(ctx, text)
	if err != nil {
		return ClientToken{}, exitstatus.Explain(err)
	}
	used, err := o.activeToggles(ctx)
	return o.newClientToken(t, used), err
}

// Ends returns when the secret is no longer valid: its expiry, or an earlier time because another one replaces it; nil:
// never.
func (t ClientToken) Ends() *string {
	if t.ExpiresAt == nil || t.ValidUntil != nil && *t.ValidUntil < *t.ExpiresAt { // both are in UTC
		return t.ValidUntil
	}
	return t.ExpiresAt
}

// RotateClientToken creates a second secret of a token that ClientTokens or one of the Find methods returned. The first
// one is valid for the overlap.
func (o *Operator) RotateClientToken(ctx context.Context, t ClientToken, overlap time.Duration) (
	ClientToken, clienttokentable.Secret, error,
) {
	used, err := o.activeToggles(ctx)
	if err != nil {
		return ClientToken{}, clienttokentable.Secret{}, err
	}
	created, secret, err := o.clientTokens.Rotate(ctx, t.ID, o.now(), overlap, o.installation.ClientTokenLimit, o.random)
	if err != nil {
		return ClientToken{}, clienttokentable.Secret{}, exitstatus.Explain(err)
	}
	return o.newClientToken(created, used), secret, nil
}

// RevokeClientToken deletes a token that ClientTokens, CreateClientToken or one of the Find methods returned.
func (o *Operator) RevokeClientToken(ctx context.Context, t ClientToken) error {
	err := o.clientTokens.Delete(ctx, t.ID)
	if apierror.KindOf(err) == apierror.NotFound {
		return exitstatus.Errorf(exitstatus.NotFound, "the client token %s was already revoked", t.ID)
	}
	return err
}
