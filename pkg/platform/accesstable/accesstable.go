// Package accesstable is the form of projects, custom roles and groups in the table Access, and reading the table.
//
// The partition key is the kind of an item, and the sort key identifies it among its kind: the id of a project in lower
// case, because two ids that differ only in letter case are the same, or the id of a role or group in decimal digits.
package accesstable

import (
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "Access"

// The attributes of the table's key.
const (
	Hash  = "kind"
	Range = "id"
)

// Kind is the kind of an item.
type Kind string

// The kinds of items.
const (
	KindProject        Kind = "project"
	KindRole           Kind = "role"
	KindRoleName       Kind = "role-name" // reserves the name of a custom role
	KindGroup          Kind = "group"
	KindGroupName      Kind = "group-name"      // reserves the name of a group
	KindTrust          Kind = "trust"           // of package trust
	KindTagType        Kind = "tag-type"        // of package tagtype
	KindFavorites      Kind = "favorites"       // of package favorite
	KindSavedViews     Kind = "saved-views"     // of package savedview
	KindCodeReferences Kind = "code-references" // of package codereference
	KindCounter        Kind = "counter"         // the last id of a kind, whose name is the sort key
	kindDirectory      Kind = "directory"
)

// itemKey is the key of an item.
type itemKey struct {
	Kind Kind   `dynamodbav:"kind"`
	ID   string `dynamodbav:"id"`
}

// Key returns the key of an item.
func Key(kind Kind, id string) dynamo.Item { return dynamo.Marshal(itemKey{kind, id}) }

// ProjectKey returns the key of a project.
func ProjectKey(id string) dynamo.Item { return Key(KindProject, strings.ToLower(id)) }

// RoleKey returns the key of a custom role.
func RoleKey(id access.Role) dynamo.Item {
	return Key(KindRole, strconv.FormatInt(int64(id), 10))
}

// GroupKey returns the key of a group.
func GroupKey(id int64) dynamo.Item { return Key(KindGroup, strconv.FormatInt(id, 10)) }

// The attributes of a project, for conditions and updates of its writers.
const (
	AttributeUsers        = "users"
	AttributeGroups       = "groups"
	AttributeArchivedAt   = "archivedAt"
	attributeProjectID    = "projectId"
	attributeEnvironments = "environments"
	attributeEvent        = "event"   // that of package eventlog
	AttributeClosing      = "closing" // when its archiving or deletion began, in milliseconds; no part of the project
)

// projectRecord is the item of a project.
type projectRecord struct {
	itemKey
	ProjectID         string                   `dynamodbav:"projectId"` // as it is spelled
	Name              string                   `dynamodbav:"name"`
	Description       *string                  `dynamodbav:"description,omitempty"`
	Mode              access.Mode              `dynamodbav:"mode"`
	DefaultStickiness string                   `dynamodbav:"defaultStickiness"`
	Environments      *[]string                `dynamodbav:"environments,omitempty"` // nil: all
	Naming            *access.Naming           `dynamodbav:"naming,omitempty"`
	LinkTemplates     []access.LinkTemplate    `dynamodbav:"linkTemplates,omitempty"`
	Protections       protectionRecords        `dynamodbav:"protections,omitempty"`
	Users             map[string][]access.Role `dynamodbav:"users"`
	Groups            map[string][]access.Role `dynamodbav:"groups"`
	CreatedAt         *time.Time               `dynamodbav:"createdAt,omitempty"`
	UpdatedAt         *time.Time               `dynamodbav:"updatedAt,omitempty"`
	ArchivedAt        *time.Time               `dynamodbav:"archivedAt,omitempty"`
	LastEvent         int64                    `dynamodbav:"event,omitempty"`
}

// protectionRecords are the protections of the environments of a project, by environment.
type protectionRecords map[string]protectionRecord

type protectionRecord struct {
	ChangeRequests    bool           `dynamodbav:"changeRequests,omitempty"`
	RequiredApprovals int64          `dynamodbav:"requiredApprovals,omitempty"`
	ForbidsTurningOff bool           `dynamodbav:"forbidsTurningOff,omitempty"`
	Freeze            *access.Freeze `dynamodbav:"freeze,omitempty"`
}

// MarshalProject returns the item of a project.
func MarshalProject(p access.Project) dynamo.Item {
	stored := projectRecord{
		itemKey:           itemKey{KindProject, strings.ToLower(p.ID)},
		ProjectID:         p.ID,
		Name:              p.Name,
		Description:       p.Description,
		Mode:              p.Mode,
		DefaultStickiness: p.DefaultStickiness,
		Naming:            p.Naming,
		LinkTemplates:     p.LinkTemplates,
		Users:             textKeys(p.Users),
		Groups:            textKeys(p.Groups),
		CreatedAt:         p.CreatedAt,
		UpdatedAt:         p.UpdatedAt,
		ArchivedAt:        p.ArchivedAt,
		LastEvent:         p.LastEvent,
	}
	if p.Environments != nil {
		stored.Environments = &p.Environments
	}
	if len(p.Protections) > 0 {
		stored.Protections = protectionRecords{}
		for environment, protection := range p.Protections {
			stored.Protections[environment] = protectionRecord(protection)
		}
	}
	return dynamo.Marshal(stored)
}

// UnmarshalProject reads a project from its item.
func UnmarshalProject(item dynamo.Item) (access.Project, error) {
	var stored projectRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return access.Project{}, err
	}
	users, err := numberKeys(stored.Users)
	if err != nil {
		return access.Project{}, err
	}
	groups, err := numberKeys(stored.Groups)
	if err != nil {
		return access.Project{}, err
	}
	p := access.Project{
		ID:                stored.ProjectID,
		Name:              stored.Name,
		Description:       stored.Description,
		Mode:              stored.Mode,
		DefaultStickiness: stored.DefaultStickiness,
		Naming:            stored.Naming,
		LinkTemplates:     stored.LinkTemplates,
		Users:             users,
		Groups:            groups,
		CreatedAt:         stored.CreatedAt,
		UpdatedAt:         stored.UpdatedAt,
		ArchivedAt:        stored.ArchivedAt,
		LastEvent:         stored.LastEvent,
	}
	if stored.Environments != nil {
		p.Environments = append([]string{}, *stored.Environments...)
	}
	if len(stored.Protections) > 0 {
		p.Protections = map[string]access.Protection{}
		for environment, protection := range stored.Protections {
			p.Protections[environment] = access.Protection(protection)
		}
	}
	return p, nil
}

