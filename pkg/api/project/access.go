package project

import (
	"context"
	_ "embed"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed access.schema.json
var accessSchema []byte

//go:embed access_add.schema.json
var accessAddSchema []byte

// accessResponse is projectAccessSchema in api/openapi.yaml.
type accessResponse struct {
	grantsResponse

	Roles []role.Response `json:"roles"`
}

// grantsResponse is who has which roles in a project.
type grantsResponse struct {
	Groups []groupWithRoles `json:"groups"`
	Users  []userWithRoles  `json:"users"`
}

type groupWithRoles struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	Description *string  `json:"description"`
	Mappings    []string `json:"mappingsSSO"`
	CreatedAt   *string  `json:"createdAt"`
	UserCount   int      `json:"userCount"`
	RoleID      int64    `json:"roleId"` // the first of roles
	Roles       []int64  `json:"roles"`
}

type userWithRoles struct {
	user.Response

	RoleID int64   `json:"roleId"` // the first of roles
	Roles  []int64 `json:"roles"`
}

// GetAccess serves GET /api/admin/projects/{projectId}/access. It shows the accounts and groups that exist.
func GetAccess(projects *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
		if err != nil {
			return err
		}
		roles, err := projects.projectRoles(r.Context())
		if err != nil {
			return err
		}
		accounts, err := projects.users.Accounts(r.Context(), slices.Sorted(maps.Keys(p.Users)))
		if err != nil {
			return err
		}
		groups, err := projects.groups(r.Context())
		if err != nil {
			return err
		}
		w.Header().Set("ETag", accessTag(p))
		return lambdahttp.WriteJSON(w, http.StatusOK, accessResponse{
			newGrantsResponse(grants{p.Users, p.Groups}, accounts, groups), role.NewResponses(roles),
		})
	}
}

// accessTag returns the entity tag of who has which roles in a project.
func accessTag(p *access.Project) string { return lambdahttp.ETag(newAccessData(p)) }

// grants are roles in a project: those of accounts and those of groups, by id.
type grants struct{ users, groups map[int64][]access.Role }

// newGrantsResponse returns how responses show the roles of the accounts and groups that exist, ordered by id.
func newGrantsResponse(g grants, accounts map[int64]user.User, groups map[int64]accesstable.Group) grantsResponse {
	shown := grantsResponse{[]groupWithRoles{}, []userWithRoles{}}
	for _, id := range slices.Sorted(maps.Keys(g.users)) {
		if u, ok := accounts[id]; ok && len(g.users[id]) > 0 {
			shown.Users = append(shown.Users, userWithRoles{user.NewResponse(u), int64(g.users[id][0]), roleIDs(g.users[id])})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(g.groups)) {
		if group, ok := groups[id]; ok && len(g.groups[id]) > 0 {
			shown.Groups = append(shown.Groups, newGroupWithRoles(group, g.groups[id]))
		}
	}
	return shown
}

func newGroupWithRoles(g accesstable.Group, has []access.Role) groupWithRoles {
	return groupWithRoles{
		ID:          g.ID,
		Name:        g.Name,
		Description: g.Description,
		Mappings:    append([]string{}, g.Mappings...),
		CreatedAt:   datetime.FormatOptional(g.CreatedAt),
		UserCount:   len(g.Members),
		RoleID:      int64(has[0]),
		Roles:       roleIDs(has),
	}
}

// SetAccess serves PUT /api/admin/projects/{projectId}/access.
func SetAccess(projects *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(accessSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		return projects.updateAccess(r, func(p *access.Project) { // nil: 200 without a body
			p.Users, p.Groups = map[int64][]access.Role{}, map[int64][]access.Role{}
			for _, sent := range body.Objects("roles") {
				id, _ := sent.Int("id")
				add(p.Users, access.Role(id), sent.Ints("users"))
				add(p.Groups, access.Role(id), sent.Ints("groups"))
			}
		})
	}
}

// AddAccess serves POST /api/admin/projects/{projectId}/access.
func AddAccess(projects *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(accessAddSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		return projects.updateAccess(r, func(p *access.Project) { // nil: 200 without a body
			for _, id := range body.Ints("roles") {
				add(p.Users, access.Role(id), body.Ints("users"))
				add(p.Groups, access.Role(id), body.Ints("groups"))
			}
		})
	}
}

// add gives a role to the accounts or groups with the ids.
func add(roles map[int64][]access.Role, r access.Role, ids []int64) {
	for _, id := range ids {
		roles[id] = append(slices.Clone(roles[id]), r)
	}
}

// SetUserRoles serves PUT /api/admin/projects/{projectId}/users/{userId}/roles.
func SetUserRoles(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, roles, err := projects.userAndRoles(r)
		if err == nil {
			err = checkSent(roles)
		}
		if err != nil {
			return err
		}
		return projects.updateAccess(r, func(p *access.Project) { p.Users[id] = roles }) // nil: 200 without a body
	}
}

