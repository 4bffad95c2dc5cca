package world

import (
	"context"
	"fmt"
	"slices"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
)

var requestActors = []string{"author-1", "author-2", "author-3", "author-4"}

// requestState is what the world knows about change requests.
type requestState struct {
	toggles []string
	made    []string              // names of toggles that are created on
	states  map[int64][]requestAt // by id, in their order
	highest int64                 // id of those that were stored
	bases   map[changeID]basis
}

// prepareRights creates a custom role with which people approve, and a group with a member.
func (w *World) prepareRights(roles *role.Store, groups *group.Store) (custom access.Role, red int64) {
	if !slices.ContainsFunc(requestActors, w.acts) {
		return 0, 0
	}
	approves := []access.RolePermission{}
	for _, environment := range w.requestEnvironments() {
		approves = append(approves, access.RolePermission{Permission: access.ApproveChangeRequest, Environment: environment})
	}
	ctx := context.Background()
	r, err := roles.Create(ctx, access.RoleDefinition{Name: "custom", Type: access.CustomType, Permissions: approves})
	w.must(err)
	g, err := groups.Create(ctx, accesstable.Group{
		Name: "red", Members: []int64{w.teams.members[4].account}, Mappings: issuerGroups[:1],
	})
	w.must(err)
	return r.ID, g.ID
}

// giveRights gives people rights in a project before it is created: Owners, a Member, and one with the custom role,
// directly and by the group. Some of its environments are protected. Not everybody has a role in it, and not everybody
// sees it.
func (w *World) giveRights(p *access.Project, custom access.Role, red int64) {
	if custom == 0 {
		return
	}
	random := w.random(20, hashOf(p.ID))
	p.Mode = []access.Mode{access.Open, access.Protected, access.Private}[random.IntN(3)]
	for i, r := range []access.Role{projectOwner, projectOwner, projectMember, custom} {
		if r == projectOwner || random.IntN(3) > 0 {
			p.Users[w.teams.members[i].account] = []access.Role{r}
		}
	}
	p.Groups[red] = []access.Role{projectMember, custom}
	p.Protections = map[string]access.Protection{}
	for _, environment := range w.requestEnvironments() {
		if random.IntN(3) > 0 {
			p.Protections[environment] = access.Protection{ChangeRequests: true, RequiredApprovals: 1 + random.Int64N(2)}
		}
	}
}

// prepareRequests creates the toggles that requests change.
func (w *World) prepareRequests(store *feature.Store) {
	if !slices.ContainsFunc(requestActors, w.acts) {
		return
	}
	for i := 0; len(w.requests.toggles) < 4; i++ {
		name := fmt.Sprint("asked-", i)
		if featuretable.Shard(name) != featuretable.Shard(toggleNames[0]) {
			continue
		}
		project := teamProjects[len(w.requests.toggles)%len(teamProjects)]
		f := toggle.Feature{Name: name, Project: project, Type: w.types.names[0], CreatedAt: w.start}
		for j, environment := range w.requestEnvironments() {
			f.SetEnvironment(environment, toggle.Environment{Enabled: j == 0, Strategies: []toggle.Strategy{{
				ID: fmt.Sprintf("%s-%d", name, j), Name: toggle.StrategyFlexibleRollout,
				Parameters: toggle.DefaultParameters(toggle.StrategyFlexibleRollout, name),
			}}})
		}
		w.requests.toggles = append(w.requests.toggles, name)
		_, err := store.Create(context.Background(), f)
		w.must(err)
	}
	for i := 0; len(w.requests.made) < 2; i++ {
		if name := fmt.Sprint("made-", i); featuretable.Shard(name) == featuretable.Shard(toggleNames[0]) {
			w.requests.made = append(w.requests.made, name)
		}
	}
}

// requestEnvironments are the environments of change requests.
func (w *World) requestEnvironments() []string { return environmentNames[:2] }

