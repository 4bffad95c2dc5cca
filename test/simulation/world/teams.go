package world

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// teamProjects are the projects of teams. Their toggles have their names, so that a response shows whether it says
// something of them.
var teamProjects = []string{"alpha", "omega"}

// teamState is what the world knows about teams.
type teamState struct {
	states  []teamsAt     // in their order
	members []*credential // people whose rights change while they act
	segment int64         // which toggles of all projects can use
	tokens  []*credential // ID tokens of the members
	leads   []int64       // people who do not act
	toggles map[string][]string

	projects    *project.Store
	interrupted bool // the deletion of a group can have left something
}

// prepareProjects creates the projects that are not of teams. Toggles need them.
func (w *World) prepareProjects(projects *project.Store) {
	w.teams.projects = projects
	for _, id := range []string{"shop", "last"} {
		_, err := projects.Create(context.Background(), access.NewProject(id, id))
		w.must(err)
	}
}

// prepareTeams creates the projects of teams with their toggles, and people without rights.
func (w *World) prepareTeams(o *operator.Operator, client *dynamodb.Client, log *eventlog.Log) {
	w.teams.toggles = map[string][]string{}
	w.requests = requestState{states: map[int64][]requestAt{}, bases: map[changeID]basis{}}
	if w.Actors>>teams.first == 0 {
		return
	}
	ctx, store := context.Background(), feature.NewStore(client, w.tables, log)
	names := []string{"mia", "max"}
	if slices.ContainsFunc(requestActors, w.acts) {
		names = append(names, "moe", "may", "mik")
	}
	for _, name := range names {
		p, err := o.AddAccount(ctx, user.Person, name, name+"@example.com", access.RoleViewer)
		w.must(err)
		expires := datetime.Milliseconds(time.Now().AddDate(1, 0, 0))
		_, token, err := o.CreateToken(ctx, p.ID, "first", &expires)
		w.must(err)
		w.teams.members = append(w.teams.members,
			&credential{text: token.Reveal(), account: p.ID, description: name, expires: expires})
	}
	w.tokens.highest += int64(len(w.teams.members))
	custom, red := w.prepareRights(role.NewStore(client, w.tables, log), group.NewStore(client, w.tables, log))
	elders := w.prepareElders(user.NewStore(client, w.tables, log), group.NewStore(client, w.tables, log))
	w.teams.segment = w.prepareSegment(segment.NewStore(client, w.tables, log), "of all teams")
	for _, id := range teamProjects {
		p := access.NewProject(id, id)
		p.Users = map[int64][]access.Role{w.admin.account: {projectOwner}}
		p.Groups = map[int64][]access.Role{elders: {projectMember}}
		w.giveRights(&p, custom, red)
		_, err := w.teams.projects.Create(ctx, p)
		w.must(err)
		for i := 0; len(w.teams.toggles[id]) < 2; i++ {
			name := fmt.Sprint(id, "-", i)
			if featuretable.Shard(name) != featuretable.Shard(toggleNames[0]) {
				continue
			}
			w.teams.toggles[id] = append(w.teams.toggles[id], name)
			f := toggle.Feature{Name: name, Project: id, Type: w.types.names[0], CreatedAt: time.Now()}
			f.SetEnvironment(environmentNames[0], toggle.Environment{Strategies: []toggle.Strategy{{
				ID: name, Name: "default", Segments: []int64{w.teams.segment},
			}}})
			_, err := store.Create(ctx, f)
			w.must(err)
		}
	}
	w.prepareRequests(store)
}

