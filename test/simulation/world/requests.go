package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
)

var requestActors = []string{"author-1", "author-2", "author-3", "author-4"}

// requestState is what the world knows about change requests.
type requestState struct {
	toggles []string
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
	g, err := groups.Create(ctx, accesstable.Group{Name: "red", Members: []int64{w.teams.members[4].account}})
	w.must(err)
	return r.ID, g.ID
}

// giveRights gives people rights in a project before it is created: Owners, a Member, and one with the custom role, directly
// and by the group. Some of its environments are protected.
func (w *World) giveRights(p *access.Project, custom access.Role, red int64) {
	if custom == 0 {
		return
	}
	for i, r := range []access.Role{projectOwner, projectOwner, projectMember, custom} {
		p.Users[w.teams.members[i].account] = []access.Role{r}
	}
	p.Groups = map[int64][]access.Role{red: {projectMember, custom}}
	p.Protections = map[string]access.Protection{}
	random := w.random(20, hashOf(p.ID))
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
	open := a.openRequests()
	switch n := a.IntN(12); {
	case len(open) == 0 || n < 2 && len(open) < maxOpenRequests:
		a.askForChanges()
	case n < 3:
		a.readRequests()
	case n < 4:
		a.disturbRequests()
	case n < 6:
		a.editRequest(subject(a, open...))
	default:
		id := subject(a, open...).ID
		for range 1 + a.IntN(4) {
			if r := a.changeRequest(id); r != nil && !r.State.IsFinal() {
				a.moveOn(r)
			}
		}
	}
}

// disturbRequests changes what change requests depend on.
func (a *actor) disturbRequests() {
	switch a.IntN(12) {
	case 0:
		a.changeAccess(a.admin)
	case 1:
		a.changeGroup()
	case 2:
		a.changeCustomRole()
	case 3:
		id := choose(a, a.teams.members...).account
		a.disable(user.Person, id, a.IntN(2) == 0 && !a.latest().accounts[id].Disabled)
	case 4, 5:
		a.protectTeams()
	case 6, 7:
		if open := a.openRequests(); len(open) > 0 {
			a.moveOn(subject(a, open...))
		}
	default:
		a.changeDirectly()
	}
}

// protectTeams protects and freezes environments of the projects of teams, and ends it.
func (a *actor) protectTeams() {
	project, environment := choose(a, teamProjects...), choose(a, a.requestEnvironments()...)
	path := "projects/" + project + "/environments/" + environment
	switch a.IntN(8) {
	case 0:
		a.do(a.admin, "PUT "+path+"/freeze", freezeOf(a.name))
	case 1, 2:
		a.do(a.admin, "DELETE "+path+"/freeze", nil)
	case 3:
		a.do(a.admin, "PUT environments/update/"+environment, object{"requiredApprovals": choose[any](a, nil, 1, 2)})
	default:
		a.do(a.admin, "PUT "+path+"/change-requests/config", object{
			"changeRequestsEnabled": a.IntN(4) > 0, "requiredApprovals": 1 + a.IntN(2), "allowTurningOff": a.IntN(4) > 0,
		})
	}
}

// changeDirectly changes something that change requests change.
func (a *actor) changeDirectly() {
	if a.IntN(10) == 0 {
		by := choose(a, a.admin, a.api, choose(a, a.teams.members...))
		a.do(by, fmt.Sprint("PUT segments/", a.anySegment()), object{"constraints": a.userConstraints()})
		return
	}
	a.changeAsked(subject(a, a.requests.toggles...), choose(a, a.requestEnvironments()...))
}

// changeAsked changes a toggle in an environment, most of the time as somebody who may skip change requests.
func (a *actor) changeAsked(name, environment string) {
	c := choose(a, a.admin, a.api, choose(a, a.teams.members...))
	f := a.feature(name)
	on := activated{name, f.Project, environment}
	path, all := on.path()+"/strategies", a.strategies(on)
	kind := a.IntN(9)
	switch {
	case kind == 0:
		a.do(c, "POST "+on.path()+"/"+choose(a, "on", "off"), nil)
	case kind == 1 && f.Archived:
		a.do(c, "POST archive/revive/"+on.name+choose(a, "", "?keepEnabled=true"), nil)
	case kind == 1:
		a.do(c, "DELETE "+togglePath(on.name, on.project), nil)
	case kind == 2:
		a.do(c, "POST "+togglePath(on.name, on.project)+"/changeProject", object{"newProjectId": choose(a, teamProjects...)})
	case kind == 3 || len(all) == 0:
		a.do(c, "POST "+path, a.strategy())
	case kind == 4:
		a.do(c, "DELETE "+path+"/"+choose(a, all...).ID, nil)
	case kind == 5:
		a.do(c, "PUT "+path+"/"+choose(a, all...).ID, object{"sortOrder": a.IntN(3)})
	default:
		a.do(c, "PUT "+path+"/"+choose(a, all...).ID, a.strategy())
	}
}

// anySegment returns the id of one of the last segments.
func (a *actor) anySegment() int64 {
	return choose(a, a.segments.ids[max(0, len(a.segments.ids)-3):]...)
}

