package eventsearch

import (
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "search-events",
			Route:    "GET /api/admin/search/events",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, eventlog.Table, featuretable.Table, user.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				events := eventlog.NewReader(eventlog.New(d.DynamoDB, d.Tables, d.Now, 0))
				toggles := featuretable.NewVisibility(d.DynamoDB, d.Tables)
				return Search(events, toggles, user.NewNames(d.DynamoDB, d.Tables),
					accesstable.NewReader(d.DynamoDB, d.Tables), SearchTime)
			},
		},
	}
}
