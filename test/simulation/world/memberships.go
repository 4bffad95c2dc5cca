package world

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// checkMemberships checks that groups and accounts agree about members, and that the authorizer knows the groups.
func (w *World) checkMemberships(now teamsAt) {
	for id, g := range now.groups {
		if of, ok := now.listed[id]; !ok || of.RootRole != g.RootRole || !slices.Equal(of.Mappings, g.Mappings) {
			w.fail("the authorizer does not know the group %d with the root role %d and the values %q", id, g.RootRole, g.Mappings)
		}
		for _, member := range g.Members {
			if a, ok := now.accounts[member]; ok && !slices.Contains(a.Groups, id) {
				w.fail("the group %d has the member %d, who does not have the group", id, member)
			}
		}
	}
	for id := range now.listed {
		if _, ok := now.groups[id]; !ok {
			w.fail("the authorizer knows the group %d, which does not exist", id)
		}
	}
	for id, a := range now.accounts {
		for _, group := range a.Groups {
			if g, ok := now.groups[group]; ok && !slices.Contains(g.Members, id) {
				w.fail("the account %d has the group %d, which does not have the member", id, group)
			}
		}
	}
}

// checkTeams checks that roles in projects exist, and that each protected and private project has an Owner.
func (w *World) checkTeams(now teamsAt) {
	for _, p := range now.projects {
		for _, grants := range []map[string][]int64{p.Users, p.Groups} {
			for holder, roles := range grants {
				for _, role := range roles {
					fixed := role >= projectOwner && role <= projectReader
					if !fixed && now.roles[role].Type != string(access.CustomType) {
						w.fail("%s has the role %d in the project %s, which does not exist", holder, role, p.ID)
					}
				}
			}
		}
		if p.Mode != string(access.Open) && !now.hasOwner(p) {
			w.fail("the project %s is %s and has no Owner", p.ID, p.Mode)
		}
	}
}

// checkEnvironmentsOfProjects checks that toggles are on only in environments that their projects have.
func (w *World) checkEnvironmentsOfProjects() {
	if len(w.teams.states) == 0 || w.restores.end != nil {
		return
	}
	projects := w.latest().projects
	for name := range w.activation.toggles {
		f := w.feature(name)
		if f == nil || f.Archived || projects[f.Project].Environments == nil {
			continue
		}
		for environment, e := range f.Environments {
			if e.Enabled && !slices.Contains(projects[f.Project].Environments, environment) {
				w.fail("the toggle %s is on in %s, which its project %s does not have", name, environment, f.Project)
			}
		}
	}
}

// hasOwner reports whether an account that exists is an Owner of a project, directly or as a member of a group.
func (t teamsAt) hasOwner(p storedProject) bool {
	for id := range t.accounts {
		if slices.Contains(p.Users[fmt.Sprint(id)], projectOwner) {
			return true
		}
		for group, g := range t.groups {
			if slices.Contains(g.Members, id) && slices.Contains(p.Groups[fmt.Sprint(group)], projectOwner) {
				return true
			}
		}
	}
	return false
}

// checkGrants checks that nothing is left of groups and accounts that do not exist. It is called at the end.
func (w *World) checkGrants() {
	if len(w.teams.states) == 0 || w.teams.interrupted {
		return
	}
	now := w.teams.states[len(w.teams.states)-1]
	for _, p := range now.projects {
		for id := range p.Groups {
			if _, ok := now.groups[parsed(id)]; !ok {
				w.fail("the group %s, which does not exist, has roles in the project %s", id, p.ID)
			}
		}
		for id := range p.Users {
			if _, ok := now.accounts[parsed(id)]; !ok {
				w.fail("the account %s, which does not exist, has roles in the project %s", id, p.ID)
			}
		}
	}
}

// losesOnlyOldGrants reports whether a project loses only roles of accounts and groups that do not exist.
func (w *World) losesOnlyOldGrants(c change) bool {
	var old, next storedProject
	w.must(dynamo.Unmarshal(c.old, &old))
	w.must(dynamo.Unmarshal(c.next, &next))
	now := w.latest()
	maps.DeleteFunc(old.Users, func(id string, _ []int64) bool { _, ok := now.accounts[parsed(id)]; return !ok })
	maps.DeleteFunc(next.Users, func(id string, _ []int64) bool { _, ok := now.accounts[parsed(id)]; return !ok })
	maps.DeleteFunc(old.Groups, func(id string, _ []int64) bool { _, ok := now.groups[parsed(id)]; return !ok })
	maps.DeleteFunc(next.Groups, func(id string, _ []int64) bool { _, ok := now.groups[parsed(id)]; return !ok })
	return reflect.DeepEqual(old, next)
}