// userConstraints returns constraints that no other actor sends.
func (a *actor) userConstraints() []object {
	a.n++
	return []object{{"contextName": "userId", "operator": "IN", "values": []string{fmt.Sprint(a.name, " ", a.n)}}}
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
	a.do(by, fmt.Sprintf("PUT projects/%s/change-requests/%d/state", project, made.ID), object{"state": changerequest.InReview})
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
	case kind < 7:
		return change(changerequest.UpdateEnabled,
			object{"enabled": a.IntN(3) > 0, "shouldActivateDisabledStrategies": a.IntN(2) == 0})
	case kind == 7:
		return object{"feature": name, "action": changerequest.ArchiveFeature}
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
	return change(changerequest.UpdateStrategy, payload)
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
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).disturbRequests)
	}
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
		a.do(by, fmt.Sprintf("DELETE %s/changes/%d", path, choose(a, r.Changes...).ID), nil)
	default:
		if body := a.changeIn(r.Project, r.Environment); body != nil {
			a.do(by, fmt.Sprintf("PUT %s/changes/%d", path, choose(a, r.Changes...).ID), body)
		}
	}
}

// moveOn asks for another state of a request, most of the time as somebody who may.
func (a *actor) moveOn(r *changerequest.Request) {
	state, by := changerequest.InReview, a.author(r)
	switch kind := a.IntN(12); {
	case kind == 0 && a.IntN(2) == 0:
		state = changerequest.Canceled
	case r.State == changerequest.Draft:
	case kind == 1 && a.IntN(2) == 0:
		state, by = changerequest.Rejected, a.approver(r)
	case kind == 2 || r.State == changerequest.Approved && kind > 4:
		state, by = changerequest.Applied, choose(a, append(slices.Clone(a.teams.members), a.admin, a.api)...)
	default:
		state, by = changerequest.Approved, a.approver(r)
	}
	body := object{"state": state}
	if a.IntN(8) == 0 {
		body["comment"] = a.name
	}
	if state == changerequest.Applied {
		a.beforeApplication(r)
		a.applyRequest(by, r, body)
		return
	}
	if a.IntN(2) == 0 {
		a.meanwhile((*actor).disturbRequests)
	}
	o := a.do(by, "PUT "+requestPath(r)+"/state", body)
	if state == changerequest.Approved || state == changerequest.Rejected {
		a.checkVote(o, by, r)
	}
}

// beforeApplication sometimes lets others apply the request, too, or change what it changes: before it is read, between the
// reads that decide about it, or before the write.
func (a *actor) beforeApplication(r *changerequest.Request) {
	rival := choose(a, (*actor).disturbRequests, (*actor).disturbRequests, func(b *actor) {
		b.applyRequest(b.admin, r, object{"state": changerequest.Applied})
	})
	if c := r.Changes[a.IntN(max(1, len(r.Changes))):]; len(c) > 0 && c[0].Feature != "" && a.IntN(2) == 0 {
		rival = func(b *actor) { b.changeAsked(c[0].Feature, r.Environment) }
	}
	switch a.IntN(4) {
	case 0:
		a.concurrently(rival)
	case 1:
		a.beforeWrite(rival)
	case 2:
		table := choose(a, `"Users"`, `"Access"`, `"Environments"`, `"Features"`)
		a.before(func(c *call) bool { return !c.isWrite() && strings.Contains(string(c.body), table) }, rival)
	}
}

// approver returns somebody who may approve a request most of the time.
func (a *actor) approver(r *changerequest.Request) *credential {
	if a.IntN(5) == 0 {
		return a.requester()
	}
	able := slices.DeleteFunc(slices.Clone(a.teams.members), func(c *credential) bool {
		has := slices.ContainsFunc(r.Approvals, func(v changerequest.Vote) bool {
			return v.By.ID == c.account && !v.StruckOut
		})
		return has || slices.Contains(authors(*r), c.account) || !a.latest().mayApprove(c.account, placeOf(*r))
	})
	if len(able) == 0 {
		return a.admin
	}
	return choose(a, able...)
}

// applyRequest applies a request.
func (a *actor) applyRequest(by *credential, r *changerequest.Request, body object) {
	o := a.do(by, "PUT "+requestPath(r)+"/state", body)
	for _, c := range r.Changes {
		if c.Action != changerequest.DeleteSegment || !o.ok() && !o.unknown {
			continue
		}
		deletion := *o
		if o.ok() {
			deletion.status = success["segment"]
		}
		a.edit(&deletion, "segment", fmt.Sprint(c.Segment), "delete", edit{})
	}
	a.checkOneWrite(o)
	a.checkNotApplied(o, by, r.ID)
}

// checkNotApplied checks that a request is not refused which had all approvals, or somebody who might apply it, all the time.
func (a *actor) checkNotApplied(o *op, by *credential, id int64) {
	lacksApproval, lacksRight := strings.Contains(o.response, "more approval"), strings.Contains(o.response, "NoAccessError")
	if o.ok() || o.unknown || !lacksApproval && !lacksRight || strings.Contains(o.response, "is frozen until") {
		return
	}
	for _, r := range a.requestsDuring(o, id) {
		for _, s := range a.teamsDuring(o) {
			places, own := a.placesOf(*r), []place{placeOf(*r)} // it changes some of the first
			may := by.account == 0 || s.mayApply(by.account, *r, places) && s.mayApply(by.account, *r, own)
			if lacksApproval && !s.isApproved(*r, places) || lacksRight && !may {
				return
			}
		}
	}
	a.fail("the account %d may apply the request %d, and is refused: %s", by.account, id, o.response)
}

// checkVote checks that a person who may approve a request wherever it can act is not refused.
func (a *actor) checkVote(o *op, c *credential, r *changerequest.Request) {
	if o.unknown || !strings.Contains(o.response, string(access.ApproveChangeRequest)) {
		return
	}
	for _, s := range a.teamsDuring(o) {
		for _, in := range append(a.placesOf(*r), placeOf(*r)) {
			if !s.mayApprove(c.account, in) {
				return
			}
		}
	}
	a.fail("the account %d may approve the request %d, and is refused: %s", c.account, r.ID, o.response)
}
