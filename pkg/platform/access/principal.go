package access

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Permission is what a role grants and an operation requires.
type Permission string

// The permissions. Admin includes the others.
const (
	Admin                 Permission = "ADMIN"
	CreateFieldPermission Permission = "CREATE_CONTEXT_FIELD"
	UpdateFieldPermission Permission = "UPDATE_CONTEXT_FIELD"
	DeleteFieldPermission Permission = "DELETE_CONTEXT_FIELD"
	CreateFeature         Permission = "CREATE_FEATURE"
	UpdateFeature         Permission = "UPDATE_FEATURE"
	DeleteFeature         Permission = "DELETE_FEATURE"
	CreateSegment         Permission = "CREATE_SEGMENT"
	UpdateSegment         Permission = "UPDATE_SEGMENT"
	DeleteSegment         Permission = "DELETE_SEGMENT"
	UpdateEnvironment     Permission = "UPDATE_FEATURE_ENVIRONMENT" // turning toggles on and off
	CreateStrategy        Permission = "CREATE_FEATURE_STRATEGY"
	UpdateStrategy        Permission = "UPDATE_FEATURE_STRATEGY"
	DeleteStrategy        Permission = "DELETE_FEATURE_STRATEGY"
	UpdateDependency      Permission = "UPDATE_FEATURE_DEPENDENCY"
	ReadClientToken       Permission = "READ_CLIENT_API_TOKEN" //nolint:gosec // not a credential
	CreateClientToken     Permission = "CREATE_CLIENT_API_TOKEN"
	UpdateClientToken     Permission = "UPDATE_CLIENT_API_TOKEN"
	DeleteClientToken     Permission = "DELETE_CLIENT_API_TOKEN"
)

// Role is a user's root role.
type Role string

// The root roles.
const (
	RoleAdmin  Role = "Admin"
	RoleEditor Role = "Editor"
	RoleViewer Role = "Viewer"
)

// Roles returns all root roles, in the order of their ids: the id of a role is its position, counted from 1.
func Roles() []Role { return []Role{RoleAdmin, RoleEditor, RoleViewer} }

// ID returns the id of the role in the API, or 0 for an unknown role.
func (r Role) ID() int64 { return int64(slices.Index(Roles(), r) + 1) }

// Permissions returns the permissions that the role grants.
func (r Role) Permissions() []Permission {
	switch r {
	case RoleAdmin:
		return []Permission{Admin}
	case RoleEditor:
		return []Permission{
			CreateFieldPermission, UpdateFieldPermission, DeleteFieldPermission, CreateFeature, UpdateFeature, DeleteFeature,
			CreateSegment, UpdateSegment, DeleteSegment,
			UpdateEnvironment, CreateStrategy, UpdateStrategy, DeleteStrategy, UpdateDependency,
			ReadClientToken,
		}
	case RoleViewer:
	}
	return nil
}

// Principal is the owner of a valid credential.
type Principal struct {
	ID     string // for logs: user:7, api-token:<selector>
	UserID int64  // 0: the credential identifies no user
	// for the event log: a person's name, a service account's username, or "API token " and the token's name
	Name             string
	IsServiceAccount bool   // whether the user is a service account, not a person
	TokenID          string // of the PAT or API token; "": an ID token
	Permissions      []Permission
}

// UserPrincipal returns the principal of a user, who is a person or a service account.
func UserPrincipal(userID int64, role Role) Principal {
	return Principal{ID: "user:" + strconv.FormatInt(userID, 10), UserID: userID, Permissions: role.Permissions()}
}

// APITokenPrincipal returns the principal of an API token, which belongs to the instance and not to a user.
func APITokenPrincipal(selector Selector) Principal {
	return Principal{ID: "api-token:" + selector.String(), Permissions: []Permission{Admin}}
}

// Has reports whether the principal has a permission.
func (p Principal) Has(permission Permission) bool {
	return slices.Contains(p.Permissions, permission) || slices.Contains(p.Permissions, Admin)
}

// The keys of the authorizer's context. API Gateway passes them to a function as strings, together with principalId.
const (
	keyPrincipalID = "principalId"
	keyUserID      = "userId"
	keyKind        = "kind"        // of the user; only kindServiceAccount, otherwise it is a person
	keyPermissions = "permissions" // separated by commas
	keyName        = "name"
	keyTokenID     = "tokenId"
)

const kindServiceAccount = "service-account"

// Context returns the principal as the authorizer's context, without its id, which is a separate property of the
// authorizer's response.
func (p Principal) Context() map[string]any {
	permissions := make([]string, len(p.Permissions))
	for i, q := range p.Permissions {
		permissions[i] = string(q)
	}
	context := map[string]any{keyPermissions: strings.Join(permissions, ","), keyName: p.Name, keyTokenID: p.TokenID}
	if p.UserID != 0 {
		context[keyUserID] = strconv.FormatInt(p.UserID, 10)
	}
	if p.IsServiceAccount {
		context[keyKind] = kindServiceAccount
	}
	return context
}

type principalKey struct{}

// WithPrincipal returns a copy of ctx that contains the caller's principal. Require calls it for a handler.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the caller's principal that ctx contains, or the zero Principal.
func PrincipalFrom(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// parsePrincipal reads the authorizer's context. ok is false if no authorizer was called.
func parsePrincipal(context map[string]any) (p Principal, ok bool) {
	p.ID, _ = context[keyPrincipalID].(string)
	if p.ID == "" {
		return Principal{}, false
	}
	p.Name, _ = context[keyName].(string)
	p.TokenID, _ = context[keyTokenID].(string)
	p.IsServiceAccount = context[keyKind] == kindServiceAccount
	if text, there := context[keyUserID].(string); there {
		id, valid := ParseID(text)
		if !valid {
			return Principal{}, false
		}
		p.UserID = id
	}
	if text, _ := context[keyPermissions].(string); text != "" {
		for name := range strings.SplitSeq(text, ",") {
			p.Permissions = append(p.Permissions, Permission(name))
		}
	}
	return p, true
}

// ParseID reads the id of a PAT or an account: decimal digits without a sign or a leading zero, 1 to MaxID
// (api/openapi.yaml).
func ParseID(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 32)
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != text {
		return 0, false
	}
	return id, true
}
