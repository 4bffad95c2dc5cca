package operator

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/datetime"
)

// Remote manages an installation through its API, with the rights of a token. Its methods are those of Operator for which
// the API has operations. It is not safe for concurrent use.
type Remote struct {
	api    *apiclient.Client
	now    func() time.Time
	random io.Reader

	projectsOf map[string]string // of toggles, by name: those that were read
}

// NewRemote returns a Remote that uses the API. random decides what is random in evaluations.
func NewRemote(api *apiclient.Client, now func() time.Time, random io.Reader) *Remote {
	return &Remote{api, now, random, map[string]string{}}
}

func (r *Remote) get(ctx context.Context, query url.Values, into any, path ...string) error {
	return r.call(ctx, http.MethodGet, path, query, nil, into)
}

func (r *Remote) send(ctx context.Context, method string, body, into any, path ...string) error {
	return r.call(ctx, method, path, nil, body, into)
}

func (r *Remote) call(ctx context.Context, method string, path []string, query url.Values, body, into any) error {
	_, err := r.api.Call(ctx, method, path, query, nil, body, into)
	return apiclient.Explain(err)
}

// environments returns the names of the environments.
func (r *Remote) environments(ctx context.Context) (names []string, err error) {
	var list struct {
		Environments []struct {
			Name string `json:"name"`
		} `json:"environments"`
	}
	err = r.get(ctx, nil, &list, "environments")
	for _, e := range list.Environments {
		names = append(names, e.Name)
	}
	return names, err
}

// CheckEnvironment returns an error if there is no environment with the name.
func (r *Remote) CheckEnvironment(ctx context.Context, name string) error {
	all, err := r.environments(ctx)
	if err != nil {
		return err
	}
	return checkKnown("environment", name, all, func(name string) string { return name })
}

// ChangeRequests is Operator.ChangeRequests.
func (r *Remote) ChangeRequests(ctx context.Context, project string, closed bool, limit int) (
	all []changerequest.Found, err error,
) {
	query := url.Values{}
	if project != "" {
		query.Set("project", "IS:"+project)
	}
	if !closed {
		query.Set("state", apiclient.AnyOf(changerequest.OpenStates()...))
	}
	all = []changerequest.Found{}
	for one, err := range r.searchChangeRequests(ctx, query, limit) {
		if err != nil {
			return nil, apiclient.Explain(err)
		}
		if all = append(all, one); len(all) == limit {
			break
		}
	}
	return all, nil
}

// searchChangeRequests yields the change requests that a query selects, the newest first, in pages of at most size.
func (r *Remote) searchChangeRequests(
	ctx context.Context, query url.Values, size int,
) iter.Seq2[changerequest.Found, error] {
	return apiclient.Search[changerequest.Found](ctx, r.api, "changeRequests", query, size, "search", "change-requests")
}

// changeRequestPath returns the path of a change request. The API has it below its project, so it is searched for.
func (r *Remote) changeRequestPath(ctx context.Context, id int64) ([]string, error) {
	for one, err := range r.searchChangeRequests(ctx, url.Values{}, apiclient.PageSize) {
		if err != nil {
			return nil, apiclient.Explain(err)
		}
		if one.ID == id {
			return []string{"projects", one.Project, "change-requests", strconv.FormatInt(id, 10)}, nil
		}
	}
	return nil, exitstatus.Errorf(exitstatus.NotFound, "there is no change request with the id %d", id)
}

// ChangeRequest is Operator.ChangeRequest.
func (r *Remote) ChangeRequest(ctx context.Context, id int64) (shown changerequest.Response, err error) {
	path, err := r.changeRequestPath(ctx, id)
	if err != nil {
		return shown, err
	}
	return shown, r.get(ctx, nil, &shown, path...)
}

// SetChangeRequestState changes the state of a change request, as the account of the token. account must be 0.
func (r *Remote) SetChangeRequestState(
	ctx context.Context, id, account int64, asked changerequest.Asked, comment string,
) (changed changerequest.Response, err error) {
	if account != 0 {
		return changed, exitstatus.Errorf(exitstatus.Usage, "omit --account: with --url, the account of the token counts")
	}
	path, err := r.changeRequestPath(ctx, id)
	if err != nil {
		return changed, err
	}
	body := map[string]any{"state": asked.State}
	if !asked.ScheduledAt.IsZero() {
		body["scheduledAt"] = datetime.Format(asked.ScheduledAt)
	}
	if comment != "" {
		body["comment"] = comment
	}
	if err := r.send(ctx, http.MethodPut, body, nil, append(path, "state")...); err != nil {
		return changed, err
	}
	return changed, r.get(ctx, nil, &changed, path...)
}
