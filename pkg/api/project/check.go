package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/dynamo"
)

// Check looks for custom roles in projects that do not exist, for protected and private projects without an Owner, for
// protections that are not valid, and for toggles and segments of projects that do not exist. It is a
// consistency.Check. That of groups looks for roles of accounts and groups that do not exist.
func (s *Store) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	projects, err := s.List(ctx)
	if err != nil {
		return "", nil, err
	}
	all, err := s.projectRoles(ctx)
	if err != nil {
		return "", nil, err
	}
	roles := map[access.Role]bool{}
	for _, r := range all {
		roles[r.ID] = true
	}
	known := map[string]bool{}
	for _, p := range projects {
		known[p.ID] = true
		found = append(found, s.checkRoles(p, roles)...)
		found = append(found, checkProtections(p)...)
		if p.Mode == access.Open {
			continue
		}
		err := s.owners.Keep(ctx, &dynamo.Actions{}, ownership.Change{Project: p})
		switch {
		case apierror.KindOf(err) == apierror.Conflict:
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the project %q is %s and has no Owner", p.ID, p.Mode),
				Advice: "give somebody the role: toggleadmin access grant PROJECT --account ID --role Owner",
			})
		case err != nil:
			return "", nil, err
		}
	}
	missing, err := s.checkContents(ctx, known)
	summary = fmt.Sprintf("%d, consistent with the roles in them, and with toggles and segments", len(projects))
	return summary, append(found, missing...), err
}

// checkRoles looks for custom roles in a project that do not exist. roles are those that exist.
func (s *Store) checkRoles(p *access.Project, roles map[access.Role]bool) (found []consistency.Inconsistency) {
	missing := map[access.Role]bool{}
	for _, grants := range []map[int64][]access.Role{p.Users, p.Groups} {
		for _, has := range grants {
			for _, r := range has {
				if !roles[r] {
					missing[r] = true
				}
			}
		}
	}
	for _, r := range slices.Sorted(maps.Keys(missing)) {
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("the role %d, which does not exist, is given in the project %q", int64(r), p.ID),
			Repair: s.withoutRole(p.ID, r),
		})
	}
	return found
}

// checkProtections looks for protections of a project that are not valid. Those of environments that do not exist wait for
// an environment with the name.
func checkProtections(p *access.Project) (found []consistency.Inconsistency) {
	for _, name := range slices.Sorted(maps.Keys(p.Protections)) {
		protection := p.Protections[name]
		if invalid := environment.CheckProtection(protection.RequiredApprovals, protection.Freeze); invalid != nil {
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("the protection of the environment %q in the project %q is not valid: %v", name, p.ID, invalid),
				Advice: "replace it: PUT /api/admin/projects/PROJECT/environments/ENVIRONMENT/change-requests/config, and " +
					"…/ENVIRONMENT/freeze",
			})
		}
	}
	return found
}

// withoutRole returns the function that takes a role from everybody in a project. It does nothing in a project that has
// no Owner and needs one: the check advises to give it one first.
func (s *Store) withoutRole(id string, role access.Role) func(context.Context) error {
	return func(ctx context.Context) error {
		err := s.UpdateAccess(ctx, id, func(p *access.Project) {
			for _, grants := range []map[int64][]access.Role{p.Users, p.Groups} {
				for grantee, roles := range grants {
					if slices.Contains(roles, role) {
						grants[grantee] = without(roles, []access.Role{role})
					}
				}
			}
		}, nil, Always)
		if apierror.KindOf(err) == apierror.Conflict {
			return nil
		}
		return err
	}
}

// checkContents looks for toggles and segments of projects that do not exist.
func (s *Store) checkContents(ctx context.Context, known map[string]bool) (
	found []consistency.Inconsistency, err error,
) {
	counts, err := s.count(ctx)
	if err != nil {
		return nil, err
	}
	segments, err := segmenttable.Scan(ctx, s.client, s.tables[segmenttable.Table])
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	has := map[string]int{}
	for id, n := range counts {
		has[id] += n.active + n.archived
	}
	for _, segment := range segments {
		if segment.Project != nil {
			has[*segment.Project]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(has)) {
		if !known[id] && has[id] > 0 {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("the project %q of toggles or segments (%d) does not exist", id, has[id]),
				Advice: "create it: toggleadmin projects create PROJECT",
			})
		}
	}
	return found, nil
}

// Deleted reports which accounts and groups were deleted, by their ids.
type Deleted struct{ Account, Group func(id int64) bool }

// Withdraws reports whether an event about a change of a project takes roles in it from somebody who was not deleted, or
// makes it stricter.
func Withdraws(e eventlog.Event, deleted Deleted) (bool, error) {
	type state struct {
		accessData
		Mode access.Mode `json:"mode"`
	}
	var after, before state
	if err := errors.Join(json.Unmarshal(e.Data, &after), json.Unmarshal(e.PreData, &before)); err != nil {
		return false, fmt.Errorf("read the data of event %d: %w", e.ID, err)
	}
	modes := []access.Mode{access.Open, access.Protected, access.Private}
	return slices.Index(modes, after.Mode) > slices.Index(modes, before.Mode) ||
		takes(before.Users, after.Users, deleted.Account) || takes(before.Groups, after.Groups, deleted.Group), nil
}

// takes reports whether somebody who was not deleted has fewer roles after a change than before.
func takes(before, after []grantData, deleted func(id int64) bool) bool {
	return slices.ContainsFunc(before, func(old grantData) bool {
		if deleted(old.ID) {
			return false
		}
		i := slices.IndexFunc(after, func(g grantData) bool { return g.ID == old.ID })
		return i < 0 || slices.ContainsFunc(old.Roles, func(r int64) bool { return !slices.Contains(after[i].Roles, r) })
	})
}
