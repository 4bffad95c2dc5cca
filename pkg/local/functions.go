package local

import (
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/notfound"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/staleness"
	"toggleadmin/pkg/traffic"
)

// What a deployment would know of itself. The account is AWS's example.
const (
	region    = "us-east-1"
	accountID = "123456789012"
	stackName = "local"
	apiID     = "local00000"
)

// constructors is the table function → constructor, by the function's folder. Each deployed binary names its own in its main.
func constructors() map[string]app.Constructor {
	return map[string]app.Constructor{
		"authorizer":                   authorizer.NewFunction,
		"create-service-account-token": pat.NewCreateFunction,
		"delete-own-token":             pat.NewDeleteFunction,
		"get-traffic-usage":            traffic.NewGetFunction,
		"list-context-fields":          contextfield.NewListFunction,
		"list-feature-types":           featuretype.NewListFunction,
		"not-found":                    notfound.NewFunction,
		"record-traffic":               traffic.NewRecordFunction,
		"reevaluate-staleness":         staleness.NewReevaluateFunction,
		"sweep-staleness":              staleness.NewSweepFunction,
		"update-feature-type-lifetime": featuretype.NewUpdateLifetimeFunction,
		"update-feedback":              feedback.NewUpdateFunction,
	}
}

// makeFunctions makes the handler of each of the template's functions, by logical id. Constructors that are given win over the table's.
func makeFunctions(
	functions []samtemplate.Function, given map[string]app.Constructor, env func(*samtemplate.Function) *app.Env,
) (map[string]*invoke.Function, error) {
	known := constructors()
	maps.Copy(known, given)
	made := make(map[string]*invoke.Function, len(functions))
	for i := range functions {
		f := &functions[i]
		construct, ok := known[f.Name]
		if !ok {
			return nil, fmt.Errorf("the template's function %s (functions/%s) is none of %q: add its constructor to pkg/local/functions.go",
				f.LogicalID, f.Name, slices.Sorted(maps.Keys(known)))
		}
		handler, err := construct(env(f))
		if err != nil {
			return nil, fmt.Errorf("make the function %s, correct its variables in the template: %w", f.LogicalID, err)
		}
		made[f.LogicalID] = &invoke.Function{
			Name:    f.Name,
			Handler: handler,
			ARN:     "arn:aws:lambda:" + region + ":" + accountID + ":function:" + stackName + "-" + f.LogicalID,
			Timeout: f.Timeout,
		}
	}
	return made, nil
}
