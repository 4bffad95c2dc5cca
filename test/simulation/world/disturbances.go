package world

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/toggle"
)

// disturbRequests changes what change requests depend on.
func (a *actor) disturbRequests() {
	switch a.IntN(13) {
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
	case 8:
		a.signInToTeam()
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
		protect := func(b *actor, match ...string) {
			b.do(b.admin, "PUT "+path+"/change-requests/config", object{
				"changeRequestsEnabled": b.IntN(4) > 0, "requiredApprovals": 1 + b.IntN(2), "allowTurningOff": b.IntN(4) > 0,
			}, match...)
		}
		protect(a, a.requires(a.admin, project, configPart, func(b *actor) { protect(b) })...)
	}
}

// changeDirectly changes something that change requests change.
func (a *actor) changeDirectly() {
	switch by := choose(a, a.admin, a.api, choose(a, a.teams.members...)); a.IntN(10) {
	case 0:
		a.do(by, fmt.Sprint("PUT segments/", a.anySegment()), object{"constraints": a.userConstraints()})
		return
	case 1:
		a.makeToggle(by)
		return
	}
	a.changeAsked(subject(a, a.requests.toggles...), choose(a, a.requestEnvironments()...))
}

// makeToggle creates a toggle that is on, archives it, or deletes it.
func (a *actor) makeToggle(by *credential) {
	name, project := choose(a, a.requests.made...), choose(a, teamProjects...)
	switch f := a.feature(name); {
	case f == nil:
		a.do(by, "PUT "+togglePath(name, project)+"/state", object{"type": a.types.names[0], "environments": object{
			choose(a, a.requestEnvironments()...): object{"enabled": true, "strategies": []object{{"name": "default"}}},
		}})
	case f.Archived:
		a.do(by, "DELETE archive/"+name, nil)
	default:
		a.do(a.admin, "DELETE "+togglePath(name, f.Project), nil)
	}
}

// changeAsked changes a toggle in an environment, most of the time as somebody who may skip change requests.
func (a *actor) changeAsked(name, environment string) {
	c := choose(a, a.admin, a.api, choose(a, a.teams.members...))
	f := a.feature(name)
	on := activated{name, f.Project, environment}
	path, all := on.path()+"/strategies", a.strategies(on)
	kind := a.IntN(10)
	switch {
	case kind == 0 && a.IntN(2) == 0:
		a.do(c, "POST "+on.path()+"/on", nil)
	case kind == 0 || kind == 9:
		for _, name := range a.requestEnvironments() {
			if f.Environments[name].Enabled {
				on.environment = name
			}
		}
		a.turnOff(c, on)
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

// turnOff turns a toggle off, most of the time as a member, who may not skip change requests, and checks that nobody is
// refused who may do so where the environment is protected or frozen.
func (a *actor) turnOff(c *credential, in activated) {
	able := slices.DeleteFunc(slices.Clone(a.teams.members), func(c *credential) bool {
		return !a.latest().may(c.account, in.project, "UPDATE_FEATURE_ENVIRONMENT", in.environment)
	})
	switch n := a.IntN(6); {
	case n < 3 && len(able) > 0:
		c = choose(a, able...)
	case n < 5:
		c = choose(a, a.teams.members...)
	}
	o := a.do(c, "POST "+in.path()+"/off", nil)
	if o.status != http.StatusForbidden || c.account == 0 {
		return
	}
	for _, s := range a.teamsDuring(o) {
		if !s.sees(c.account, in.project) || s.projects[in.project].Protections[in.environment].ForbidsTurningOff ||
			!s.may(c.account, in.project, "UPDATE_FEATURE_ENVIRONMENT", in.environment) {
			return
		}
	}
	a.fail("the account %d may turn %s off, and is refused: %s", c.account, in.name, o.response)
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

// disturbScheduled takes away what a request that was scheduled depends on.
func (a *actor) disturbScheduled(r *changerequest.Request) {
	people := a.credentialsOf(authors(*r))
	for _, v := range r.Approvals {
		people = append(people, a.credentialsOf([]int64{v.By.ID})...)
	}
	people = slices.DeleteFunc(people, func(c *credential) bool { return c == a.admin })
	switch {
	case len(people) > 0 && a.IntN(2) == 0:
		a.disable(user.Person, choose(a, people...).account, true)
	default:
		a.do(a.admin, "PUT projects/"+r.Project+"/environments/"+r.Environment+"/change-requests/config",
			object{"changeRequestsEnabled": true, "requiredApprovals": 1 + a.IntN(3)})
	}
}

// beforeApplication sometimes lets others apply the request, too, or change what it changes: before it is read, between the
// reads that decide about it, or before the write.
func (a *actor) beforeApplication(r *changerequest.Request) {
	rival := choose(a, (*actor).disturbRequests, (*actor).disturbRequests, func(b *actor) {
		b.applyRequest(b.admin, r, object{"state": changerequest.Applied})
	})
	if c := r.Changes[a.IntN(max(1, len(r.Changes))):]; len(c) > 0 && a.IntN(3) > 0 {
		rival = func(b *actor) { b.changeSubject(r, c[0]) }
	}
	switch a.IntN(5) {
	case 0:
		a.concurrently(rival)
	case 1:
		a.beforeWrite(rival)
	case 2, 3:
		a.before(isRead(choose(a, "Users", "Access", "Environments", "Features", "Features"), a.IntN(3)), rival)
	}
}

// isRead selects the read of a table that follows n others.
func isRead(table string, n int) func(*call) bool {
	return func(c *call) bool {
		if c.isWrite() || !strings.Contains(string(c.body), `"`+table+`"`) {
			return false
		}
		n--
		return n < 0
	}
}

// changeSubject changes the segment or the toggle of a change of a request, most of the time the strategy that the change
// concerns.
func (a *actor) changeSubject(r *changerequest.Request, c changerequest.Change) {
	if c.IsOfSegment() {
		a.do(a.admin, fmt.Sprint("PUT segments/", c.Segment), object{"constraints": a.userConstraints()})
		return
	}
	on := activated{c.Feature, r.Project, r.Environment}
	i := slices.IndexFunc(a.strategies(on), func(s toggle.Strategy) bool { return s.ID == a.payload(c)["id"] })
	if i < 0 || a.IntN(4) == 0 {
		a.changeAsked(c.Feature, r.Environment)
		return
	}
	a.do(a.admin, "PUT "+on.path()+"/strategies/"+a.strategies(on)[i].ID, a.strategy())
}
