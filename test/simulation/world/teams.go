package world

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// teamProjects are the projects of teams. Their toggles have their names, so that a response shows whether it says
// something of them.
var teamProjects = []string{"alpha", "omega"}

// teamState is what the world knows about teams.
type teamState struct {
	states  []teamsAt     // in their order
	members []*credential // people whose rights change while they act
	leads   []int64       // people who do not act
	toggles map[string][]string

	projects    *project.Store
	interrupted bool // the deletion of a group can have left something
}

// teamsAt is who has which rights from a time on, as it is stored.
type teamsAt struct {
	from     time.Time
	projects map[string]storedProject
	roles    map[int64]storedRole
	groups   map[int64]storedGroup
	listed   map[int64]int64 // the root roles of the groups that the authorizer knows
	accounts map[int64]storedAccount
}

type storedProject struct {
	ID     string             `dynamodbav:"projectId"`
	Mode   string             `dynamodbav:"mode"`
	Users  map[string][]int64 `dynamodbav:"users"`
	Groups map[string][]int64 `dynamodbav:"groups"`
}

type storedGroup struct {
	RootRole int64   `dynamodbav:"rootRole"`
	Members  []int64 `dynamodbav:"members"`
}

type storedAccount struct {
	RootRole int64   `dynamodbav:"rootRole"`
	Groups   []int64 `dynamodbav:"groups,numberset"`
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

// prepareProjects creates the projects that are not of teams. Toggles need them.
func (w *World) prepareProjects(projects *project.Store) {
	w.teams.projects = projects
	for _, id := range []string{"shop", "last"} {
		_, err := projects.Create(context.Background(), access.NewProject(id, id))
		w.must(err)
	}
}

// prepareTeams creates the projects of teams with their toggles, and people without rights.
func (w *World) prepareTeams(o *operator.Operator, store *feature.Store) {
	w.teams.toggles = map[string][]string{}
	if w.Actors>>teams.first == 0 {
		return
	}
	ctx := context.Background()
	for _, name := range []string{"mia", "max"} {
		p, err := o.AddAccount(ctx, user.Person, name, name+"@example.com", access.RoleViewer)
		w.must(err)
		expires := datetime.Milliseconds(time.Now().AddDate(1, 0, 0))
		_, token, err := o.CreateToken(ctx, p.ID, "first", &expires)
		w.must(err)
		w.teams.members = append(w.teams.members, &credential{text: token.Reveal(), account: p.ID, expires: expires})
	}
	w.tokens.highest += int64(len(w.teams.members))
	for _, id := range teamProjects {
		p := access.NewProject(id, id)
		p.Users = map[int64][]access.Role{w.admin.account: {projectOwner}}
		_, err := w.teams.projects.Create(ctx, p)
		w.must(err)
		for i := 0; len(w.teams.toggles[id]) < 2; i++ {
			name := fmt.Sprint(id, "-", i)
			if featuretable.Shard(name) != featuretable.Shard(toggleNames[0]) {
				continue
			}
			w.teams.toggles[id] = append(w.teams.toggles[id], name)
			f := toggle.Feature{Name: name, Project: id, Type: w.types.names[0], CreatedAt: time.Now()}
			_, err := store.Create(ctx, f)
			w.must(err)
		}
	}
}

// changedTeams remembers who has which rights after a write.
func (w *World) changedTeams() {
	now := teamsAt{
		from: time.Now(), projects: map[string]storedProject{}, roles: map[int64]storedRole{},
		groups: map[int64]storedGroup{}, listed: map[int64]int64{}, accounts: map[int64]storedAccount{},
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
					now.listed[group] = groups.Map(text).Int("rootRole")
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
	}
}

// checkMemberships checks that groups and accounts agree about members, and that the authorizer knows the groups.
func (w *World) checkMemberships(now teamsAt) {
	for id, g := range now.groups {
		if root, ok := now.listed[id]; !ok || root != g.RootRole {
			w.fail("the authorizer does not know the group %d with the root role %d", id, g.RootRole)
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

func parsed(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// rolesIn returns the roles that an account has in a project, directly and by its groups.
func (t teamsAt) rolesIn(project string, account int64) []int64 {
	p := t.projects[project]
	roles := slices.Clone(p.Users[fmt.Sprint(account)])
	for _, group := range t.accounts[account].Groups {
		if _, ok := t.listed[group]; ok {
			roles = append(roles, p.Groups[fmt.Sprint(group)]...)
		}
	}
	return roles
}

// root returns the root role of an account that counts: its own, or a higher one of a group.
func (t teamsAt) root(account int64) int64 {
	root := t.accounts[account].RootRole
	for _, group := range t.accounts[account].Groups {
		if of := t.listed[group]; of != 0 {
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

// may reports whether an account has a permission to change toggles of a project, in an environment if it is of that
// type.
func (t teamsAt) may(account int64, project, permission, environment string) bool {
	ofOwners := permission == "UPDATE_PROJECT" || permission == "PROJECT_USER_ACCESS_WRITE"
	root := t.root(account)
	if root == rootAdmin || root == rootEditor && t.projects[project].Mode == "open" && !ofOwners {
		return true
	}
	for _, role := range t.rolesIn(project, account) {
		if role == projectOwner || role == projectMember && !ofOwners {
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

// manageTeams gives and takes rights.
func (a *actor) manageTeams() {
	a.turn(a.name)
	switch a.IntN(12) {
	case 0, 1:
		a.changeCustomRole()
	case 2:
		c := choose(a, a.teams.members...)
		role := choose(a, access.RoleEditor, access.RoleViewer, access.RoleViewer)
		o := a.command(fmt.Sprintf("role %d %s", c.account, role), func(ctx context.Context) error {
			return errorOf(a.operator.SetRole(ctx, user.Person, c.account, role, true))
		})
		a.record(o, "role", c.account, "set", int64(role))
	case 3, 4:
		a.changeGroup()
	case 5:
		a.changeLeads()
	default:
		a.changeAccess(a.admin)
	}
}

// latest returns who has which rights now.
func (w *World) latest() teamsAt { return w.teams.states[len(w.teams.states)-1] }

// person chooses an account that can have rights in a project.
func (a *actor) person() int64 {
	ids := slices.Clone(a.teams.leads)
	for _, c := range a.teams.members {
		ids = append(ids, c.account, c.account)
	}
	return choose(a, append(ids, a.admin.account)...)
}

// customRole returns the id of a custom role, or of one that does not exist.
func (a *actor) customRole() int64 {
	return choose(a, append(slices.Sorted(maps.Keys(a.latest().roles)), 99)...)
}

// group returns the id of a group, or of one that does not exist.
func (a *actor) group() int64 {
	return choose(a, append(slices.Sorted(maps.Keys(a.latest().groups)), 99)...)
}

// some returns roles in a project, as the query of a request has them.
func (a *actor) some() string {
	return choose(a, "4", "5", "6", fmt.Sprint(a.customRole()), fmt.Sprint("6,", a.customRole()))
}

// changeAccess changes the mode of a project or the roles in it.
func (a *actor) changeAccess(by *credential) {
	id := choose(a, teamProjects...)
	path, permission := "projects/"+id, "PROJECT_USER_ACCESS_WRITE"
	ofUser := func() string { return fmt.Sprintf("%s/users/%d/roles", path, a.person()) }
	ofGroup := func() string { return fmt.Sprintf("%s/groups/%d/roles", path, a.group()) }
	if by == a.admin && a.IntN(2) == 0 {
		a.meanwhile((*actor).manageTeams)
	}
	var o *op
	switch a.IntN(10) {
	case 0, 1, 2:
		permission = "UPDATE_PROJECT"
		mode := choose(a, access.Open, access.Protected, access.Private, access.Private)
		o = a.do(by, "PUT "+path+"/settings", object{"mode": mode})
	case 3:
		roles := []object{}
		for _, role := range []int64{projectOwner, projectMember, projectReader} {
			roles = append(roles, object{"id": role, "users": []int64{a.person()}, "groups": []int64{a.group()}[:a.IntN(2)]})
		}
		o = a.do(by, "PUT "+path+"/access", object{"roles": roles[a.IntN(2):]})
	case 4:
		o = a.do(by, "POST "+path+"/access", object{"roles": []int64{projectMember}, "users": []int64{a.person()}, "groups": []int64{}})
	case 5, 6:
		o = a.do(by, "PUT "+ofUser()+"?roles="+a.some(), nil)
	case 7:
		o = a.do(by, "DELETE "+ofUser(), nil)
	case 8:
		o = a.do(by, "PUT "+ofGroup()+"?roles="+a.some(), nil)
	default:
		o = a.do(by, "DELETE "+ofGroup(), nil)
	}
	a.checkAllowed(o, by, id, permission, "")
}

// changeGroup creates, changes or deletes a group.
func (a *actor) changeGroup() {
	users := []object{}
	for range a.IntN(3) {
		users = append(users, object{"user": object{"id": a.person()}})
	}
	body := object{"name": choose(a, "red", "blue"), "users": users, "rootRole": choose[any](a, nil, nil, rootEditor)}
	switch a.meanwhile((*actor).manageTeams); a.IntN(4) {
	case 0, 1:
		a.do(a.admin, "POST groups", body)
	case 2:
		a.do(a.admin, fmt.Sprint("PUT groups/", a.group()), body)
	default:
		o := a.do(a.admin, fmt.Sprint("DELETE groups/", a.group()), nil)
		a.teams.interrupted = a.teams.interrupted || o.unknown
	}
}

// changeLeads adds a person who does not act, or deletes one.
func (a *actor) changeLeads() {
	if len(a.teams.leads) < 2 {
		a.n++
		body := object{"email": fmt.Sprintf("%s-%d@example.com", a.name, a.n), "rootRole": 3}
		var created struct{ ID int64 }
		if o := a.do(a.admin, "POST user-admin", body); o.ok() {
			a.decode(o, &created)
			a.teams.leads = append(a.teams.leads, created.ID)
			a.record(o, "role", created.ID, "set", 3)
		}
		return
	}
	id := choose(a, a.teams.leads...)
	a.meanwhile((*actor).manageTeams)
	a.deleteLead(id)
}

// deleteLead deletes a person who does not act, unless the person is the last Owner of a project.
func (a *actor) deleteLead(id int64) {
	if o := a.do(a.admin, fmt.Sprint("DELETE user-admin/", id), nil); o.ok() || o.status == http.StatusNotFound {
		a.teams.leads = slices.DeleteFunc(a.teams.leads, func(other int64) bool { return other == id })
	}
}

// changeCustomRole creates the custom role, changes what it permits, or deletes it.
func (a *actor) changeCustomRole() {
	permissions := []object{}
	for _, name := range []access.Permission{access.CreateFeature, access.UpdateFeature, access.DeleteFeature} {
		if a.IntN(3) == 0 {
			permissions = append(permissions, object{"name": name})
		}
	}
	for _, name := range []access.Permission{access.UpdateEnvironment, access.CreateStrategy} {
		if a.IntN(2) == 0 {
			environment := choose(a, environmentNames[:2]...)
			permissions = append(permissions, object{"name": name, "environment": environment})
		}
	}
	body := object{"name": "custom", "type": access.CustomType, "permissions": permissions}
	switch id := a.customRole(); {
	case len(a.latest().roles) == 0:
		a.do(a.admin, "POST roles", body)
	case a.IntN(4) == 0:
		a.meanwhile((*actor).manageTeams)
		a.do(a.admin, fmt.Sprint("DELETE roles/", id), nil)
	default:
		a.do(a.admin, fmt.Sprint("PUT roles/", id), body)
	}
}

// workInTeam changes a toggle of a project, while rights change.
func (a *actor) workInTeam() {
	a.turn(a.name)
	c, project := choose(a, a.teams.members...), choose(a, teamProjects...)
	name, environment := choose(a, a.teams.toggles[project]...), choose(a, environmentNames[:2]...)
	in := activated{name, project, environment}
	a.meanwhile((*actor).manageTeams)
	switch a.IntN(5) {
	case 0:
		a.changeAccess(c)
		return
	case 1, 2:
		a.readLists(c, name)
		return
	}
	var o *op
	permission, of := "UPDATE_FEATURE_ENVIRONMENT", environment
	switch a.IntN(8) {
	case 7:
		permission, of = "", "" // everybody who sees the project reads it
		o = a.do(c, "GET "+togglePath(name, project), nil)
	case 0:
		permission, of = "CREATE_FEATURE", ""
		o = a.do(c, "POST projects/"+project+"/features", object{"name": name, "type": a.types.names[0]})
	case 1:
		permission, of = "DELETE_FEATURE", ""
		o = a.do(c, "DELETE "+togglePath(name, project), nil)
	case 2:
		permission, of = "UPDATE_FEATURE", ""
		o = a.do(c, "POST projects/"+project+"/stale", object{"features": []string{name}, "stale": a.IntN(2) == 0})
	case 3:
		permission = "CREATE_FEATURE_STRATEGY"
		o = a.do(c, "POST "+in.path()+"/strategies", object{"name": "default"})
	case 4:
		request := fmt.Sprintf("POST projects/%s/bulk_features/environments/%s/off", project, environment)
		o = a.do(c, request, object{"features": []string{name}})
	default:
		o = a.do(c, "POST "+in.path()+"/"+choose(a, "on", "off"), nil)
	}
	a.checkAllowed(o, c, project, permission, of)
}

// readLists reads a list, and checks that it contains nothing of a project that the account sees at no time of the
// request. The names of toggles of teams begin with those of their projects.
func (a *actor) readLists(c *credential, name string) {
	path := choose(a, "projects", "projects", "search/features", "search/features/counts", "search/events?feature=IS:"+name,
		"groups", "user/roles", "metrics/applications")
	o := a.do(c, "GET "+path, nil)
	if !o.ok() {
		return
	}
	for _, project := range teamProjects {
		seen, always := false, true
		for _, s := range a.teamsDuring(o) {
			sees := s.sees(c.account, project)
			seen, always = seen || sees, always && sees
		}
		listed := strings.Contains(o.response, project)
		switch {
		case listed && !seen:
			a.fail("GET %s names the project %s, which the account %d does not see: %s", path, project, c.account, o.response)
		case !listed && always && path == "projects":
			a.fail("GET %s does not name the project %s, which the account %d sees: %s", path, project, c.account, o.response)
		}
	}
}

// teamsDuring returns what an operation can have read: first the accounts, then the projects, then the roles.
func (w *World) teamsDuring(o *op) (all []teamsAt) {
	var states []teamsAt
	for i, s := range w.teams.states {
		if during(o, w.teams.states, i, func(s teamsAt) time.Time { return s.from }) {
			states = append(states, s)
		}
	}
	for i, first := range states {
		for j, second := range states[i:] {
			for _, third := range states[i+j:] {
				all = append(all, teamsAt{
					from: first.from, projects: second.projects, roles: third.roles, listed: first.listed, accounts: first.accounts,
				})
			}
		}
	}
	return all
}

// checkAllowed checks the status of a request that needs a permission in a project: what was allowed at no time of it is
// refused, and what was allowed all the time is not. A project that the caller did not see is one that does not exist.
func (a *actor) checkAllowed(o *op, c *credential, project, permission, environment string) {
	if o.unknown || o.status == http.StatusUnauthorized {
		return
	}
	sometimes, always, seen, hidden := false, true, false, false
	for _, s := range a.teamsDuring(o) {
		sees := s.sees(c.account, project)
		may := sees && (permission == "" || s.may(c.account, project, permission, environment))
		sometimes, always = sometimes || may, always && may
		seen, hidden = seen || sees, hidden || !sees
	}
	missing := o.status == http.StatusNotFound && strings.Contains(o.response, "no project")
	what := fmt.Sprintf("%s of the account %d in %s %s: %d %s", permission, c.account, project, environment, o.status, o.response)
	switch {
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
