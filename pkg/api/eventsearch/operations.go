package eventsearch

import (
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
			Tables:   []string{accesstable.Table, eventlog.Table, user.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				log := eventlog.New(d.DynamoDB, d.Tables, d.Now, 0)
				return Search(eventlog.NewReader(log), user.NewNames(d.DynamoDB, d.Tables), SearchTime)
			},
		},
	}
}
