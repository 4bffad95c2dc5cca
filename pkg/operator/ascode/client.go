package ascode

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/exitstatus"
)

// Client plans and applies changes over the API. It is safe for concurrent use.
type Client struct{ api *apiclient.Client }

// NewClient returns a client that uses the API.
func NewClient(api *apiclient.Client) *Client { return &Client{api} }

// errChangedByOthers is the error of a resource that is not as the plan has seen it.
var errChangedByOthers = &apiclient.Error{
	Status: http.StatusPreconditionFailed, Message: "The resource has changed since the plan.",
}

// isChangedByOthers reports whether a resource is not as the plan has seen it: it was changed or created.
func isChangedByOthers(e *apiclient.Error) bool {
	return e.Status == http.StatusPreconditionFailed || e.Name == "NameExistsError"
}

// find reads a resource and its entity tag, which is empty if there is none.
func (c *Client) find(ctx context.Context, into any, path ...string) (etag string, err error) {
	header, err := c.api.Call(ctx, http.MethodGet, path, nil, nil, nil, into)
	if refused, ok := errors.AsType[*apiclient.Error](err); ok && refused.Status == http.StatusNotFound {
		return "", nil
	}
	return header.Get("ETag"), err
}

// caller returns the account of the token, which the event log would name. An API token has none.
func (c *Client) caller(ctx context.Context) (eventlog.Actor, error) {
	own, err := c.api.Caller(ctx)
	if refused, ok := errors.AsType[*apiclient.Error](err); ok && refused.Status == http.StatusForbidden {
		return eventlog.Actor{Name: "The API token"}, nil
	}
	return eventlog.Actor{UserID: own.ID, Name: own.Name, IsServiceAccount: own.Kind() == user.ServiceAccount}, err
}

// groups returns the ids of groups by their names.
func (c *Client) groups(ctx context.Context) (map[string]int64, error) {
	var list struct {
		Groups []named `json:"groups"`
	}
	err := c.api.Get(ctx, &list, "groups")
	return idsOf(list.Groups), err
}

// named is an element of a list of groups or roles.
type named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// idsOf returns the ids of the elements of a list by their names.
func idsOf(list []named) map[string]int64 {
	ids := map[string]int64{}
	for _, one := range list {
		ids[one.Name] = one.ID
	}
	return ids
}

// protected returns the environments of a project that require change requests, sorted.
func (c *Client) protected(ctx context.Context, project string) (names []string, err error) {
	all, _, err := c.protections(ctx, project)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].ChangeRequestsEnabled {
			names = append(names, name)
		}
	}
	return names, err
}

// projects returns the ids of the projects that the token sees.
func (c *Client) projects(ctx context.Context) (ids []string, err error) {
	var list struct {
		Projects []struct {
			ID string `json:"id"`
		} `json:"projects"`
	}
	err = c.api.Get(ctx, &list, "projects")
	for _, p := range list.Projects {
		ids = append(ids, p.ID)
	}
	return ids, err
}

// toggles returns the toggles of a project that are not archived.
func (c *Client) toggles(ctx context.Context, project string) (all []stored, err error) {
	err = apiclient.Toggles(ctx, c.api, project, false, func(f stored) string { return f.Name }, func(f stored) error {
		if len(f.Environments) > 0 && f.Environments[0].Strategies == nil {
			return exitstatus.Errorf(exitstatus.Failure, "the installation is older than toggleadmin: update it, or use the "+
				"toggleadmin of its release")
		}
		all = append(all, f)
		return nil
	})
	return all, err
}
