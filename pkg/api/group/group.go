// Package group manages groups of accounts. A group has a root role, which its members have besides their own, and roles
// in projects. An account is a member because it was added to the group, or because the person's ID token has one of
// the values of mappingsSSO.
//
// The item of a group, in the table Access, has its members, and the item of an account, in the table Users, has its
// groups. One transaction writes both. What the authorizer has to know of all groups is in the directory (package
// accesstable).
package group

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// The limits of groups.
const (
	Limit      = 200 // groups
	maxChanges = 90  // members that one request adds and removes: each is an action of the transaction
)

// response is groupSchema in api/openapi.yaml.
type response struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Description *string   `json:"description"`
	Mappings    []string  `json:"mappingsSSO"`
	RootRole    *int64    `json:"rootRole"`
	CreatedAt   *string   `json:"createdAt"`
	UserCount   int       `json:"userCount"`
	Projects    []string  `json:"projects"`
	Users       *[]member `json:"users,omitempty"`
}

// member is groupUserModelSchema in api/openapi.yaml.
type member struct {
	User user.Response `json:"user"`
}

// newResponse returns how responses show a group, without its members. projects are those that the caller sees.
func newResponse(g accesstable.Group, projects []*access.Project) response {
	r := response{
		ID:          g.ID,
		Name:        g.Name,
		Description: g.Description,
		Mappings:    append([]string{}, g.Mappings...),
		CreatedAt:   datetime.FormatOptional(g.CreatedAt),
		UserCount:   len(g.Members),
		Projects:    []string{},
	}
	if g.RootRole != 0 {
		r.RootRole = new(int64(g.RootRole))
	}
	for _, p := range projects {
		if len(p.Groups[g.ID]) > 0 {
			r.Projects = append(r.Projects, p.ID)
		}
	}
	return r
}

// withMembers returns how responses show a group with its members, ordered by id.
func withMembers(ctx context.Context, users *user.Store, g accesstable.Group) (response, error) {
	projects, err := access.VisibleProjects(ctx)
	if err != nil {
		return response{}, err
	}
	accounts, err := users.Accounts(ctx, g.Members)
	if err != nil {
		return response{}, err
	}
	members := []member{}
	for _, id := range slices.Sorted(slices.Values(g.Members)) {
		if u, ok := accounts[id]; ok { // its deletion has not begun
			members = append(members, member{user.NewResponse(u)})
		}
	}
	r := newResponse(g, projects)
	r.Users, r.UserCount = &members, len(members)
	return r, nil
}

// etag returns the entity tag of a group. It changes with everything that update-group can change.
func etag(g accesstable.Group) string { return lambdahttp.ETag(newEventData(g)) }

// eventData is a group in the data of events.
type eventData struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	Description *string  `json:"description"`
	Mappings    []string `json:"mappingsSSO"`
	RootRole    *int64   `json:"rootRole"`
	Users       []int64  `json:"users"` // ids
}

func newEventData(g accesstable.Group) eventData {
	data := eventData{g.ID, g.Name, g.Description, append([]string{}, g.Mappings...), nil, append([]int64{}, g.Members...)}
	if g.RootRole != 0 {
		data.RootRole = new(int64(g.RootRole))
	}
	return data
}

// Subject returns the subject of the events about a group.
func Subject(id int64) eventlog.Subject {
	return eventlog.Subject("group:" + strconv.FormatInt(id, 10))
}

func change(t eventlog.Type, g accesstable.Group, data, preData any) eventlog.Change {
	return eventlog.Change{Type: t, Subject: Subject(g.ID), Last: g.LastEvent, Data: data, PreData: preData}
}

// notFound returns the 404 for a path parameter that is not the id of a group.
func notFound(sent string) error {
	return apierror.Errorf(apierror.NotFound, "There is no group with the id %q.", apierror.Echo(sent))
}

// nameExists returns the 409 if there is a group with a name.
func nameExists(name string) error {
	return apierror.Taken("/body/name", "There is already a group with the name %q.", apierror.Echo(name))
}

// pathID returns the id of a group that the path parameter groupId contains, or a 404.
func pathID(r *http.Request) (int64, error) {
	sent, err := lambdahttp.PathParam(r, "groupId")
	id, ok := user.ParseID(sent)
	if err != nil || !ok {
		return 0, notFound(sent)
	}
	return id, nil
}
