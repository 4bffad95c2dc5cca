package operator

import (
	"context"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
)

// ChangeRequests returns the newest change requests, at most limit: of a project, or of all projects if project is empty;
// those that are not closed, or all.
func (o *Operator) ChangeRequests(ctx context.Context, project string, closed bool, limit int) (
	[]changerequest.Found, error,
) {
	var projects []string
	if project != "" {
		p, err := o.projects.Get(ctx, project)
		if err != nil {
			return nil, exitstatus.Explain(err)
		}
		projects = append(projects, p.ID)
	} else {
		all, err := o.projects.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			projects = append(projects, p.ID)
		}
	}
	var filter changerequest.Filter
	if !closed {
		filter.States = changerequest.OpenStates()
	}
	page, _, err := o.changeRequests.Find(ctx, projects, filter, 0, limit)
	if err != nil {
		return nil, err
	}
	return changerequest.FoundOf(ctx, o.names, page)
}

// ChangeRequest returns a change request, with its conflicts on the state of now.
func (o *Operator) ChangeRequest(ctx context.Context, id int64) (changerequest.Response, error) {
	r, err := o.changeRequests.ByID(access.AsOperator(ctx), id)
	if err != nil {
		return changerequest.Response{}, exitstatus.Explain(err)
	}
	return o.changeRequests.Response(ctx, o.names, r)
}

// SetChangeRequestState changes the state of a change request, and makes its changes if it becomes applied. account is who
// asks for it, and must have the right; 0: the operator, who has the rights of an API token.
func (o *Operator) SetChangeRequestState(
	ctx context.Context, id, account int64, asked changerequest.Asked, comment string,
) (changerequest.Response, error) {
	r, err := o.changeRequests.ByID(access.AsOperator(ctx), id)
	if err != nil {
		return changerequest.Response{}, exitstatus.Explain(err)
	}
	if account != 0 {
		ctx, err = o.changeRequests.As(ctx, account)
	} else {
		ctx = access.WithProjects(access.WithPrincipal(ctx, access.Principal{
			Name: o.installation.Operator, Permissions: []access.Permission{access.Admin},
		}), accesstable.NewReader(o.installation.Client, o.installation.Tables))
	}
	if err == nil {
		r, err = o.changeRequests.Become(ctx, r.Project, id, asked, comment,
			func(changerequest.Request) error { return nil })
	}
	if apierror.KindOf(err) == apierror.Validation {
		err = exitstatus.Errorf(exitstatus.Usage, "%s", apierror.From(err).Message)
	}
	if err != nil {
		return changerequest.Response{}, exitstatus.Explain(err)
	}
	return o.changeRequests.Response(ctx, o.names, r)
}
