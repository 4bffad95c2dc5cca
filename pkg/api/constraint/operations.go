package constraint

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "validate-constraint",
			Route:    "POST /api/admin/constraints/validate",
			Requires: access.IsAnyone,
			Tables:   []string{contextfield.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Validate(contextfield.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
	}
}
