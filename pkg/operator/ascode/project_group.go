package ascode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/apiclient"
)

// rolesOfGroups returns the ids of the roles of groups in a project, ascending, by the names of the groups, with the
// entity tag of all roles in the project.
func (c *Client) rolesOfGroups(ctx context.Context, project string) (all map[string][]int64, etag string, err error) {
	var access struct {
		Groups []struct {
			Name  string  `json:"name"`
			Roles []int64 `json:"roles"`
		} `json:"groups"`
	}
	header, err := c.api.Call(ctx, http.MethodGet, []string{"projects", project, "access"}, nil, nil, nil, &access)
	all = map[string][]int64{}
	for _, g := range access.Groups {
		all[g.Name] = slices.Sorted(slices.Values(g.Roles))
	}
	return all, header.Get("ETag"), err
}

// roles returns the ids of roles by their names.
func (c *Client) roles(ctx context.Context) (map[string]int64, error) {
	var list struct {
		Roles []named `json:"roles"`
	}
	err := c.api.Get(ctx, &list, "roles")
	return idsOf(list.Roles), err
}

// roleIDs returns the ids of the roles of the groups of a file, ascending, by the names of the groups. Its error names what
// does not exist.
func (s *Project) roleIDs(p *planner) (map[string][]int64, error) {
	roles, err := p.roles()
	if err != nil {
		return nil, err
	}
	groups, err := p.groups()
	if err != nil {
		return nil, err
	}
	var invalid []error
	all := map[string][]int64{}
	for _, name := range slices.Sorted(maps.Keys(s.Groups)) {
		at := "groups/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if _, exists := groups[name]; !exists {
			invalid = append(invalid, fmt.Errorf("%s: there is no group with the name %q", s.place(at), name))
		}
		for i, role := range s.Groups[name] {
			id, exists := roles[role]
			if !exists {
				invalid = append(invalid, fmt.Errorf("%s: there is no role with the name %q", s.place(fmt.Sprint(at, "/", i)), role))
			}
			all[name] = append(all[name], id)
		}
		all[name] = slices.Compact(slices.Sorted(slices.Values(all[name])))
	}
	return all, errors.Join(invalid...)
}

// planGroups returns the steps that set the roles of groups in a project: groups that get roles come first, so that a
// project that needs an Owner keeps one. seen are the roles that the groups have.
func (s *Project) planGroups(p *planner, seen map[string][]int64) (steps []Step, err error) {
	if s.Groups == nil {
		return nil, nil
	}
	next, err := s.roleIDs(p)
	if err != nil {
		return nil, err
	}
	groups, err := p.groups()
	if err != nil {
		return nil, err
	}
	removed := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(name string) bool { return len(next[name]) > 0 })
	for _, name := range append(slices.Sorted(maps.Keys(next)), removed...) {
		if slices.Equal(seen[name], next[name]) {
			continue
		}
		e := eventlog.Event{Type: eventlog.ProjectAccessUpdated, Subject: project.Subject(s.ID), Project: s.ID}
		a := &setRoles{project: s.ID, group: name, id: groups[name], seen: seen[name], next: next[name]}
		step, err := p.step(s.Ref(), e, object{"group " + name: seen[name]}, object{"group " + name: next[name]}, a)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// setRoles sets the roles of a group in a project, which must be as the plan has seen them. The entity tag is that of all
// roles in the project, so it is read just before, also after other steps.
type setRoles struct {
	project, group string
	id             int64 // of the group
	seen, next     []int64
}

func (a *setRoles) apply(ctx context.Context, c *Client, _ *Step) error {
	now, etag, err := c.rolesOfGroups(ctx, a.project)
	if err != nil {
		return err
	}
	if !slices.Equal(now[a.group], a.seen) {
		return errChangedByOthers
	}
	match := map[string]string{"If-Match": etag}
	path := []string{"projects", a.project, "groups", strconv.FormatInt(a.id, 10), "roles"}
	if len(a.next) == 0 {
		_, err = c.api.Call(ctx, http.MethodDelete, path, nil, match, nil, nil)
		return err
	}
	_, err = c.api.Call(ctx, http.MethodPut, path, url.Values{"roles": {apiclient.IDs(a.next)}}, match, nil, nil)
	return err
}

// groupsAsFile returns the names of the roles of groups as files contain them, sorted.
func groupsAsFile(ids map[string][]int64, roles map[string]int64) map[string][]string {
	names := map[int64]string{}
	for name, id := range roles {
		names[id] = name
	}
	all := map[string][]string{}
	for group, has := range ids {
		for _, id := range has {
			all[group] = append(all[group], names[id])
		}
		slices.Sort(all[group])
	}
	return all
}