// openRequests returns the requests that are not closed.
func (w *World) openRequests() (all []*changerequest.Request) {
	for id := range w.requests.highest {
		if r := w.changeRequest(id + 1); r != nil && !r.State.IsFinal() {
			all = append(all, r)
		}
	}
	return all
}

// maxOpenRequests is the number of open requests at which actors make no more.
const maxOpenRequests = 6

// workOnRequests makes change requests, and moves them on, while rights, protections and toggles change.
func (a *actor) workOnRequests() {
	a.turn(a.name)
	if len(a.segments.ids) == 0 {
		a.createSegment(a.admin)
		return
	}
	open := slices.DeleteFunc(a.openRequests(), func(r *changerequest.Request) bool {
		return isPending(r) && a.IntN(8) > 0
	})
	switch n := a.IntN(12); {
	case len(open) == 0 || n < 2 && len(open) < maxOpenRequests:
		a.askForChanges()
	case n < 4:
		a.readRequests()
	case n < 5:
		a.disturbRequests()
	case n < 7:
		hasNone := func(r *changerequest.Request) bool { return len(r.Approvals) == 0 }
		if approved := slices.DeleteFunc(slices.Clone(open), hasNone); len(approved) > 0 && a.IntN(2) == 0 {
			open = approved
		}
		a.editRequest(a.openOrClosed(open))
	default:
		if r := a.openOrClosed(open); r.State.IsFinal() {
			a.moveOn(r)
			return
		}
		id := subject(a, open...).ID
		for range 1 + a.IntN(4) {
			if r := a.changeRequest(id); r != nil && !r.State.IsFinal() && (!isPending(r) || a.IntN(8) == 0) {
				a.moveOn(r)
			}
		}
	}
}

// openOrClosed returns one of some requests, or now and then one that is closed.
func (a *actor) openOrClosed(open []*changerequest.Request) *changerequest.Request {
	if a.IntN(5) == 0 {
		for range 3 {
			if r := a.changeRequest(1 + a.Int64N(a.requests.highest)); r != nil && r.State.IsFinal() {
				return r
			}
		}
	}
	return subject(a, open...)
}

// requester returns somebody who can make change requests.
func (a *actor) requester() *credential {
	return choose(a, append(slices.Clone(a.teams.members), a.admin)...)
}

// askForChanges adds changes to a draft, or makes one, and sends it to review.
func (a *actor) askForChanges() {
	project, environment := choose(a, teamProjects...), subject(a, a.requestEnvironments()...)
	var changes []object
	for range 1 + a.IntN(3) {
		if c := a.changeIn(project, environment); c != nil {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return
	}
	by := a.requester()
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).disturbRequests)
	}
	body := string(encode(changes))
	if len(changes) == 1 && a.IntN(2) == 0 {
		body = text(changes[0])
	}
	o := a.sendText(by, "POST projects/"+project+"/environments/"+environment+"/change-requests", body)
	var made struct{ ID int64 }
	if !o.ok() || a.IntN(4) == 0 {
		return
	}
	a.decode(o, &made)
	path := fmt.Sprintf("projects/%s/change-requests/%d", project, made.ID)
	a.do(by, "PUT "+path+"/state", object{"state": changerequest.InReview})
	switch a.IntN(4) {
	case 0:
		a.voteOnOwn(by, path)
	case 1:
		a.readActionable(by, project)
	}
}

