package codereference

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "report-code-references",
			Route:    "POST /api/admin/projects/{projectId}/code-references",
			Requires: access.InProject(access.UpdateFeature),
			Tables:   []string{accesstable.Table},
			MaxBody:  MaxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Put(open(d)) },
		},
		{
			Name:     "get-feature-code-references",
			Route:    "GET /api/admin/projects/{projectId}/features/{featureName}/code-references",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return GetOfFeature(feature.OpenReader(d), open(d)) },
		},
		{
			Name:     "get-code-references",
			Route:    "GET /api/admin/code-references",
			Requires: access.IsAnyone,
			Tables:   []string{accesstable.Table, featuretable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(open(d), NewToggles(d.DynamoDB, d.Tables)) },
		},
	}
}

func open(d *app.Deps) *Store { return NewStore(d.DynamoDB, d.Tables, d.Now) }
