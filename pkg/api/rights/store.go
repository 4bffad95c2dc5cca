// Package rights says what an account may do, and by which roles: the answer to the question why somebody can or cannot
// do something. It decides with access.Decide, as the operations do.
package rights

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// Store reads accounts, roles, groups, projects and environments. It is safe for concurrent use.
type Store struct {
	users        *user.Store
	access       *accesstable.Reader
	roles        *role.Store
	environments *environment.Store
	now          func() time.Time
	maxDays      int64 // for which what an ID token said about groups counts
}

// NewStore returns a Store on the tables Users, Access and Environments.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, now func() time.Time, groupsMaxAgeDays int64) *Store {
	return &Store{
		users:        user.NewStore(client, tables, nil),
		access:       accesstable.NewReader(client, tables),
		roles:        role.NewStore(client, tables, nil),
		environments: environment.NewStore(client, tables, nil),
		now:          now,
		maxDays:      groupsMaxAgeDays,
	}
}

// principal returns the principal of an account, as a personal access token has it.
func (s *Store) principal(ctx context.Context, u user.User) (access.Principal, error) {
	directory, err := s.access.Directory(ctx)
	if err != nil {
		return access.Principal{}, err
	}
	return u.Principal(directory, u.GroupValues(s.now(), s.maxDays)), nil
}

// rolesIn returns the roles that a principal has in a project, directly and by its groups, ordered by id.
func rolesIn(p access.Principal, project *access.Project) []access.Role {
	all := slices.Clone(project.Users[p.UserID])
	for _, group := range p.Groups {
		all = append(all, project.Groups[group]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// projectRole is a role of a project in the overview and in the list of own roles.
type projectRole struct {
	role.Response

	Project string `json:"project,omitempty"`
}

// definitions returns the definitions of roles that exist, in the order of their ids.
func definitions(all []access.RoleDefinition, ids []access.Role) []access.RoleDefinition {
	return slices.DeleteFunc(slices.Clone(all), func(r access.RoleDefinition) bool { return !slices.Contains(ids, r.ID) })
}