// prepareSegment creates a segment that the toggles of all projects can use, and returns its id.
func (w *World) prepareSegment(segments *segment.Store, name string) int64 {
	var s segment.Segment
	s.Name = name
	created, err := segments.Create(access.AsOperator(context.Background()), s)
	w.must(err)
	return created.ID
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
	kind, match := a.IntN(14), []string(nil)
	if kind >= 3 && kind < 10 {
		match = a.requires(by, id, accessPart, func(b *actor) { b.changeAccess(b.admin) })
	}
	var o *op
	switch kind {
	case 10, 11, 12, 13:
		permission = "UPDATE_PROJECT"
		o = a.changeEnvironments(by, id)
	case 0, 1, 2:
		permission = "UPDATE_PROJECT"
		mode := choose(a, access.Open, access.Protected, access.Private, access.Private)
		o = a.do(by, "PUT "+path+"/settings", object{"mode": mode})
	case 3:
		roles := []object{}
		for _, role := range []int64{projectOwner, projectMember, projectReader} {
			roles = append(roles, object{"id": role, "users": []int64{a.person()}, "groups": []int64{a.group()}[:a.IntN(2)]})
		}
		o = a.do(by, "PUT "+path+"/access", object{"roles": roles[a.IntN(2):]}, match...)
	case 4:
		o = a.do(by, "POST "+path+"/access", object{"roles": []int64{projectMember}, "users": []int64{a.person()}, "groups": []int64{}},
			match...)
	case 5, 6:
		o = a.do(by, "PUT "+ofUser()+"?roles="+a.some(), nil, match...)
	case 7:
		o = a.do(by, "DELETE "+ofUser(), nil, match...)
	case 8:
		o = a.do(by, "PUT "+ofGroup()+"?roles="+a.some(), nil, match...)
	default:
		o = a.do(by, "DELETE "+ofGroup(), nil, match...)
	}
	a.checkAllowed(o, by, id, permission, "")
}

// changeEnvironments removes an environment from a project, often while a toggle is turned on there, or adds it. Change
// requests need the environments.
func (a *actor) changeEnvironments(by *credential, id string) *op {
	path, environment := "projects/"+id+"/environments", choose(a, environmentNames[:2]...)
	if a.IntN(2) == 0 || len(a.requests.toggles) > 0 {
		return a.do(by, "POST "+path, object{"environment": environment})
	}
	toggles := object{"features": a.teams.toggles[id]}
	a.do(a.admin, fmt.Sprintf("POST projects/%s/bulk_features/environments/%s/off", id, environment), toggles)
	in := activated{choose(a, a.teams.toggles[id]...), id, environment}
	match := a.requires(by, id, configPart, func(b *actor) { b.changeEnvironments(b.admin, id) })
	if match == nil {
		a.beforeWrite(func(b *actor) { b.do(b.admin, "POST "+in.path()+"/on", nil) })
	}
	return a.do(by, "DELETE "+path+"/"+environment, nil, match...)
}

// changeGroup creates, changes or deletes a group.
func (a *actor) changeGroup() {
	users := []object{}
	for range a.IntN(3) {
		users = append(users, object{"user": object{"id": a.person()}})
	}
	body := object{
		"name": choose(a, "red", "blue"), "users": users, "rootRole": choose[any](a, nil, nil, rootEditor),
		"mappingsSSO": choose(a, issuerGroups[:1], issuerGroups, nil),
	}
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
	for _, name := range []access.Permission{
		access.UpdateEnvironment, access.CreateStrategy, access.ApproveChangeRequest, access.ApplyChangeRequest,
	} {
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
	if a.IntN(5) == 0 {
		a.signInToTeam()
		return
	}
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
		o = a.do(c, "POST "+in.path()+"/strategies", object{"name": "default", "segments": []int64{a.teams.segment}[:a.IntN(2)]})
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
	uses := fmt.Sprintf("segments/%d/strategies", a.teams.segment)
	path := choose(a, uses, uses, "projects", "projects", "search/features", "search/features/counts",
		"search/events?feature=IS_ANY_OF:"+name+",x", "groups", "user/roles", "metrics/applications", "segments")
	o := a.do(c, "GET "+path, nil)
	if !o.ok() {
		return
	}
	for _, project := range teamProjects {
		seen, always := false, true
		for _, s := range c.as(a.teamsDuring(o)) {
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
