package transfer_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// guarded has an environment and a project that are protected and frozen, and a toggle that is on there.
func guarded(t *testing.T) transfer.Document {
	t.Helper()
	d := on(t, `{"id":"1","name":"default"}`)
	d.Environments[0].RequiredApprovals = new(int64(2))
	d.Environments[0].Freeze = &environment.Freeze{From: "2026-12-01T00:00:00.000Z", Until: "2026-12-02T00:00:00.000Z", Reason: "A"}
	d.Features[0].Project = "shop"
	d.Projects = []transfer.Project{{
		ID: "shop", Name: "Shop", Mode: access.Open, DefaultStickiness: "default",
		Protections: []transfer.Protection{{
			Environment: "production", ChangeRequestsEnabled: true, RequiredApprovals: new(int64(3)),
			Freeze: &environment.Freeze{From: "2026-11-01T00:00:00.000Z", Until: "2027-01-02T00:00:00.000Z", Reason: "Sale"},
		}},
	}}
	return d
}

// Protections and freezes come with environments and projects; a dry run reports the same, a second import changes
// nothing, and an export makes another installation equal.
func TestProtections(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), guarded(t)
	want := s.run(t, d, transfer.Options{DryRun: true})
	want.DryRun = false
	same(t, want, s.run(t, d, transfer.Options{}))
	stored := s.export(t)
	same(t, d.Environments, stored.Environments)
	same(t, d.Projects[0].Protections, stored.Projects[1].Protections)
	same(t, true, stored.Features[0].Environments["production"].Enabled)

	events := s.Events(t)
	again := s.run(t, stored, transfer.Options{})
	same(t, []int{1, 2}, []int{again.Environments.Unchanged, again.Projects.Unchanged})
	same(t, []transfer.Remark(nil), append(again.Environments.Notes, again.Projects.Notes...))
	same(t, events, s.Events(t))
	movesUnchanged(t, stored)
}

// An import makes a protection stricter, and never less strict. A freeze that has not ended stays.
func TestStricterProtections(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), guarded(t)
	s.run(t, d, transfer.Options{})
	d.Environments[0].RequiredApprovals, d.Environments[0].Freeze = nil, nil
	d.Environments[0].Type = "live"
	d.Projects[0].Protections = []transfer.Protection{{
		Environment: "production", RequiredApprovals: new(int64(5)), AllowTurningOff: true,
		Freeze: &environment.Freeze{From: "2026-11-01T00:00:00.000Z", Until: "2030-01-01T00:00:00.000Z", Reason: "Other"},
	}}
	for _, dryRun := range []bool{true, false} {
		r := s.run(t, d, transfer.Options{DryRun: dryRun})
		same(t, []transfer.Update{{"production", []string{"type"}}}, r.Environments.Updated)
		same(t, []transfer.Update{{"shop", []string{"protections"}}}, r.Projects.Updated)
		same(t, []transfer.Remark{{"production", "its protection stays as strict as it is here"}}, r.Environments.Notes)
		same(t, []transfer.Remark{{"shop", `its protection of the environment "production" stays as strict as it is here`}},
			r.Projects.Notes)
	}
	want := guarded(t)
	want.Environments[0].Type = "live"
	want.Projects[0].Protections[0].RequiredApprovals = new(int64(5))
	stored := s.export(t)
	same(t, want.Environments, stored.Environments)
	same(t, want.Projects[0].Protections, stored.Projects[1].Protections)
}

// A freeze that has ended is in no export, and an import ignores it. A protection that is not valid is an error of its
// environment or project, and one of an environment that does not exist is left out.
func TestProtectionsSkipped(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), guarded(t)
	s.run(t, d, transfer.Options{})
	s.Now = func() time.Time { return time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC) }
	stored := s.export(t)
	same(t, (*environment.Freeze)(nil), stored.Environments[0].Freeze)
	same(t, (*environment.Freeze)(nil), stored.Projects[1].Protections[0].Freeze)
	same(t, 2, s.run(t, stored, transfer.Options{}).Projects.Unchanged)

	other := newStage(t)
	other.Now = s.Now
	d.Environments = append(d.Environments, transfer.Environment{Name: "staging", Type: "test", RequiredApprovals: new(int64(11))})
	d.Projects[0].Protections[0].Environment = "staging"
	d.Projects = append(d.Projects, transfer.Project{ID: "web", Name: "Web", Mode: access.Open, DefaultStickiness: "default",
		Protections: []transfer.Protection{{Environment: "production",
			Freeze: &environment.Freeze{From: "2030-01-02T00:00:00Z", Until: "2030-01-01T00:00:00Z", Reason: "R"}}}})
	r := other.run(t, d, transfer.Options{})
	same(t, []transfer.Remark{{"staging", "the number of required approvals must be 1 to 10, or none; it is 11"}},
		r.Environments.Skipped)
	same(t, []transfer.Remark{{"web",
		`its protection of the environment "production" is not valid: the freeze must end after it begins`}}, r.Projects.Skipped)
	same(t, []transfer.Remark{{"shop", `its protection of the environment "staging" was left out: it does not exist here`}},
		r.Projects.Notes)
	same(t, (*environment.Freeze)(nil), other.export(t).Environments[0].Freeze)
}

// What the document says of a toggle is imported into a protected and frozen environment.
func TestToggleInProtectedEnvironment(t *testing.T) {
	t.Parallel()
	s, d := newStage(t), guarded(t)
	s.run(t, d, transfer.Options{})
	d.Features[0].Environments["production"] = toggle.Environment{}
	same(t, []transfer.Update{{"t", []string{"environments"}}}, s.run(t, d, transfer.Options{}).Features.Updated)
}
