package operator

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"toggleadmin/pkg/operator/apiclient"
)

// remoteGroup is a group in the API.
type remoteGroup struct {
	Group

	Users []struct {
		User struct {
			ID int64 `json:"id"`
		} `json:"user"`
	} `json:"users"`
}

// group returns the group as commands show it.
func (g remoteGroup) group() Group {
	shown := g.Group
	shown.Members = []int64{}
	for _, member := range g.Users {
		shown.Members = append(shown.Members, member.User.ID)
	}
	return shown
}

// Groups is Operator.Groups. The API lists groups without their members, so each is read.
func (r *Remote) Groups(ctx context.Context) ([]Group, error) {
	var list struct {
		Groups []Group `json:"groups"`
	}
	if err := r.get(ctx, nil, &list, "groups"); err != nil {
		return nil, err
	}
	return apiclient.Each(ctx, list.Groups, func(ctx context.Context, g Group) (Group, error) {
		return r.Group(ctx, g.ID)
	})
}

// Group is Operator.Group.
func (r *Remote) Group(ctx context.Context, id int64) (Group, error) {
	var g remoteGroup
	err := r.get(ctx, nil, &g, "groups", strconv.FormatInt(id, 10))
	return g.group(), err
}

// body returns the change as a body of the API.
func (c GroupChange) body(ctx context.Context, r *Remote) (map[string]any, error) {
	body := map[string]any{}
	if c.Name != nil {
		body["name"] = *c.Name
	}
	if c.Description != nil {
		if body["description"] = *c.Description; *c.Description == "" {
			body["description"] = nil
		}
	}
	if c.Mappings != nil {
		body["mappingsSSO"] = append([]string{}, *c.Mappings...)
	}
	if c.RootRole != nil {
		body["rootRole"] = nil
		if *c.RootRole != "" {
			role, err := r.RootRole(ctx, *c.RootRole)
			if err != nil {
				return nil, err
			}
			body["rootRole"] = int64(role.ID)
		}
	}
	return body, nil
}

// AddGroup is Operator.AddGroup.
func (r *Remote) AddGroup(ctx context.Context, change GroupChange) (Group, error) {
	body, err := change.body(ctx, r)
	if err != nil {
		return Group{}, err
	}
	var made remoteGroup
	err = r.send(ctx, http.MethodPost, body, &made, "groups")
	return made.group(), err
}

// UpdateGroup is Operator.UpdateGroup.
func (r *Remote) UpdateGroup(ctx context.Context, id int64, change GroupChange) (g Group, changed bool, err error) {
	body, err := change.body(ctx, r)
	if err != nil {
		return Group{}, false, err
	}
	return r.changeGroup(ctx, id, func(Group) map[string]any { return body })
}

// ChangeMembers is Operator.ChangeMembers.
func (r *Remote) ChangeMembers(ctx context.Context, id int64, add, remove []int64) (Group, error) {
	g, _, err := r.changeGroup(ctx, id, func(before Group) map[string]any {
		members := slices.DeleteFunc(slices.Concat(before.Members, add), func(member int64) bool {
			return slices.Contains(remove, member)
		})
		slices.Sort(members)
		users := []map[string]map[string]int64{}
		for _, member := range slices.Compact(members) {
			users = append(users, map[string]map[string]int64{"user": {"id": member}})
		}
		return map[string]any{"users": users}
	})
	return g, err
}

// changeGroup sends the changes that edit returns for a group, unless somebody else has changed the group since it was
// read. It reports whether the group has changed.
func (r *Remote) changeGroup(ctx context.Context, id int64, edit func(before Group) map[string]any) (
	g Group, changed bool, err error,
) {
	path := []string{"groups", strconv.FormatInt(id, 10)}
	var stored remoteGroup
	header, err := r.api.Call(ctx, http.MethodGet, path, nil, nil, nil, &stored)
	if err != nil {
		return Group{}, false, apiclient.Explain(err)
	}
	before := stored.group()
	body := edit(before)
	if body["name"] == nil {
		body["name"] = before.Name
	}
	match := map[string]string{"If-Match": header.Get("ETag")}
	if _, err := r.api.Call(ctx, http.MethodPut, path, nil, match, body, nil); err != nil {
		return Group{}, false, apiclient.Explain(err)
	}
	g, err = r.Group(ctx, id)
	return g, !reflect.DeepEqual(before, g), err
}

// DeleteGroup is Operator.DeleteGroup.
func (r *Remote) DeleteGroup(ctx context.Context, id int64) error {
	return r.send(ctx, http.MethodDelete, nil, nil, "groups", strconv.FormatInt(id, 10))
}
