package feature_test

import (
	"context"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// editor returns the context of a request of an Editor.
func editor(t *testing.T, db toggles.Active) context.Context { //nolint:thelper // not a helper
	return access.WithProjects(access.WithPrincipal(t.Context(), access.UserPrincipal(2, access.RoleEditor)),
		db.ProjectReader())
}

// A protection that begins between the decision about a change and its write prevents the change.
func TestProtectionBeginsBeforeTheWrite(t *testing.T) {
	t.Parallel()
	db := toggles.NewActive(t)
	projects := project.NewStore(db.Client, db.Tables, db.Log())
	environments := environment.NewStore(db.Client, db.Tables, db.Log())
	freeze := &access.Freeze{From: toggles.Now(), Until: toggles.Now().Add(time.Hour), Reason: "Sale"}
	turnOn := func(f toggle.Feature) (toggle.Feature, error) {
		e := f.Environments["prod"]
		e.Enabled, e.Strategies = true, []toggle.Strategy{{ID: "s", Name: "default"}}
		f.SetEnvironment("prod", e)
		return f, nil
	}
	const requests = `Changes in the environment "prod" of the project "shop" need a change request.`
	for name, test := range map[string]struct {
		protect func() error
		want    string
	}{
		"config": {func() error {
			return projects.SetConfig(t.Context(), "shop", "prod", access.Protection{ChangeRequests: true}, project.Always)
		}, requests},
		"freeze": {func() error { return projects.SetFreeze(t.Context(), "shop", "prod", freeze) },
			`The environment "prod" of the project "shop" is frozen until 2026-12-30T06:39:00.123Z: Sale`},
		"freeze of all projects": {func() error { return environments.SetFreeze(t.Context(), "prod", freeze) },
			`The environment "prod" is frozen until 2026-12-30T06:39:00.123Z: Sale`},
		"approvals": {func() error {
			_, err := environments.Update(t.Context(), "prod", func(e *environment.Environment) error {
				e.RequiredApprovals = 1
				return nil
			})
			return err
		}, requests},
	} {
		db.Create(t, `{"name":"`+name+`","project":"shop"}`)
		store := db.StoreOn(db.Before(t, "TransactWriteItems", 1, func() { assert.OK(t, test.protect()) }))
		_, err := store.Update(editor(t, db), name, turnOn)
		assert.Equal(t, []any{apierror.NoAccess, test.want}, []any{apierror.KindOf(err), apierror.From(err).Message})
		assert.Equal(t, 0, len(db.Toggle(t, name).Environments))

		assert.OK(t, projects.SetConfig(t.Context(), "shop", "prod", access.Protection{}, project.Always))
		_ = projects.SetFreeze(t.Context(), "shop", "prod", nil)
		_ = environments.SetFreeze(t.Context(), "prod", nil)
		_, err = environments.Update(t.Context(), "prod", func(e *environment.Environment) error {
			e.RequiredApprovals = 0
			return nil
		})
		assert.OK(t, err)
		_, err = db.StoreOn(db.Client).Update(editor(t, db), name, turnOn)
		assert.OK(t, err)
	}
}
