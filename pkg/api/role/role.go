// Package role manages roles: sets of permissions. The six fixed roles belong to the service. Custom roles are in the
// table Access: those of the type root-custom are root roles of accounts and groups, and those of the type custom are
// roles in projects.
package role

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// The limits of custom roles.
const (
	Limit           = 100 // custom roles
	maxEnvironments = 50  // with a permission in one role: each is an action of the transaction
)

// Response is roleSchema in api/openapi.yaml.
type Response struct {
	ID          int64           `json:"id"`
	Name        string          `json:"name"`
	Type        access.RoleType `json:"type"`
	Description string          `json:"description"`
}

// NewResponse returns how responses show a role.
func NewResponse(r access.RoleDefinition) Response {
	return Response{int64(r.ID), r.Name, r.Type, r.Description}
}

// NewResponses returns how responses show roles.
func NewResponses(all []access.RoleDefinition) []Response {
	list := make([]Response, len(all))
	for i, r := range all {
		list[i] = NewResponse(r)
	}
	return list
}

// Permission is adminPermissionSchema in api/openapi.yaml.
type Permission struct {
	ID          int64                 `json:"id"`
	Name        access.Permission     `json:"name"`
	DisplayName string                `json:"displayName"`
	Type        access.PermissionType `json:"type"`
	Environment string                `json:"environment,omitempty"`
}

// NewPermission returns how responses show a permission, in an environment or without one.
func NewPermission(info access.PermissionInfo, environment string) Permission {
	return Permission{info.ID, info.Name, info.DisplayName, info.Type, environment}
}

// withPermissions is roleWithPermissionsSchema in api/openapi.yaml.
type withPermissions struct {
	Response

	Permissions []Permission `json:"permissions"`
}

func newWithPermissions(r access.RoleDefinition) withPermissions {
	return withPermissions{NewResponse(r), NewPermissions(r)}
}

// NewPermissions returns how responses show the permissions of a role.
func NewPermissions(r access.RoleDefinition) []Permission {
	all := []Permission{}
	for _, p := range r.Permissions {
		if info, ok := access.FindPermission(p.Permission); ok {
			all = append(all, NewPermission(info, p.Environment))
		}
	}
	return all
}

// etag returns the entity tag of a role. It changes with everything that update-role can change.
func etag(r access.RoleDefinition) string { return lambdahttp.ETag(newWithPermissions(r)) }

// notFound returns the 404 for a path parameter that is not the id of a role.
func notFound(sent string) error {
	return apierror.Errorf(apierror.NotFound, "There is no role with the id %q.", apierror.Echo(sent))
}

// pathID returns the id of a role that the path parameter roleId contains, or a 404.
func pathID(r *http.Request) (access.Role, error) {
	sent, err := lambdahttp.PathParam(r, "roleId")
	id, ok := user.ParseID(sent)
	if err != nil || !ok {
		return 0, notFound(sent)
	}
	return access.Role(id), nil
}

// fixed returns the fixed role with an id.
func fixed(id access.Role) (r access.RoleDefinition, ok bool) {
	all := access.FixedRoles()
	i := slices.IndexFunc(all, func(r access.RoleDefinition) bool { return r.ID == id })
	if i < 0 {
		return access.RoleDefinition{}, false
	}
	return all[i], true
}

// isFixed returns the 400 for a change of a fixed role.
func isFixed(r access.RoleDefinition) error {
	return apierror.Errorf(apierror.Validation, "The role %q belongs to the service. Only custom roles can be changed.", r.Name)
}

// nameExists returns the 409 if there is a role with a name.
func nameExists(name string) error {
	return apierror.Taken("/body/name", "There is already a role with the name %q.", apierror.Echo(name))
}

// sorted returns permissions in the order of their ids and environments, each once.
func sorted(permissions []access.RolePermission) []access.RolePermission {
	slices.SortFunc(permissions, func(a, b access.RolePermission) int {
		first, _ := access.FindPermission(a.Permission)
		second, _ := access.FindPermission(b.Permission)
		if first.ID != second.ID {
			return int(first.ID - second.ID)
		}
		return strings.Compare(a.Environment, b.Environment)
	})
	return slices.Compact(permissions)
}

// eventData is a role in the data of events.
type eventData struct {
	Response

	Permissions []permissionData `json:"permissions"`
}

type permissionData struct {
	Name        access.Permission `json:"name"`
	Environment string            `json:"environment,omitempty"`
}

func newEventData(r access.RoleDefinition) eventData {
	data := eventData{NewResponse(r), make([]permissionData, len(r.Permissions))}
	for i, p := range r.Permissions {
		data.Permissions[i] = permissionData{p.Permission, p.Environment}
	}
	return data
}

// Subject returns the subject of the events about a role.
func Subject(id access.Role) eventlog.Subject {
	return eventlog.Subject("role:" + strconv.FormatInt(int64(id), 10))
}

// change returns the record of a change of a role.
func change(t eventlog.Type, r access.RoleDefinition, data, preData any) eventlog.Change {
	return eventlog.Change{Type: t, Subject: Subject(r.ID), Last: r.LastEvent, Data: data, PreData: preData}
}

// InUse says who has a role.
type InUse struct{ People, ServiceAccounts, Groups, Projects int }

// err returns the 409 if somebody has the role.
func (u InUse) err(name string) error {
	if u == (InUse{}) {
		return nil
	}
	return apierror.Errorf(apierror.Conflict, "The role %q is in use: %s. Give them another role first.", apierror.Echo(name), u.text())
}

func (u InUse) text() string {
	var all []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{u.People, "person has it", "people have it"},
		{u.ServiceAccounts, "service account has it", "service accounts have it"},
		{u.Groups, "group has it", "groups have it"},
		{u.Projects, "project gives it", "projects give it"},
	} {
		switch part.n {
		case 0:
		case 1:
			all = append(all, "1 "+part.one)
		default:
			all = append(all, fmt.Sprint(part.n, " ", part.many))
		}
	}
	return strings.Join(all, ", ")
}
