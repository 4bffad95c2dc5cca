package world

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
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
	toggles map[string][]string
	role    int64       // the id of a custom role; 0: it was not created yet
	client  *sdk.Client // of who gives and takes rights
}

// teamsAt is who has which rights from a time on, as it is stored.
type teamsAt struct {
	from     time.Time
	projects map[string]storedProject
	roles    map[int64]storedRole
	accounts map[int64]int64 // their root roles
}

type storedProject struct {
	ID    string             `dynamodbav:"projectId"`
	Mode  string             `dynamodbav:"mode"`
	Users map[string][]int64 `dynamodbav:"users"`
}

type storedRole struct {
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
func (w *World) prepareProjects(client *sdk.Client) {
	w.teams.client = client
	for _, id := range []string{"shop", "last"} {
		w.putTeams(accesstable.MarshalProject(access.NewProject(id, id)))
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
		w.putTeams(accesstable.MarshalProject(access.NewProject(id, id)))
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

// putTeams writes an item of the table Access.
func (w *World) putTeams(item dynamo.Item) {
	_, err := w.teams.client.PutItem(context.Background(),
		&sdk.PutItemInput{TableName: new(w.tables[accesstable.Table]), Item: item})
	w.must(err)
}

// changedTeams remembers who has which rights after a write.
func (w *World) changedTeams() {
	if w.teams.client == nil {
		return
	}
	now := teamsAt{time.Now(), map[string]storedProject{}, map[int64]storedRole{}, map[int64]int64{}}
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
		default: // the items of groups, names and counters
		}
	}
	for id, u := range w.users() {
		if u["kind"] != nil {
			now.accounts[id] = u.Int("rootRole")
		}
	}
	w.teams.states = append(w.teams.states, now)
}

// rolesIn returns the roles that an account has in a project.
func (t teamsAt) rolesIn(project string, account int64) []int64 {
	return t.projects[project].Users[fmt.Sprint(account)]
}

// sees reports whether an account may know that a project exists.
func (t teamsAt) sees(account int64, project string) bool {
	p, exists := t.projects[project]
	return exists && (p.Mode != "private" || t.accounts[account] == rootAdmin || len(t.rolesIn(project, account)) > 0)
}

// may reports whether an account has a permission to change toggles of a project, in an environment if it is of that
// type.
func (t teamsAt) may(account int64, project, permission, environment string) bool {
	if root := t.accounts[account]; root == rootAdmin || root == rootEditor && t.projects[project].Mode == "open" {
		return true
	}
	for _, role := range t.rolesIn(project, account) {
		if role == projectOwner || role == projectMember {
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
	switch a.IntN(8) {
	case 0:
		a.changeCustomRole()
	case 1:
		c := choose(a, a.teams.members...)
		role := choose(a, access.RoleEditor, access.RoleViewer, access.RoleViewer)
		o := a.command(fmt.Sprintf("role %d %s", c.account, role), func(ctx context.Context) error {
			return errorOf(a.operator.SetRole(ctx, user.Person, c.account, role, true))
		})
		a.record(o, "role", c.account, "set", int64(role))
	default:
		a.changeAccess()
	}
}

// changeAccess changes the mode of a project and the roles in it.
func (a *actor) changeAccess() {
	p := access.NewProject(choose(a, teamProjects...), "team")
	p.Mode = choose(a, access.Open, access.Protected, access.Private, access.Private)
	some := func() []access.Role {
		customRole := access.Role(max(a.teams.role, projectReader))
		return choose(a, nil, nil, []access.Role{projectReader}, []access.Role{projectMember}, []access.Role{projectOwner},
			[]access.Role{customRole}, []access.Role{projectReader, customRole})
	}
	p.Users = map[int64][]access.Role{a.admin.account: {projectOwner}}
	for _, c := range a.teams.members {
		if roles := some(); roles != nil {
			p.Users[c.account] = roles
		}
	}
	a.note("%s: %s is %s for %v", a.name, p.ID, p.Mode, p.Users)
	a.putTeams(accesstable.MarshalProject(p))
}

// changeCustomRole changes what the custom role permits. The first time, it is created.
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
	if a.teams.role != 0 {
		a.do(a.admin, fmt.Sprint("PUT roles/", a.teams.role), body)
		return
	}
	var created struct{ Roles struct{ ID int64 } }
	if o := a.do(a.admin, "POST roles", body); o.ok() {
		a.decode(o, &created)
		a.teams.role = created.Roles.ID
	}
}

// workInTeam changes a toggle of a project, while rights change.
func (a *actor) workInTeam() {
	a.turn(a.name)
	c, project := choose(a, a.teams.members...), choose(a, teamProjects...)
	name, environment := choose(a, a.teams.toggles[project]...), choose(a, environmentNames[:2]...)
	in := activated{name, project, environment}
	a.meanwhile((*actor).manageTeams)
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
				all = append(all, teamsAt{first.from, second.projects, third.roles, first.accounts})
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
