package feedback

import (
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "update-feedback",
			Route:    "PUT /api/admin/feedback/{id}",
			Requires: access.IsUserOr401,
			Tables:   []string{Table, user.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Update(NewStore(d.DynamoDB, d.Tables), user.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
	}
}
