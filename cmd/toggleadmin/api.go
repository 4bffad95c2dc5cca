package main

import (
	"context"
	"os"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
)

// apiOptions are the options of a group of commands that can use the API.
type apiOptions struct {
	URL string `name:"url" env:"TOGGLEADMIN_URL" placeholder:"URL" help:"URL of the installation. TOGGLEADMIN_TOKEN has a token, whose rights count. --stack and --local come first."`
}

// AfterApply is called by kong.
func (o *apiOptions) AfterApply(t *target) error { //nolint:unparam // kong calls it
	t.url = o.URL
	return nil
}

// apiToken is the environment variable with the token of the API.
const apiToken = "TOGGLEADMIN_TOKEN" //nolint:gosec // the name of the variable

// usesURL reports whether the installation is selected by its URL.
func (t *target) usesURL() bool { return t.url != "" && !t.Local && t.Stack == "" }

// api returns a client of the API.
func (s *session) api() (*apiclient.Client, error) {
	address, token := s.url, os.Getenv(apiToken)
	switch {
	case s.Local:
		i, err := installation.OpenLocal(s.step(), s.DataDir)
		if err != nil {
			return nil, err
		}
		address, token = i.BaseURL, i.AdminToken()
	case s.Stack != "":
		return nil, exitstatus.Errorf(exitstatus.Usage,
			"this command uses the API with a token, not --stack: set TOGGLEADMIN_URL and TOGGLEADMIN_TOKEN")
	case address == "":
		return nil, exitstatus.Errorf(exitstatus.Usage,
			"no installation is selected: set TOGGLEADMIN_URL and TOGGLEADMIN_TOKEN, or use --local")
	case token == "":
		return nil, exitstatus.Errorf(exitstatus.Usage, "there is no token for %s: set TOGGLEADMIN_TOKEN", address)
	}
	return apiclient.New(address, token)
}

// manager is what commands need that work on the tables of an installation or through its API. An *operator.Operator works
// on the tables, an *operator.Remote through the API.
type manager interface {
	CheckEnvironment(ctx context.Context, name string) error

	Toggles(ctx context.Context) ([]operator.Toggle, error)
	Toggle(ctx context.Context, name string) (operator.Toggle, error)
	ToggleDetails(ctx context.Context, name string) (operator.ToggleDetails, error)
	HasStatus(ctx context.Context, environment string, on bool) (func(operator.Toggle) bool, error)
	UsesSegment(ctx context.Context, name string) (func(operator.Toggle) bool, error)
	PutToggle(ctx context.Context, name string, change operator.ToggleChange) (
		t operator.Toggle, created, changed bool, err error)
	ChangeToggles(ctx context.Context, names []string, action operator.Action) (operator.ToggleChanges, error)
	SwitchToggle(ctx context.Context, name, environment string, on bool) (operator.Switch, error)
	DeleteToggle(ctx context.Context, name string) error

	ChangeRequests(ctx context.Context, project string, closed bool, limit int) ([]changerequest.Found, error)
	ChangeRequest(ctx context.Context, id int64) (changerequest.Response, error)
	SetChangeRequestState(ctx context.Context, id, account int64, asked changerequest.Asked, comment string) (
		changerequest.Response, error)

	ClientTokens(ctx context.Context) ([]operator.ClientToken, error)
	FindClientToken(ctx context.Context, text string) (operator.ClientToken, error)
	FindClientTokenBySecret(ctx context.Context, text string) (operator.ClientToken, error)
	CreateClientToken(ctx context.Context, request operator.ClientTokenRequest) (
		operator.ClientToken, clienttokentable.Secret, error)
	CreateClientTokens(ctx context.Context, lines []operator.ClientTokenLine) ([]operator.CreatedClientToken, error)
	RotateClientToken(ctx context.Context, t operator.ClientToken, overlap time.Duration) (
		operator.ClientToken, clienttokentable.Secret, error)
	RevokeClientToken(ctx context.Context, t operator.ClientToken) error
	RevokeClientTokens(ctx context.Context, all []operator.CreatedClientToken) error

	Projects(ctx context.Context) ([]operator.Project, error)
	Project(ctx context.Context, id string) (operator.Project, error)
	CreateProject(ctx context.Context, id string, change operator.ProjectChange, owners operator.Owners) (
		operator.Project, error)
	UpdateProject(ctx context.Context, id string, change operator.ProjectChange) (
		p operator.Project, changed bool, err error)
	ArchiveProject(ctx context.Context, id string) (p operator.Project, changed bool, err error)
	ReviveProject(ctx context.Context, id string) (p operator.Project, changed bool, err error)
	DeleteProject(ctx context.Context, id string) error
}

// manager opens the installation, which must be initialized, or uses its API.
func (s *session) manager() (manager, error) {
	if s.usesURL() {
		return s.remote()
	}
	o, err := s.operator()
	if err != nil {
		return nil, err
	}
	return o, nil
}

// remote returns what works through the API.
func (s *session) remote() (*operator.Remote, error) {
	client, err := s.api()
	if err != nil {
		return nil, err
	}
	return operator.NewRemote(client, s.now), nil
}

// errTables is the error of a command that does not use the API.
var errTables = exitstatus.Errorf(exitstatus.Usage,
	"this command works on the tables of an installation: use --stack NAME or --local, not --url")
