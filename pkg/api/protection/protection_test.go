package protection_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

const skipper access.Role = 7

// projects reads one project, and the custom role skipper.
type projects struct{ project *access.Project }

func (p projects) Project(context.Context, string) (*access.Project, error) { return p.project, nil }
func (p projects) Projects(context.Context) ([]*access.Project, error) {
	return []*access.Project{p.project}, nil
}

func (projects) CustomRoles(context.Context, []access.Role) (access.CustomRoles, error) {
	return access.NewCustomRoles(access.RoleDefinition{ID: skipper, Type: access.CustomType,
		Permissions: []access.RolePermission{{Permission: access.SkipChangeRequest, Environment: "production"}}}), nil
}

// TestPermit checks who may change production directly, and whether the event says how.
func TestPermit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)
	freeze := func(from, until time.Duration) *access.Freeze {
		return &access.Freeze{From: now.Add(from), Until: now.Add(until), Reason: "Sale"}
	}
	const requests = `Changes in the environment "production" of the project "shop" need a change request.`
	const frozen = `The environment "production" of the project "shop" is frozen until 2026-12-24T13:00:00.000Z: Sale`
	const frozenForAll = `The environment "production" is frozen until 2026-12-24T13:00:00.000Z: Sale`
	const skips, turnsOff = "skips", "turns off"
	on := access.Protection{ChangeRequests: true}
	strict := access.Protection{ChangeRequests: true, ForbidsTurningOff: true}
	for _, test := range []struct {
		name       string
		protection access.Protection
		approvals  int64
		forAll     *access.Freeze
		reader     string // what the changes are to somebody who may not make them; Viewers may not even turn off
		offReader  string
		editor     string // who may turn toggles off
		off        string // what turning off is to an Editor
		admin      string
		offAdmin   string
	}{
		{"nothing", access.Protection{}, 0, nil, "", "", "", "", "", ""},
		{"change requests", on, 0, nil, requests, requests, requests, turnsOff, skips, turnsOff},
		{"change requests, also for turning off", strict, 0, nil, requests, requests, requests, requests, skips, skips},
		{"approvals of the environment", access.Protection{}, 2, nil, requests, requests, requests, turnsOff, skips, turnsOff},
		{"freeze", access.Protection{Freeze: freeze(0, time.Hour)}, 0, nil, frozen, frozen, frozen, turnsOff, skips, turnsOff},
		{"future freeze", access.Protection{Freeze: freeze(1, time.Hour)}, 0, nil, "", "", "", "", "", ""},
		{"past freeze", access.Protection{Freeze: freeze(-time.Hour, 0)}, 0, nil, "", "", "", "", "", ""},
		{"freeze and change requests", access.Protection{ChangeRequests: true, Freeze: freeze(0, time.Hour)}, 0, nil,
			frozen, frozen, frozen, turnsOff, skips, turnsOff},
		{"freeze of all projects", access.Protection{}, 0, freeze(-time.Hour, time.Hour),
			frozenForAll, frozenForAll, frozenForAll, turnsOff, skips, turnsOff},
		{"freeze of all projects, strict", access.Protection{ForbidsTurningOff: true}, 0, freeze(-time.Hour, time.Hour),
			frozenForAll, frozenForAll, frozenForAll, frozenForAll, skips, skips},
	} {
		project := access.NewProject("shop", "Shop")
		project.Protections = map[string]access.Protection{"production": test.protection, "test": {ChangeRequests: true}}
		project.Users = map[int64][]access.Role{8: {skipper}}
		environments := map[string]environment.Environment{
			"production": {Name: "production", RequiredApprovals: test.approvals, Freeze: test.forAll},
		}
		permit := func(p access.Principal, onlyTurnsOff bool) string {
			ctx := access.WithProjects(access.WithPrincipal(t.Context(), p), projects{&project})
			place := protection.Place{Project: "shop", Environment: "production"}
			permitted, err := protection.Permit(ctx, map[protection.Place]bool{place: onlyTurnsOff},
				map[string]*access.Project{"shop": &project}, environments, now)
			if err != nil {
				assert.Equal(t, apierror.NoAccess, apierror.KindOf(err))
				return apierror.From(err).Message
			}
			switch by := permitted[place]; {
			case by.SkippedChangeRequest && by.TurnedOff:
				return "both"
			case by.SkippedChangeRequest:
				return skips
			case by.TurnedOff:
				return turnsOff
			}
			return ""
		}
		for i, c := range []struct {
			who      string
			p        access.Principal
			turnsOff bool
			want     string
		}{
			{"Viewer", access.UserPrincipal(3, access.RoleViewer), false, test.reader},
			{"Viewer", access.UserPrincipal(3, access.RoleViewer), true, test.offReader},
			{"Editor", access.UserPrincipal(2, access.RoleEditor), false, test.editor},
			{"Editor", access.UserPrincipal(2, access.RoleEditor), true, test.off},
			{"Admin", access.UserPrincipal(1, access.RoleAdmin), false, test.admin},
			{"Admin", access.UserPrincipal(1, access.RoleAdmin), true, test.offAdmin},
			{"API token", access.APITokenPrincipal(access.Selector{}), false, test.admin},
			{"skipper", access.UserPrincipal(8, access.RoleViewer), false, test.admin},
			{"operator", access.Principal{}, false, test.admin},
		} {
			what := fmt.Sprint(test.name, ", ", c.who, " ", i, ": ")
			assert.Equal(t, what+c.want, what+permit(c.p, c.turnsOff))
		}
	}
}

// A text does not name a project that the caller does not see.
func TestPermitInAPrivateProject(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)
	secret := access.NewProject("secret", "Secret")
	secret.Mode = access.Private
	permit := func(p access.Protection) string {
		secret.Protections = map[string]access.Protection{"production": p}
		ctx := access.WithPrincipal(t.Context(), access.UserPrincipal(2, access.RoleEditor))
		_, err := protection.Permit(access.WithProjects(ctx, projects{&secret}),
			map[protection.Place]bool{{Project: "secret", Environment: "production"}: false},
			map[string]*access.Project{"secret": &secret}, nil, now)
		return apierror.From(err).Message
	}
	assert.Equal(t, `Changes in the environment "production" need a change request.`,
		permit(access.Protection{ChangeRequests: true}))
	assert.Equal(t, `The environment "production" of a project that uses this is frozen until 2026-12-24T13:00:00.000Z.`,
		permit(access.Protection{Freeze: &access.Freeze{From: now, Until: now.Add(time.Hour), Reason: "Takeover of Acme"}}))
}

func TestRequiredApprovals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		project     access.Protection
		environment int64
		want        int64
	}{
		{access.Protection{}, 0, 0},
		{access.Protection{RequiredApprovals: 3}, 0, 0},
		{access.Protection{ChangeRequests: true}, 0, 1},
		{access.Protection{ChangeRequests: true, RequiredApprovals: 3}, 0, 3},
		{access.Protection{}, 2, 2},
		{access.Protection{ChangeRequests: true}, 2, 2},
		{access.Protection{ChangeRequests: true, RequiredApprovals: 1}, 2, 2},
		{access.Protection{ChangeRequests: true, RequiredApprovals: 3}, 2, 3},
	} {
		p := access.Project{Protections: map[string]access.Protection{"production": test.project}}
		e := environment.Environment{Name: "production", RequiredApprovals: test.environment}
		assert.Equal(t, test.want, protection.RequiredApprovals(&p, e))
	}
	assert.Equal(t, int64(2), protection.RequiredApprovals(nil, environment.Environment{Name: "production", RequiredApprovals: 2}))
}
