package world

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// teamsAt is who has which rights from a time on, as it is stored.
type teamsAt struct {
	from         time.Time
	at           time.Time // at which the groups of ID tokens count, if they are not too old
	projects     map[string]storedProject
	environments map[string]storedEnvironment
	roles        map[int64]storedRole
	groups       map[int64]storedGroup
	listed       map[int64]listedGroup // that the authorizer knows
	accounts     map[int64]storedAccount
}

type storedProject struct {
	ID           string                      `dynamodbav:"projectId"`
	Mode         string                      `dynamodbav:"mode"`
	Environments []string                    `dynamodbav:"environments"` // nil: all
	Users        map[string][]int64          `dynamodbav:"users"`
	Groups       map[string][]int64          `dynamodbav:"groups"`
	Protections  map[string]storedProtection `dynamodbav:"protections"` // by environment
}

type storedProtection struct {
	ChangeRequests    bool           `dynamodbav:"changeRequests"`
	RequiredApprovals int64          `dynamodbav:"requiredApprovals"`
	ForbidsTurningOff bool           `dynamodbav:"forbidsTurningOff"`
	Freeze            map[string]any `dynamodbav:"freeze"` // nil: none
}

type storedEnvironment struct {
	Deleted           bool           `dynamodbav:"deleted"`
	RequiredApprovals int64          `dynamodbav:"requiredApprovals"`
	Freeze            map[string]any `dynamodbav:"freeze"` // nil: none
}

type storedGroup struct {
	RootRole int64    `dynamodbav:"rootRole"`
	Members  []int64  `dynamodbav:"members"`
	Mappings []string `dynamodbav:"mappingsSSO"`
}

type listedGroup struct {
	RootRole int64    `dynamodbav:"rootRole"`
	Mappings []string `dynamodbav:"mappingsSSO"`
}

type storedAccount struct {
	Kind     string      `dynamodbav:"kind"`
	Disabled bool        `dynamodbav:"disabled"`
	RootRole int64       `dynamodbav:"rootRole"`
	Groups   []int64     `dynamodbav:"groups,numberset"`
	Claim    storedClaim `dynamodbav:"claim"`
}

// storedClaim is what the last ID token of a person said about groups.
type storedClaim struct {
	Values []string  `dynamodbav:"values"`
	At     time.Time `dynamodbav:"at"` // the zero time: no token has had a value of a group
}

type storedRole struct {
	Type        string `dynamodbav:"type"`
	Permissions []struct {
		Permission  string `dynamodbav:"permission"`
		Environment string `dynamodbav:"environment"`
	} `dynamodbav:"permissions"`
}

// The ids of roles that are fixed.
const (
	rootAdmin, rootEditor                      = 1, 2
	projectOwner, projectMember, projectReader = 4, 5, 6
)

// changedTeams remembers who has which rights after a write.
func (w *World) changedTeams() {
	now := teamsAt{
		from: time.Now(), projects: map[string]storedProject{}, environments: map[string]storedEnvironment{},
		roles: map[int64]storedRole{}, groups: map[int64]storedGroup{}, listed: map[int64]listedGroup{},
		accounts: map[int64]storedAccount{},
	}
	for _, item := range w.db.Items("Environments") {
		if name := item.String("name"); !strings.Contains(name, "#") {
			var e storedEnvironment
			w.must(dynamo.Unmarshal(item, &e))
			now.environments[name] = e
		}
	}
	for _, item := range w.db.Items(accesstable.Table) {
		id, _ := strconv.ParseInt(item.String(accesstable.Range), 10, 64)
		switch accesstable.Kind(item.String(accesstable.Hash)) {
		case accesstable.KindProject:
			var p storedProject
			w.must(dynamo.Unmarshal(item, &p))
			now.projects[p.ID] = p
		case accesstable.KindRole:
			var r storedRole
			w.must(dynamo.Unmarshal(item, &r))
			now.roles[id] = r
		case accesstable.KindGroup:
			var g storedGroup
			w.must(dynamo.Unmarshal(item, &g))
			now.groups[id] = g
		default: // the items of names and counters
			if accesstable.IsDirectory(item) {
				groups := item.Map("groups")
				for text := range groups {
					group, err := strconv.ParseInt(text, 10, 64)
					w.must(err)
					var of listedGroup
					w.must(dynamo.Unmarshal(groups.Map(text), &of))
					now.listed[group] = of
				}
			}
		}
	}
	for id, u := range w.users() {
		if u["kind"] != nil {
			var stored storedAccount
			w.must(dynamo.Unmarshal(u, &stored))
			now.accounts[id] = stored
		}
	}
	w.teams.states = append(w.teams.states, now)
	if w.restores.end == nil { // it has not begun
		w.checkMemberships(now)
		w.checkTeams(now)
		w.checkEnvironmentsOfProjects()
	}
}

// latest returns who has which rights now.
func (w *World) latest() teamsAt {
	now := w.teams.states[len(w.teams.states)-1]
	now.at = time.Now()
	return now
}

