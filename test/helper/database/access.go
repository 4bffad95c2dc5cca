package database

import (
	"testing"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
)

// ProjectReader returns the reader of the projects.
func (db *Database) ProjectReader() *accesstable.Reader {
	return accesstable.NewReader(db.Client, db.Tables)
}

// PutProjects writes projects.
func (db *Database) PutProjects(tb testing.TB, projects ...access.Project) {
	tb.Helper()
	for _, p := range projects {
		db.Put(tb, db.Tables[accesstable.Table], accesstable.MarshalProject(p))
	}
}

// PutPrivateProject writes the private project "secret", in which nobody has a role.
func (db *Database) PutPrivateProject(tb testing.TB) {
	tb.Helper()
	secret := access.NewProject("secret", "Secret")
	secret.Mode = access.Private
	db.PutProjects(tb, secret)
}

// PutRoles writes custom roles.
func (db *Database) PutRoles(tb testing.TB, roles ...access.RoleDefinition) {
	tb.Helper()
	for _, r := range roles {
		db.Put(tb, db.Tables[accesstable.Table], accesstable.MarshalRole(r))
	}
}
