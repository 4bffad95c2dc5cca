// Package clientmetrics serves what applications report about toggles: how often a toggle was on and off, which
// applications there are, and which names they use that do not exist. Package usagetable reads the table.
package clientmetrics

import (
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	tables := []string{accesstable.Table, usagetable.Table, featuretable.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-recent-usage",
			Route:    "GET /api/admin/client-metrics/features",
			Requires: access.IsAnyone,
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListRecent(reader(d)) },
		},
		{
			Name:     "get-feature-usage-summary",
			Route:    "GET /api/admin/client-metrics/features/{name}",
			Requires: access.IsAnyone,
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d)) },
		},
		{
			Name:     "get-raw-feature-metrics",
			Route:    "GET /api/admin/client-metrics/features/{name}/raw",
			Requires: access.IsAnyone,
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(reader(d)) },
		},
		{
			Name:     "get-applications",
			Route:    "GET /api/admin/metrics/applications",
			Requires: access.IsAnyone,
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListApplications(reader(d)) },
		},
		{
			Name:     "get-application",
			Route:    "GET /api/admin/metrics/applications/{appName}",
			Requires: access.IsAnyone,
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return GetApplication(reader(d)) },
		},
		{
			Name:     "get-unknown-flags",
			Route:    "GET /api/admin/metrics/unknown-flags",
			Requires: access.IsAnyone,
			Tables:   tables,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListUnknown(reader(d)) },
		},
	}
}

func reader(d *app.Deps) *Reader { return NewReader(d.DynamoDB, d.Tables, d.Now) }