// RemoveUserRoles serves DELETE /api/admin/projects/{projectId}/users/{userId}/roles.
func RemoveUserRoles(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, roles, err := projects.userAndRoles(r)
		if err != nil {
			return err
		}
		return projects.updateAccess(r, func(p *access.Project) { p.Users[id] = without(p.Users[id], roles) }) // nil: 200
	}
}

// SetGroupRoles serves PUT /api/admin/projects/{projectId}/groups/{groupId}/roles.
func SetGroupRoles(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, roles, err := projects.groupAndRoles(r)
		if err == nil {
			err = checkSent(roles)
		}
		if err != nil {
			return err
		}
		return projects.updateAccess(r, func(p *access.Project) { p.Groups[id] = roles }) // nil: 200 without a body
	}
}

// RemoveGroupRoles serves DELETE /api/admin/projects/{projectId}/groups/{groupId}/roles.
func RemoveGroupRoles(projects *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, roles, err := projects.groupAndRoles(r)
		if err != nil {
			return err
		}
		return projects.updateAccess(r, func(p *access.Project) { p.Groups[id] = without(p.Groups[id], roles) }) // nil: 200
	}
}

// without returns the roles that are not among the removed ones. Without removed ones, all are removed.
func without(roles, removed []access.Role) []access.Role {
	if len(removed) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(roles), func(r access.Role) bool { return slices.Contains(removed, r) })
}

// userAndRoles returns the account of the path, which exists, and the roles of the query.
func (s *Store) userAndRoles(r *http.Request) (id int64, roles []access.Role, err error) {
	if roles, err = rolesOf(r); err != nil {
		return 0, nil, err
	}
	id, ok := access.ParseID(r.PathValue("userId"))
	if ok {
		accounts, err := s.users.Accounts(r.Context(), []int64{id})
		if err != nil {
			return 0, nil, err
		}
		_, ok = accounts[id]
	}
	if !ok {
		return 0, nil, apierror.Errorf(apierror.NotFound, "There is no person and no service account with the id %q.",
			apierror.Echo(r.PathValue("userId")))
	}
	return id, roles, nil
}

// groupAndRoles returns the group of the path, which exists, and the roles of the query.
func (s *Store) groupAndRoles(r *http.Request) (id int64, roles []access.Role, err error) {
	if roles, err = rolesOf(r); err != nil {
		return 0, nil, err
	}
	id, ok := access.ParseID(r.PathValue("groupId"))
	if ok {
		if _, ok, err = s.access.Group(r.Context(), id); err != nil {
			return 0, nil, err
		}
	}
	if !ok {
		return 0, nil, apierror.Errorf(apierror.NotFound, "There is no group with the id %q.",
			apierror.Echo(r.PathValue("groupId")))
	}
	return id, roles, nil
}

// rolesOf returns the roles in the query of a request.
func rolesOf(r *http.Request) ([]access.Role, error) {
	return user.QueryIDs[access.Role](r, "roles", "roles")
}

// checkSent returns a 400 if the query of a PUT has no roles: a misspelled parameter would end all roles.
func checkSent(roles []access.Role) error {
	if len(roles) == 0 {
		return apierror.Invalid(apierror.Missing("/query/roles"))
	}
	return nil
}

// updateAccess changes the access to the project of the path on behalf of the caller.
func (s *Store) updateAccess(r *http.Request, edit func(*access.Project)) error {
	precondition, err := matching(r, accessTag)
	if err != nil {
		return err
	}
	return s.UpdateAccess(r.Context(), r.PathValue("projectId"), edit, mayGive, precondition)
}

// mayGive returns nil if the caller has all permissions of a role in a project. The kind of its error is NoAccess.
func mayGive(ctx context.Context, p *access.Project, role access.RoleDefinition) error {
	for _, permission := range role.Permissions {
		var err error
		if permission.Environment != "" {
			err = access.CheckEnvironment(ctx, p.ID, permission.Environment, permission.Permission)
		} else {
			err = access.CheckProject(ctx, p.ID, permission.Permission)
		}
		if apierror.KindOf(err) == apierror.NoAccess {
			return apierror.Errorf(apierror.NoAccess,
				"You cannot give the role %q in the project %q, because you do not have its permission %s there.",
				role.Name, p.ID, inEnvironment(permission))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inEnvironment returns a permission of a role in words.
func inEnvironment(p access.RolePermission) string {
	text := strconv.Quote(string(p.Permission))
	if p.Environment != "" {
		text += " in the environment " + strconv.Quote(p.Environment)
	}
	return text
}