// groupsOf returns the groups that the authorizer knows of which an account is a member, or which have one of the values of
// its last ID token, unless that is too old.
func (t teamsAt) groupsOf(account int64) (ids []int64) {
	a := t.accounts[account]
	counts := t.at.Before(a.Claim.endsAt())
	for id, g := range t.listed {
		if slices.Contains(a.Groups, id) || counts && overlap(a.Claim.Values, g.Mappings) {
			ids = append(ids, id)
		}
	}
	return ids
}

// rolesIn returns the roles that an account has in a project, directly and by its groups.
func (t teamsAt) rolesIn(project string, account int64) []int64 {
	p := t.projects[project]
	roles := slices.Clone(p.Users[fmt.Sprint(account)])
	for _, group := range t.groupsOf(account) {
		roles = append(roles, p.Groups[fmt.Sprint(group)]...)
	}
	return roles
}

// root returns the root role of an account that counts: its own, or a higher one of a group.
func (t teamsAt) root(account int64) int64 {
	root := t.accounts[account].RootRole
	for _, group := range t.groupsOf(account) {
		if of := t.listed[group].RootRole; of != 0 {
			root = min(root, of)
		}
	}
	return root
}

// sees reports whether an account may know that a project exists.
func (t teamsAt) sees(account int64, project string) bool {
	p, exists := t.projects[project]
	return exists && (p.Mode != "private" || t.root(account) == rootAdmin || len(t.rolesIn(project, account)) > 0)
}

// may reports whether an account has a permission to change a project, in an environment if it is of that type.
func (t teamsAt) may(account int64, project, permission, environment string) bool {
	skips := permission == "SKIP_CHANGE_REQUEST"
	ofOwners := slices.Contains([]string{
		"UPDATE_PROJECT", "PROJECT_USER_ACCESS_WRITE", "APPROVE_CHANGE_REQUEST", "PROJECT_CHANGE_REQUEST_WRITE",
	}, permission)
	root := t.root(account)
	if root == rootAdmin || root == rootEditor && t.projects[project].Mode == "open" && !ofOwners && !skips {
		return true
	}
	for _, role := range t.rolesIn(project, account) {
		if role == projectOwner && !skips || role == projectMember && !ofOwners && !skips {
			return true
		}
		for _, p := range t.roles[role].Permissions {
			if p.Permission == permission && p.Environment == environment {
				return true
			}
		}
	}
	return false
}

// teamsDuring returns what an operation can have read: first the accounts, then the projects, then the roles. If what an ID
// token said became too old meanwhile, it counts and it does not.
func (w *World) teamsDuring(o *op) (all []teamsAt) {
	var states []teamsAt
	for i, s := range w.teams.states {
		if during(o, w.teams.states, i, func(s teamsAt) time.Time { return s.from }) {
			states = append(states, s)
		}
	}
	begun, ended := o.begun.Add(-w.skew-sweepDelay), o.ended.Add(w.skew)
	for i, first := range states {
		times := []time.Time{begun}
		if first.claimEnds(begun, ended) {
			times = append(times, ended)
		}
		for j, second := range states[i:] {
			for _, third := range states[i+j:] {
				for _, at := range times {
					all = append(all, teamsAt{
						from: first.from, at: at, projects: second.projects, environments: second.environments, roles: third.roles,
						listed: first.listed, accounts: first.accounts,
					})
				}
			}
		}
	}
	return all
}

// teamsSince returns what a call that is carried out now can have read since a time.
func (w *World) teamsSince(begun time.Time) []teamsAt {
	return w.teamsDuring(&op{begun: begun, ended: time.Now()})
}

// checkAllowed checks the status of a request that needs a permission in a project: what was allowed at no time of it is
// refused, and what was allowed all the time is not. A project that the caller did not see is one that does not exist.
func (a *actor) checkAllowed(o *op, c *credential, project, permission, environment string) {
	if o.unknown || o.status == http.StatusUnauthorized {
		return
	}
	sometimes, always, seen, hidden := false, true, false, false
	states := c.as(a.teamsDuring(o))
	for _, s := range states {
		sees := s.sees(c.account, project)
		may := sees && (permission == "" || s.may(c.account, project, permission, environment))
		sometimes, always = sometimes || may, always && may
		seen, hidden = seen || sees, hidden || !sees
	}
	missing := o.status == http.StatusNotFound && strings.Contains(o.response, "no project")
	what := fmt.Sprintf("%s of the account %d in %s %s: %d %s", permission, c.account, project, environment, o.status, o.response)
	guarded := o.status == http.StatusForbidden && (strings.Contains(o.response, "need a change request") ||
		strings.Contains(o.response, "is frozen until"))
	switch {
	case guarded && !slices.ContainsFunc(states, func(s teamsAt) bool { return s.guards(c.account, project) }):
		a.fail("a request is refused, but no environment is protected: %s", what)
	case guarded:
	case missing && !hidden:
		a.fail("a project is not found that the account sees: %s", what)
	case missing:
	case !seen:
		a.fail("a response about a project that the account does not see: %s", what)
	case o.status == http.StatusForbidden && always:
		a.fail("a request is refused that the account may send: %s", what)
	case o.status != http.StatusForbidden && !sometimes:
		a.fail("a request is not refused that the account may not send: %s", what)
	}
}

func parsed(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