func textKeys(roles map[int64][]access.Role) map[string][]access.Role {
	all := make(map[string][]access.Role, len(roles))
	for id, r := range roles {
		all[strconv.FormatInt(id, 10)] = r
	}
	return all
}

func numberKeys(roles map[string][]access.Role) (map[int64][]access.Role, error) {
	all := make(map[int64][]access.Role, len(roles))
	for text, r := range roles {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		all[id] = r
	}
	return all, nil
}

// roleRecord is the item of a custom role.
type roleRecord struct {
	itemKey
	Name        string             `dynamodbav:"name"`
	Description string             `dynamodbav:"description,omitempty"`
	Type        access.RoleType    `dynamodbav:"type"`
	Permissions []permissionRecord `dynamodbav:"permissions"`
	LastEvent   int64              `dynamodbav:"event,omitempty"`
}

type permissionRecord struct {
	Permission  access.Permission `dynamodbav:"permission"`
	Environment string            `dynamodbav:"environment,omitempty"`
}

// MarshalRole returns the item of a custom role.
func MarshalRole(r access.RoleDefinition) dynamo.Item {
	stored := roleRecord{
		itemKey:     itemKey{KindRole, strconv.FormatInt(int64(r.ID), 10)},
		Name:        r.Name,
		Description: r.Description,
		Type:        r.Type,
		Permissions: make([]permissionRecord, len(r.Permissions)),
		LastEvent:   r.LastEvent,
	}
	for i, p := range r.Permissions {
		stored.Permissions[i] = permissionRecord(p)
	}
	return dynamo.Marshal(stored)
}

// UnmarshalRole reads a custom role from its item.
func UnmarshalRole(item dynamo.Item) (access.RoleDefinition, error) {
	var stored roleRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return access.RoleDefinition{}, err
	}
	id, err := strconv.ParseInt(stored.ID, 10, 64)
	if err != nil {
		return access.RoleDefinition{}, err
	}
	r := access.RoleDefinition{
		ID:          access.Role(id),
		Type:        stored.Type,
		Name:        stored.Name,
		Description: stored.Description,
		Permissions: make([]access.RolePermission, len(stored.Permissions)),
		LastEvent:   stored.LastEvent,
	}
	for i, p := range stored.Permissions {
		r.Permissions[i] = access.RolePermission(p)
	}
	return r, nil
}

// Group is a group as it is stored.
type Group struct {
	ID          int64
	Name        string
	Description *string     // nil: none
	Mappings    []string    // values of the claim of an ID token whose people belong to the group
	RootRole    access.Role // 0: none
	Members     []int64     // ids of accounts, ascending
	CreatedBy   string      // empty: unknown
	CreatedAt   *time.Time  // nil: unknown
	LastEvent   int64       // the id of its last event
}

// groupRecord is the item of a group.
type groupRecord struct {
	itemKey
	Name        string      `dynamodbav:"name"`
	Description *string     `dynamodbav:"description,omitempty"`
	Mappings    []string    `dynamodbav:"mappingsSSO"`
	RootRole    access.Role `dynamodbav:"rootRole,omitempty"`
	Members     []int64     `dynamodbav:"members"`
	CreatedBy   string      `dynamodbav:"createdBy,omitempty"`
	CreatedAt   *time.Time  `dynamodbav:"createdAt,omitempty"`
	LastEvent   int64       `dynamodbav:"event,omitempty"`
}

// MarshalGroup returns the item of a group.
func MarshalGroup(g Group) dynamo.Item {
	return dynamo.Marshal(groupRecord{
		itemKey:     itemKey{KindGroup, strconv.FormatInt(g.ID, 10)},
		Name:        g.Name,
		Description: g.Description,
		Mappings:    append([]string{}, g.Mappings...),
		RootRole:    g.RootRole,
		Members:     append([]int64{}, g.Members...),
		CreatedBy:   g.CreatedBy,
		CreatedAt:   g.CreatedAt,
		LastEvent:   g.LastEvent,
	})
}

// UnmarshalGroup reads a group from its item.
func UnmarshalGroup(item dynamo.Item) (Group, error) {
	var stored groupRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Group{}, err
	}
	id, err := strconv.ParseInt(stored.ID, 10, 64)
	if err != nil {
		return Group{}, err
	}
	return Group{
		ID:          id,
		Name:        stored.Name,
		Description: stored.Description,
		Mappings:    stored.Mappings,
		RootRole:    stored.RootRole,
		Members:     stored.Members,
		CreatedBy:   stored.CreatedBy,
		CreatedAt:   stored.CreatedAt,
		LastEvent:   stored.LastEvent,
	}, nil
}
