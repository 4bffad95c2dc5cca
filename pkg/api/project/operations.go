package project

import (
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	shown := []string{accesstable.Table, user.Table, featuretable.Table}
	written := []string{accesstable.Table, user.Table, eventlog.Table}
	closed := []string{accesstable.Table, user.Table, featuretable.Table, segmenttable.Table, clienttokentable.Table,
		eventlog.Table}
	protectedTables := []string{accesstable.Table, environment.Table, eventlog.Table}
	return []app.Operation{
		{
			Name:     "get-projects",
			Route:    "GET /api/admin/projects",
			Requires: access.IsAnyone,
			Tables:   shown,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return List(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "create-project",
			Route:    "POST /api/admin/projects",
			Requires: access.Has(access.CreateProject),
			Tables:   append(slices.Clone(written), environment.Table),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Create(open(d), environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "validate-project",
			Route:    "POST /api/admin/projects/validate",
			Requires: access.Has(access.CreateProject),
			Tables:   []string{accesstable.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Validate(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "add-favorite-project",
			Route:    "POST /api/admin/projects/{projectId}/favorites",
			Requires: access.IsUserInProject,
			Tables:   []string{accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return ChangeFavorite(favorite.NewStore(d.DynamoDB, d.Tables).Add)
			},
		},
		{
			Name:     "remove-favorite-project",
			Route:    "DELETE /api/admin/projects/{projectId}/favorites",
			Requires: access.IsUserInProject,
			Tables:   []string{accesstable.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return ChangeFavorite(favorite.NewStore(d.DynamoDB, d.Tables).Remove)
			},
		},
		{
			Name:     "get-project-overview",
			Route:    "GET /api/admin/projects/{projectId}/overview",
			Requires: access.SeesProject,
			Tables:   append(slices.Clone(shown), environment.Table),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Overview(NewStore(d.DynamoDB, d.Tables, nil), environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "update-project",
			Route:    "PUT /api/admin/projects/{projectId}",
			Requires: access.InProject(access.UpdateProject),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Update(open(d)) },
		},
		{
			Name:     "update-project-settings",
			Route:    "PUT /api/admin/projects/{projectId}/settings",
			Requires: access.InProject(access.UpdateProject),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return UpdateSettings(open(d)) },
		},
		{
			Name:     "archive-project",
			Route:    "POST /api/admin/projects/archive/{projectId}",
			Requires: access.InProject(access.DeleteProject),
			Tables:   closed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Archive(open(d)) },
		},
		{
			Name:     "revive-project",
			Route:    "POST /api/admin/projects/revive/{projectId}",
			Requires: access.InProject(access.DeleteProject),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Revive(open(d)) },
		},
		{
			Name:     "delete-project",
			Route:    "DELETE /api/admin/projects/{projectId}",
			Requires: access.InProject(access.DeleteProject),
			Tables:   closed,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Delete(open(d)) },
		},
		{
			Name:     "add-environment-to-project",
			Route:    "POST /api/admin/projects/{projectId}/environments",
			Requires: access.InProject(access.UpdateProject),
			Tables:   append(slices.Clone(written), environment.Table),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return AddEnvironment(open(d), environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "remove-environment-from-project",
			Route:    "DELETE /api/admin/projects/{projectId}/environments/{environment}",
			Requires: access.InProject(access.UpdateProject),
			Tables:   append(slices.Clone(written), environment.Table),
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return RemoveEnvironment(open(d), environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "get-project-change-request-config",
			Route:    "GET /api/admin/projects/{projectId}/change-requests/config",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, environment.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return Config(environment.NewStore(d.DynamoDB, d.Tables, nil), d.Now)
			},
		},
		{
			Name:     "update-project-change-request-config",
			Route:    "PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config",
			Requires: access.InProject(access.WriteChangeRequestConfig),
			Tables:   protectedTables,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return UpdateConfig(open(d), environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "get-project-environment-freeze",
			Route:    "GET /api/admin/projects/{projectId}/environments/{environment}/freeze",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, environment.Table},
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return GetFreeze(environment.NewStore(d.DynamoDB, d.Tables, nil), d.Now)
			},
		},
		{
			Name:     "set-project-environment-freeze",
			Route:    "PUT /api/admin/projects/{projectId}/environments/{environment}/freeze",
			Requires: access.InProject(access.WriteChangeRequestConfig),
			Tables:   protectedTables,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return SetFreeze(open(d), environment.NewStore(d.DynamoDB, d.Tables, nil), d.Now)
			},
		},
		{
			Name:     "delete-project-environment-freeze",
			Route:    "DELETE /api/admin/projects/{projectId}/environments/{environment}/freeze",
			Requires: access.InProject(access.WriteChangeRequestConfig),
			Tables:   protectedTables,
			Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
				return DeleteFreeze(open(d), environment.NewStore(d.DynamoDB, d.Tables, nil))
			},
		},
		{
			Name:     "get-project-access",
			Route:    "GET /api/admin/projects/{projectId}/access",
			Requires: access.SeesProject,
			Tables:   []string{accesstable.Table, user.Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return GetAccess(NewStore(d.DynamoDB, d.Tables, nil)) },
		},
		{
			Name:     "set-project-access",
			Route:    "PUT /api/admin/projects/{projectId}/access",
			Requires: access.InProject(access.WriteProjectAccess),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetAccess(open(d)) },
		},
		{
			Name:     "add-project-access",
			Route:    "POST /api/admin/projects/{projectId}/access",
			Requires: access.InProject(access.WriteProjectAccess),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return AddAccess(open(d)) },
		},
		{
			Name:     "set-roles-for-user",
			Route:    "PUT /api/admin/projects/{projectId}/users/{userId}/roles",
			Requires: access.InProject(access.WriteProjectAccess),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetUserRoles(open(d)) },
		},
		{
			Name:     "remove-user-access",
			Route:    "DELETE /api/admin/projects/{projectId}/users/{userId}/roles",
			Requires: access.InProject(access.WriteProjectAccess),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return RemoveUserRoles(open(d)) },
		},
		{
			Name:     "set-roles-for-group",
			Route:    "PUT /api/admin/projects/{projectId}/groups/{groupId}/roles",
			Requires: access.InProject(access.WriteProjectAccess),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return SetGroupRoles(open(d)) },
		},
		{
			Name:     "remove-group-access",
			Route:    "DELETE /api/admin/projects/{projectId}/groups/{groupId}/roles",
			Requires: access.InProject(access.WriteProjectAccess),
			Tables:   written,
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return RemoveGroupRoles(open(d)) },
		},
	}
}

func open(d *app.Deps) *Store {
	return NewStore(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number))
}
