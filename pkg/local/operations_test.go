package local_test

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

// loadTemplate loads template.yaml with an event bus, a webhook and an issuer.
func loadTemplate(t *testing.T) *samtemplate.Template {
	t.Helper()
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{Parameters: map[string]string{
		"ClientApi": "true", "SendEventsToBus": "true", "WebhookSecretName": "/webhook", "OidcIssuer": "https://issuer.test", "OidcClientId": "c",
	}})
	assert.OK(t, err)
	return template
}

// The operations are the template's functions behind routes with an authorizer.
func TestOperationsHaveTheTemplatesRoutes(t *testing.T) {
	t.Parallel()
	template := loadTemplate(t)
	names := map[string]string{} // by logical id
	for _, f := range template.Functions {
		names[f.LogicalID] = f.Name
	}
	var want, got []string
	for _, route := range template.API.Routes {
		if route.Authorized {
			want = append(want, names[route.Function]+" "+route.Method+" "+route.Path)
		}
	}
	for _, o := range local.Operations() {
		got = append(got, o.Name+" "+o.Route)
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, want, got)
}

// optional are the variables without which a function starts.
var optional = []string{"DYNAMODB_ENDPOINT", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT", "OIDC_DEFAULT_ROLE",
	"OIDC_GROUPS_CLAIM",
	"OIDC_ISSUER", "OIDC_CLIENT_ID", "VERSION", "CLIENT_URL", "CLIENT_ORIGIN_SECRET"}

// A function starts with the variables that the template gives it. If one is missing, it starts or its error names the
// variable. Every variable is one that a function needs.
func TestFunctionsNeedTheTemplatesVariables(t *testing.T) {
	t.Parallel()
	unused := map[string]bool{}
	for _, f := range loadTemplate(t).Functions {
		for variable := range f.Environment {
			unused[variable] = !slices.Contains(optional, variable)
		}
	}
	for _, f := range loadTemplate(t).Functions {
		start := func(variables map[string]string) error {
			_, err := local.Constructor(f.Name)(&app.Env{Vars: variables, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
			return err
		}
		if err := start(f.Environment); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for variable := range f.Environment {
			variables := maps.Clone(f.Environment)
			delete(variables, variable)
			if err := start(variables); err != nil {
				unused[variable] = false
				if !strings.Contains(err.Error(), variable) {
					t.Errorf("%s without %s: error %v", f.Name, variable, err)
				}
			}
		}
	}
	for variable, isUnused := range unused {
		if isUnused {
			t.Errorf("no function needs the variable %s", variable)
		}
	}
}
