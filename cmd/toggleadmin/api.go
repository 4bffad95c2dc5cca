package main

import (
	"context"
	"os"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/access"
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

	Access(ctx context.Context, id string) ([]operator.Grant, error)
	ChangeAccess(ctx context.Context, id string, c operator.AccessChange) (
		grants []operator.Grant, changed bool, err error)

	Groups(ctx context.Context) ([]operator.Group, error)
	Group(ctx context.Context, id int64) (operator.Group, error)
	AddGroup(ctx context.Context, change operator.GroupChange) (operator.Group, error)
	UpdateGroup(ctx context.Context, id int64, change operator.GroupChange) (
		g operator.Group, changed bool, err error)
	ChangeMembers(ctx context.Context, id int64, add, remove []int64) (operator.Group, error)
	DeleteGroup(ctx context.Context, id int64) error

	Roles(ctx context.Context) ([]operator.Role, error)
	Role(ctx context.Context, id int64) (operator.Role, error)
	CreateRole(ctx context.Context, t access.RoleType, change operator.RoleChange) (operator.Role, error)
	UpdateRole(ctx context.Context, id int64, change operator.RoleChange) (r operator.Role, changed bool, err error)
	DeleteRole(ctx context.Context, id int64) error
	RootRole(ctx context.Context, text string) (access.RoleDefinition, error)
	RootRoleNames(ctx context.Context) (map[access.Role]string, error)

	Accounts(ctx context.Context, kind user.Kind) ([]operator.Account, error)
	Account(ctx context.Context, kind user.Kind, id int64) (operator.Account, error)
	AddAccount(ctx context.Context, kind user.Kind, name, unique string, role access.Role) (operator.Account, error)
	SetDisabled(ctx context.Context, kind user.Kind, id int64, disabled, force bool) (
		a operator.Account, changed bool, err error)
	SetRole(ctx context.Context, kind user.Kind, id int64, role access.Role, force bool) (
		a operator.Account, changed bool, err error)
	AccountToDelete(ctx context.Context, kind user.Kind, id int64) (operator.Account, error)
	DeleteAccount(ctx context.Context, kind user.Kind, id int64, force bool) error
	DemoteWarnings(ctx context.Context, a operator.Account, force bool) ([]string, error)
	DisableWarnings(ctx context.Context, a operator.Account, force bool) ([]string, error)
	DeleteWarnings(ctx context.Context, a operator.Account, force bool) ([]string, error)

	Tokens(ctx context.Context, owner int64) ([]tokenlist.Token, error)
	FindToken(ctx context.Context, id string) (tokenlist.Token, error)
	CreateToken(ctx context.Context, owner int64, name string, expires *time.Time) (
		tokenlist.Token, access.Token, error)
	Revoke(ctx context.Context, t tokenlist.Token) error

	Evaluate(ctx context.Context, name, environment string, fields playground.Fields) (operator.Evaluation, error)
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
	return operator.NewRemote(client, s.now, s.random), nil
}

// errTables is the error of a command that does not use the API.
var errTables = exitstatus.Errorf(exitstatus.Usage,
	"this command works on the tables of an installation: use --stack NAME or --local, not --url")
