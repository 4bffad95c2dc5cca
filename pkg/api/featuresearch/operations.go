package featuresearch

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "search-features",
			Route:    "GET /api/admin/search/features",
			Requires: access.IsAnyone,
			Tables: []string{
				accesstable.Table, featuretable.Table, featuretype.Table, environment.Table, segmenttable.Table,
				usagetable.Table, user.Table,
			},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Search(feature.OpenReader(d).WithUsage(d.Now), searcher(d))
			},
		},
		{
			Name:     "count-features",
			Route:    "GET /api/admin/search/features/counts",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table, featuretype.Table, environment.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Count(feature.OpenReader(d), searcher(d))
			},
		},
	}
}

func searcher(d *app.Deps) *Searcher { return NewSearcher(d.DynamoDB, d.Tables, d.Now) }
