package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// maxRounds limits the repairs of a check: a repair can reveal another inconsistency.
const maxRounds = 3

// consistency runs the checks of the packages whose stores keep counters, indexes and relations.
func (d *doctor) consistency(ctx context.Context) {
	i := d.Installation
	log := i.Log(d.Now)
	users := user.NewStore(i.Client, i.Tables, log)
	pats := pat.NewStore(i.Client, i.Tables, log, nil)
	features := feature.NewStore(i.Client, i.Tables, log)

	clientTokens := clienttoken.NewStore(i.Client, i.Tables, log)
	segments := segment.NewStore(i.Client, i.Tables, log)
	d.check(ctx, "context fields", contextfield.NewStore(i.Client, i.Tables, log).Check(
		func(ctx context.Context) (map[string]references.Counts, error) {
			counted, err := features.CountReferences(ctx)
			if err != nil {
				return nil, err
			}
			return counted, segments.CountFields(ctx, counted)
		}))
	strategies := segment.NewStrategies(i.Client, i.Tables)
	d.check(ctx, "segments", segments.Check(strategies.CountReferences))
	d.check(ctx, "counter of segments", segments.CheckCounter(strategies.CountReferences))
	environments := environment.NewStore(i.Client, i.Tables, log)
	d.check(ctx, "states of toggles", features.CheckStates(environments.Restore))
	d.check(ctx, "environments", environments.Check(environments.CountReferences))
	d.check(ctx, "dependencies", features.CheckDependencies)
	d.check(ctx, "tag types", tagtype.NewStore(i.Client, i.Tables, log).Check)
	d.check(ctx, "code references", codereference.NewStore(i.Client, i.Tables, d.Now).Check)
	d.check(ctx, "accounts", users.Check)
	d.check(ctx, "groups", group.NewStore(i.Client, i.Tables, log).Check)
	d.check(ctx, "roles", role.NewStore(i.Client, i.Tables, log).Check)
	d.check(ctx, "projects", project.NewStore(i.Client, i.Tables, log).Check)
	d.check(ctx, "tokens", pats.Check)
	d.check(ctx, "trusts", trust.NewStore(i.Client, i.Tables, log).Check)
	d.check(ctx, "client tokens", clientTokens.Check)
	d.check(ctx, "change requests", changerequest.NewStore(i.Client, i.Tables, changerequest.Options{Log: log}).Check)
	snapshots := compiler.New(i.Client, i.Tables, d.Now, d.Random, slog.New(slog.DiscardHandler))
	d.repairing(ctx, "snapshots", func(ctx context.Context) (string, []consistency.Inconsistency, error) {
		return d.settled(ctx, snapshots.Check)
	})
}

// check runs a consistency check and reports its finding. With Config.Fix it repairs what the check finds.
func (d *doctor) check(ctx context.Context, name string, check consistency.Check) {
	d.repairing(ctx, name, func(ctx context.Context) (string, []consistency.Inconsistency, error) {
		return twice(ctx, check)
	})
}

// repairing is check for a check that repeats itself.
func (d *doctor) repairing(ctx context.Context, name string, check consistency.Check) {
	d.run(ctx, name, func(ctx context.Context) (string, error) {
		var repaired []string
		for round := 1; ; round++ {
			summary, found, err := check(ctx)
			if err != nil {
				return "", err
			}
			done := ""
			if repaired != nil {
				done = "repaired: " + consistency.List(repaired) + "; "
			}
			if len(found) == 0 {
				return done + summary, nil
			}
			if !d.Fix || round > maxRounds || !slices.ContainsFunc(found, isRepairable) {
				return "", d.describe(done, found)
			}
			for _, i := range found {
				if !isRepairable(i) {
					continue
				}
				if err := i.Repair(ctx); err != nil {
					return "", fmt.Errorf("repair that %s: %w", i.Text, err)
				}
				repaired = append(repaired, i.Text)
			}
		}
	})
}

func isRepairable(i consistency.Inconsistency) bool { return i.Repair != nil }

// settled returns what all runs of a check find until a change that was made before has had its effect. With Config.Fix
// it does not wait, because the repair has the same effect.
func (d *doctor) settled(ctx context.Context, check consistency.Check) (string, []consistency.Inconsistency, error) {
	began := d.Now()
	summary, found, err := twice(ctx, check)
	for attempt := 1; err == nil && len(found) > 0 && !d.Fix && d.Now().Sub(began) < d.Settle; attempt++ {
		if err = dynamo.Pause(ctx, attempt); err != nil {
			break
		}
		var again []consistency.Inconsistency
		summary, again, err = check(ctx)
		found = common(found, again)
	}
	return summary, found, err
}

// twice returns what two runs of a check in a row find. A write during one run can look like an inconsistency.
func twice(ctx context.Context, check consistency.Check) (string, []consistency.Inconsistency, error) {
	summary, first, err := check(ctx)
	if err != nil || len(first) == 0 {
		return summary, nil, err
	}
	summary, second, err := check(ctx)
	return summary, common(first, second), err
}

// common returns what a second run has found as the first one did.
func common(first, second []consistency.Inconsistency) []consistency.Inconsistency {
	return slices.DeleteFunc(second, func(i consistency.Inconsistency) bool {
		return !slices.ContainsFunc(first, func(f consistency.Inconsistency) bool { return f.Text == i.Text })
	})
}

// describe returns the problem that inconsistencies are, after the description of what was done.
func (d *doctor) describe(done string, found []consistency.Inconsistency) error {
	var texts, advice []string
	if slices.ContainsFunc(found, isRepairable) {
		advice = append(advice, fmt.Sprintf("did a restore not end? Repeat it. Otherwise, `toggleadmin doctor %s --fix` repairs it, see "+
			"docs/backup.md", d.Installation.Option))
	}
	for _, i := range found {
		texts = append(texts, i.Text)
		if i.Advice != "" && !slices.Contains(advice, i.Advice) {
			advice = append(advice, i.Advice)
		}
	}
	noun := "inconsistencies"
	if len(found) == 1 {
		noun = "inconsistency"
	}
	return problem(fmt.Sprintf("%s%d %s: %s", done, len(found), noun, consistency.List(texts)), consistency.List(advice))
}
