package role

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// The maximum numbers of characters, as in create.schema.json.
const (
	maxName        = 100
	maxDescription = 1000
)

// Check returns nil if a custom role is valid in itself. Its error begins with what of the role is wrong. It sorts the
// permissions.
func Check(r *access.RoleDefinition) error {
	switch n := utf8.RuneCountInString(r.Name); {
	case n > maxName || !toggle.IsReadable(r.Name):
		return fmt.Errorf("the name must have 1 to %d characters, of which one is visible", maxName)
	case utf8.RuneCountInString(r.Description) > maxDescription:
		return fmt.Errorf("the description must have at most %d characters", maxDescription)
	case r.Type != access.CustomType && r.Type != access.RootCustomType:
		return fmt.Errorf("the type must be %s or %s", access.CustomType, access.RootCustomType)
	}
	for _, p := range r.Permissions {
		if _, ok := access.FindPermission(p.Permission); !ok {
			return fmt.Errorf("there is no permission %q", string(p.Permission))
		}
		if v := checkPermission(r.Type, p); v != nil {
			return v.err()
		}
	}
	r.Permissions = sorted(r.Permissions)
	return nil
}

// violation is why a role cannot have a permission.
type violation struct {
	ofEnvironment bool   // the environment is wrong
	text          string // continues a sentence about the permission or the environment
}

func (v violation) err() error {
	if v.ofEnvironment {
		return errors.New("the environment " + v.text)
	}
	return errors.New("a permission " + v.text)
}

// checkPermission returns nil if a role of the type can have a permission, which exists.
func checkPermission(t access.RoleType, p access.RolePermission) *violation {
	info, _ := access.FindPermission(p.Permission)
	switch {
	case info.Name == access.Admin:
		return &violation{text: "must not be the permission ADMIN, which only the role Admin has"}
	case t == access.CustomType && info.Type == access.RootPermission:
		return &violation{text: fmt.Sprintf("must be a permission in a project, because the role has the type %s; %s is of "+
			"the type root", t, info.Name)}
	case info.Type == access.EnvironmentPermission && p.Environment == "":
		return &violation{true, fmt.Sprintf("is required for the permission %s", info.Name)}
	case info.Type != access.EnvironmentPermission && p.Environment != "":
		return &violation{true, fmt.Sprintf("must not be sent for the permission %s, which is of the type %s", info.Name, info.Type)}
	}
	return nil
}
