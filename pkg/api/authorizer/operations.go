package authorizer

import (
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/oidc"
)

// Functions returns the Lambda authorizer.
func Functions() []app.Function {
	return []app.Function{{
		Name: "authorizer",
		Handler: func(d *app.Deps) lambda.Handler {
			config := oidc.Config{
				Issuer:   d.Vars["OIDC_ISSUER"],
				ClientID: d.Vars["OIDC_CLIENT_ID"],

				GroupsClaim: d.Vars["OIDC_GROUPS_CLAIM"],

				Loopback:  d.Local,
				Now:       d.Now,
				Logger:    d.Logger,
				Transport: d.Transport,
			}
			issuer, err := oidc.New(config)
			role, roleErr := defaultRole(d)
			d.Fail(errors.Join(err, roleErr))
			a := &Authenticator{
				Store:       openStore(d),
				Issuer:      issuer,
				Pipelines:   oidc.NewIssuers(config),
				DefaultRole: role,

				GroupsMaxAgeDays: d.Number("GROUPS_MAX_AGE_DAYS", 0, user.MaxGroupsDays),

				Now:    d.Now,
				Logger: d.Logger,
			}
			return app.Event(a.Authorize)
		},
	}}
}

// openStore returns the store of the function. Without an issuer, nobody signs in, and nothing is recorded.
func openStore(d *app.Deps) *Store {
	if d.Vars["OIDC_ISSUER"] == "" {
		d.OpenTables(pat.Table, user.Table, apitoken.Table, accesstable.Table)
		return NewStore(d.DynamoDB, d.Tables, nil)
	}
	d.OpenTables(pat.Table, user.Table, apitoken.Table, accesstable.Table, user.IdentifiersTable, eventlog.Table)
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}

// defaultRole returns the role of people who sign in for the first time, or 0.
func defaultRole(d *app.Deps) (access.Role, error) {
	name := d.Vars["OIDC_DEFAULT_ROLE"]
	if name == "" {
		return 0, nil
	}
	role, ok := access.ParseRole(name)
	if !ok {
		return 0, fmt.Errorf("the environment variable OIDC_DEFAULT_ROLE is %q: it must be empty or one of %s", name,
			access.Roles())
	}
	if d.Vars["OIDC_ISSUER"] == "" {
		return 0, errors.New("the environment variable OIDC_DEFAULT_ROLE must be empty, because OIDC_ISSUER is empty")
	}
	return role, nil
}
