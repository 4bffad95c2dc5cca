package featurestate

import (
	"math"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// maxBody is the size limit of the body, in bytes: one that fills the state of a toggle, with white space.
const maxBody = 400_000

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "set-feature-state",
			Route:    "PUT /api/admin/projects/{projectId}/features/{featureName}/state",
			Requires: access.SeesProject,
			Tables:   append(feature.StateTables(), featuretype.Table, user.Table),
			MaxBody:  maxBody,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Set(feature.OpenStore(d), environment.NewStore(d.DynamoDB, d.Tables, nil),
					tagtype.NewStore(d.DynamoDB, d.Tables, nil), d.Number("MAX_FEATURES", 0, math.MaxInt32), d.Now, toggle.NewStrategyIDs(d.Now, d.Random))
			},
		},
	}
}