// changeIn returns a change of a toggle of a project in an environment, or of a segment; nil: there is none.
func (a *actor) changeIn(project, environment string) object {
	var names []string
	for _, name := range a.requests.toggles {
		if f := a.feature(name); f != nil && f.Project == project {
			names = append(names, name)
		}
	}
	kind := a.IntN(16)
	if kind < 3 || len(names) == 0 {
		return a.changeOfSegment(kind == 0)
	}
	name := subject(a, names...)
	change := func(action changerequest.Action, payload any) object {
		return object{"feature": name, "action": action, "payload": payload}
	}
	all := a.strategies(activated{name, project, environment})
	switch {
	case kind == 7 || kind == 3 && a.isOnElsewhere(name, environment):
		return object{"feature": name, "action": changerequest.ArchiveFeature}
	case kind < 7:
		return change(changerequest.UpdateEnabled,
			object{"enabled": a.IntN(3) > 0, "shouldActivateDisabledStrategies": a.IntN(2) == 0})
	case kind == 8:
		return change(changerequest.AddDependency, object{"feature": choose(a, names...), "enabled": a.IntN(2) == 0})
	case kind == 9:
		return object{"feature": name, "action": changerequest.DeleteDependency}
	case kind < 12 || len(all) == 0:
		return change(changerequest.AddStrategy, a.strategy())
	case kind == 12:
		return change(changerequest.DeleteStrategy, object{"id": choose(a, all...).ID})
	case kind == 13:
		orders := []object{}
		for _, s := range all {
			orders = append(orders, object{"id": s.ID, "sortOrder": a.IntN(9)})
		}
		return change(changerequest.ReorderStrategy, orders)
	}
	payload := a.strategy()
	payload["id"] = choose(a, all...).ID
	if a.IntN(2) == 0 { // the strategy keeps its segments
		delete(payload, "segments")
	}
	return change(changerequest.UpdateStrategy, payload)
}

// isOnElsewhere reports whether a toggle is on in an environment of change requests other than one.
func (a *actor) isOnElsewhere(name, environment string) bool {
	return slices.ContainsFunc(a.requestEnvironments(), func(other string) bool {
		return other != environment && a.feature(name).Environments[other].Enabled
	})
}

func (a *actor) changeOfSegment(deletes bool) object {
	payload := object{"id": a.anySegment()}
	if deletes {
		return object{"action": changerequest.DeleteSegment, "payload": payload}
	}
	payload["constraints"] = a.userConstraints()
	return object{"action": changerequest.UpdateSegment, "payload": payload}
}

// requestPath returns the path of a request.
func requestPath(r *changerequest.Request) string {
	return fmt.Sprintf("projects/%s/change-requests/%d", r.Project, r.ID)
}

// credentialsOf returns the credentials of people who are among some accounts.
func (a *actor) credentialsOf(ids []int64) (all []*credential) {
	for _, c := range append(slices.Clone(a.teams.members), a.admin) {
		if slices.Contains(ids, c.account) {
			all = append(all, c)
		}
	}
	return all
}

// author returns an author of a request most of the time.
func (a *actor) author(r *changerequest.Request) *credential {
	if all := a.credentialsOf(authors(*r)); len(all) > 0 && a.IntN(6) > 0 {
		return choose(a, all...)
	}
	return a.requester()
}

// editRequest changes a request, comments on it or deletes it.
func (a *actor) editRequest(r *changerequest.Request) {
	by, path := a.author(r), requestPath(r)
	if a.IntN(4) == 0 {
		by = a.admin
	}
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).disturbRequests)
	}
	var o *op
	switch kind := a.IntN(8); {
	case kind == 0:
		a.do(by, "PUT "+path+"/title", object{"title": a.name})
	case kind == 1:
		a.do(by, "POST "+path+"/comments", object{"text": a.name})
	case kind == 2:
		a.do(by, "PUT "+path+"/approvers", object{"reviewers": []int64{a.person()}})
	case kind == 3:
		a.do(by, "DELETE "+path, nil)
	case len(r.Changes) == 0:
	case kind < 6:
		o = a.do(by, fmt.Sprintf("DELETE %s/changes/%d", path, choose(a, r.Changes...).ID), nil)
	default:
		if body := a.changeIn(r.Project, r.Environment); body != nil {
			o = a.do(by, fmt.Sprintf("PUT %s/changes/%d", path, choose(a, r.Changes...).ID), body)
		}
	}
	if o != nil && o.ok() && a.IntN(2) == 0 {
		a.voteOnOwn(by, path)
	}
}
