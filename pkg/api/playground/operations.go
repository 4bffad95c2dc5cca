package playground

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "evaluate-features",
			Route:    "POST /api/admin/playground/advanced",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table, segmenttable.Table, environment.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Evaluate(NewStore(d.DynamoDB, d.Tables), d.Now, d.Random)
			},
		},
		{
			Name:     "evaluate-strategy",
			Route:    "POST /api/admin/playground/strategy",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, segmenttable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return EvaluateStrategy(NewStore(d.DynamoDB, d.Tables), d.Now, d.Random)
			},
		},
	}
}
