package eventlog

import (
	"toggleadmin/pkg/platform/access"
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
			Tables:   []string{Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Search(New(d.DynamoDB, d.Tables, d.Now, 0), SearchTime)
			},
		},
	}
}

// Open returns the log to which a function writes. The function uses the table Events.
func Open(d *app.Deps) *Log {
	return New(d.DynamoDB, d.Tables, d.Now, int(d.Number("EVENT_LOG_DAYS", 0, MaxDays)))
}
