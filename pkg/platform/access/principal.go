package access

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Principal is the owner of a valid credential.
type Principal struct {
	ID     string // for logs: user:7, api-token:<selector>
	UserID int64  // 0: the credential identifies no user
	// for the event log: a person's name, a service account's username, or "API token " and the token's name
	Name             string
	IsServiceAccount bool         // whether the user is a service account, not a person
	TokenID          string       // of the PAT or API token, or TrustPrefix and a trust; "": an ID token of a person
	Role             Role         // the root role that counts in projects: the highest of the user's and the groups'
	Permissions      []Permission // root permissions
	Groups           []int64      // the ids of the user's groups
}

// UserPrincipal returns the principal of a user, who is a person or a service account, without groups. The role is a fixed
// root role; another one grants nothing.
func UserPrincipal(userID int64, role Role) Principal { return MemberPrincipal(userID, role, nil, nil) }

// MemberPrincipal returns the principal of a user with groups. custom contains the permissions of custom root roles.
// Roles that do not exist grant nothing.
func MemberPrincipal(userID int64, role Role, groups []Group, custom map[Role][]Permission) Principal {
	p := Principal{ID: "user:" + strconv.FormatInt(userID, 10), UserID: userID, Role: role,
		Permissions: role.RootPermissions(custom)}
	for _, g := range groups {
		p.Groups = append(p.Groups, g.ID)
		if g.RootRole == 0 {
			continue
		}
		p.Role = higher(p.Role, g.RootRole)
		for _, permission := range g.RootRole.RootPermissions(custom) {
			if !slices.Contains(p.Permissions, permission) {
				p.Permissions = append(p.Permissions, permission)
			}
		}
	}
	if slices.Contains(p.Permissions, Admin) {
		p.Permissions = []Permission{Admin}
	}
	return p
}

// Group is a group of accounts. Its members have its root role besides their own.
type Group struct {
	ID       int64
	RootRole Role // 0: none
}

// APITokenPrincipal returns the principal of an API token, which belongs to the instance and not to a user.
func APITokenPrincipal(selector Selector) Principal {
	return Principal{ID: "api-token:" + selector.String(), Role: RoleAdmin, Permissions: []Permission{Admin}}
}

// TrustPrefix is how the TokenID of a token of a pipeline begins. Other ids do not contain a colon.
const TrustPrefix = "trust:"

// IsPipeline reports whether the credential is a token of a pipeline, which a trust of a service account accepts.
func (p Principal) IsPipeline() bool { return strings.HasPrefix(p.TokenID, TrustPrefix) }

// Has reports whether the principal has a root permission.
func (p Principal) Has(permission Permission) bool {
	return slices.Contains(p.Permissions, permission) || slices.Contains(p.Permissions, Admin)
}

// The keys of the authorizer's context. API Gateway passes them to a function as strings, together with principalId.
const (
	keyPrincipalID = "principalId"
	keyUserID      = "userId"
	keyKind        = "kind"        // of the user; only kindServiceAccount, otherwise it is a person
	keyRole        = "role"        // missing: none
	keyPermissions = "permissions" // separated by commas
	keyGroups      = "groups"      // ids, separated by commas; missing: none
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
	if p.Role != 0 {
		context[keyRole] = p.Role.String()
	}
	if len(p.Groups) > 0 {
		groups := make([]string, len(p.Groups))
		for i, id := range p.Groups {
			groups[i] = strconv.FormatInt(id, 10)
		}
		context[keyGroups] = strings.Join(groups, ",")
	}
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
	if text, _ := context[keyRole].(string); text != "" && p.Role.UnmarshalText([]byte(text)) != nil {
		return Principal{}, false
	}
	if text, _ := context[keyGroups].(string); text != "" {
		for group := range strings.SplitSeq(text, ",") {
			id, valid := ParseID(group)
			if !valid {
				return Principal{}, false
			}
			p.Groups = append(p.Groups, id)
		}
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
