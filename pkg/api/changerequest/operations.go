package changerequest

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	listed := []string{accesstable.Table, Table, user.Table}
	shown := []string{accesstable.Table, Table, user.Table, featuretable.Table, segmenttable.Table, environment.Table}
	written := Tables()
	return []app.Operation{
		{
			Name:     "create-change-request",
			Route:    "POST /api/admin/projects/{projectId}/environments/{environment}/change-requests",
			Requires: MayAsk,
			Tables:   written,
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Create(writer(d), namesOf(d), d.Now) },
		},
		{
			Name:     "get-change-requests",
			Route:    "GET /api/admin/projects/{projectId}/change-requests",
			Requires: access.SeesProject,
			Tables:   listed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(reader(d), namesOf(d)) },
		},
		{
			Name:     "get-change-request",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/{id}",
			Requires: access.SeesProject,
			Tables:   shown,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(reader(d), namesOf(d)) },
		},
		{
			Name:     "delete-change-request",
			Route:    "DELETE /api/admin/projects/{projectId}/change-requests/{id}",
			Requires: access.SeesProject, // the handler requires an author
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(writer(d)) },
		},
		{
			Name:     "update-change-request-state",
			Route:    "PUT /api/admin/projects/{projectId}/change-requests/{id}/state",
			Requires: access.SeesProject, // Request.Become has the rules
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetState(writer(d), namesOf(d)) },
		},
		{
			Name:     "update-change-request-title",
			Route:    "PUT /api/admin/projects/{projectId}/change-requests/{id}/title",
			Requires: access.SeesProject, // the handler requires an author
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetTitle(writer(d)) },
		},
		{
			Name:     "add-change-request-comment",
			Route:    "POST /api/admin/projects/{projectId}/change-requests/{id}/comments",
			Requires: access.SeesProject,
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return AddComment(writer(d)) },
		},
		{
			Name:     "get-change-request-approvers",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/{id}/approvers",
			Requires: access.SeesProject,
			Tables:   listed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Approvers(reader(d)) },
		},
		{
			Name:     "update-change-request-approvers",
			Route:    "PUT /api/admin/projects/{projectId}/change-requests/{id}/approvers",
			Requires: access.SeesProject, // the handler requires an author
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetApprovers(writer(d)) },
		},
		{
			Name:     "update-change-request-change",
			Route:    "PUT /api/admin/projects/{projectId}/change-requests/{id}/changes/{changeId}",
			Requires: access.SeesProject, // Request.Changed requires an author
			Tables:   written,
			MaxBody:  maxBody,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return UpdateChange(writer(d), namesOf(d), d.Now) },
		},
		{
			Name:     "delete-change-request-change",
			Route:    "DELETE /api/admin/projects/{projectId}/change-requests/{id}/changes/{changeId}",
			Requires: access.SeesProject, // Request.Changed requires an author
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return DeleteChange(writer(d)) },
		},
		{
			Name:     "get-open-change-requests",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/pending",
			Requires: access.SeesProject,
			Tables:   listed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListOpen(reader(d), namesOf(d)) },
		},
		{
			Name:     "get-scheduled-change-requests",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/scheduled",
			Requires: access.SeesProject,
			Tables:   listed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListScheduled(reader(d), namesOf(d)) },
		},
		{
			Name:     "get-open-change-requests-for-feature",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/pending/{featureName}",
			Requires: access.SeesProject,
			Tables:   listed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return ListOpenOf(reader(d), namesOf(d)) },
		},
		{
			Name:     "count-change-requests",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/count",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Count(reader(d)) },
		},
		{
			Name:     "get-actionable-change-requests",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/actionable",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Actionable(reader(d)) },
		},
		{
			Name:     "get-available-change-request-reviewers",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/available-reviewers/{environment}",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, user.Table, environment.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return AvailableReviewers(reader(d)) },
		},
		{
			Name:     "evaluate-change-request",
			Route:    "POST /api/admin/playground/change-request/{id}",
			Requires: access.IsAnyone, // the handler requires that the project is visible
			Tables:   shown,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Playground(reader(d), playground.NewStore(d.DynamoDB, d.Tables), d.Now, d.Random)
			},
		},
		{
			Name:     "search-change-requests",
			Route:    "GET /api/admin/search/change-requests",
			Requires: access.IsAnyone,
			Tables:   listed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Search(reader(d), namesOf(d)) },
		},
	}
}

// Tables returns the logical ids of the tables that changing and applying requests uses.
func Tables() []string {
	return []string{
		accesstable.Table, Table, user.Table, featuretable.Table, segmenttable.Table, environment.Table, contextfield.Table,
		featuretype.Table, eventlog.Table,
	}
}

func reader(d *app.Deps) *Store { return open(d, eventlog.New(d.DynamoDB, d.Tables, d.Now, 0)) }

func writer(d *app.Deps) *Store { return open(d, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)) }

func open(d *app.Deps, log *eventlog.Log) *Store {
	options := OptionsOf(d)
	options.Log = log
	return NewStore(d.DynamoDB, d.Tables, options)
}

// OptionsOf returns the options of the Store of a function, without a log.
func OptionsOf(d *app.Deps) Options {
	return Options{
		NewStrategyID:    toggle.NewStrategyIDs(d.Now, d.Random),
		GroupsMaxAgeDays: d.Number("GROUPS_MAX_AGE_DAYS", 0, user.MaxGroupsDays),
	}
}

func namesOf(d *app.Deps) *user.Names { return user.NewNames(d.DynamoDB, d.Tables) }
