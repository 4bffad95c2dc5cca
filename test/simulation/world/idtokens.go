package world

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// issuerGroups are groups of the issuer. Groups here have them in mappingsSSO.
var issuerGroups = []string{"reds", "blues"}

// groupsMaxAge is template.yaml's GroupsMaxAgeDays.
const groupsMaxAge = 30

// elder is the position of the member who does not sign in while the world lives.
const elder = 1

// sweepDelay is how much later than the time of its event a sweep begins at most.
const sweepDelay = time.Second

// prepareElders creates a group to which the elder belongs by an ID token that becomes too old while the world lives.
func (w *World) prepareElders(users *user.Store, groups *group.Store) int64 {
	const elders = "elders"
	ctx := context.Background()
	g, err := groups.Create(ctx, accesstable.Group{Name: elders, Mappings: []string{elders}})
	w.must(err)
	u, err := users.Get(ctx, w.teams.members[elder].account)
	w.must(err)
	w.must(users.SetClaim(ctx, u, []string{elders}, w.start.Add(w.upTo(duration, 23)).AddDate(0, 0, -groupsMaxAge)))
	return g.ID
}

// signInToTeam lets a member sign in with the groups that the issuer has now, or use an earlier ID token, and read
// something.
func (a *actor) signInToTeam() {
	c := a.idToken(choose(a, slices.Delete(slices.Clone(a.teams.members), elder, elder+1)...))
	a.meanwhile((*actor).signInToTeam)
	project := choose(a, teamProjects...)
	name := choose(a, a.teams.toggles[project]...)
	if a.IntN(3) == 0 {
		a.readLists(c, name)
		return
	}
	o := a.do(c, "GET "+togglePath(name, project), nil)
	a.checkAllowed(o, c, project, "", "")
	a.checkClaim(o, c)
}

// idToken returns an ID token of a member: a new one, or now and then an earlier one that is valid.
func (a *actor) idToken(member *credential) *credential {
	issued := time.Now().Truncate(time.Second)
	for _, c := range a.teams.tokens {
		if c.account != member.account || c.expires.Before(time.Now()) {
			continue
		}
		if a.IntN(8) == 0 {
			return c
		}
		issued = later(issued, c.issued.Add(time.Second))
	}
	var groups []string
	for _, name := range issuerGroups {
		if a.IntN(2) == 0 {
			groups = append(groups, name)
		}
	}
	c := identified(member.description, issued, groups...)
	c.account = member.account
	a.World.teams.tokens = append(a.teams.tokens, c)
	return c
}

// as returns states in which the account of an ID token has the groups of the token.
func (c *credential) as(states []teamsAt) []teamsAt {
	if c.subject == "" {
		return states
	}
	for i := range states {
		accounts := maps.Clone(states[i].accounts)
		account := accounts[c.account]
		account.Claim = storedClaim{c.groups, states[i].at}
		accounts[c.account], states[i].accounts = account, accounts
	}
	return states
}

// endsAt returns when what an ID token said counts no more.
func (s storedClaim) endsAt() time.Time { return s.At.AddDate(0, 0, groupsMaxAge) }

// claimEnds reports whether what an ID token said of an account becomes too old between two times.
func (t teamsAt) claimEnds(from, to time.Time) bool {
	for _, a := range t.accounts {
		if ends := a.Claim.endsAt(); ends.After(from) && !ends.After(to) {
			return true
		}
	}
	return false
}

// mapped returns those of the values of an ID token that a group has, sorted.
func (t teamsAt) mapped(values []string) (all []string) {
	for _, value := range slices.Sorted(slices.Values(values)) {
		if slices.ContainsFunc(slices.Collect(maps.Values(t.listed)), func(g listedGroup) bool {
			return slices.Contains(g.Mappings, value)
		}) {
			all = append(all, value)
		}
	}
	return all
}

// checkClaim checks that what an ID token says about groups was stored at some time of a request with it, or what a later
// token said.
func (w *World) checkClaim(o *op, c *credential) {
	if o.unknown || o.status == http.StatusUnauthorized {
		return
	}
	states := w.teamsDuring(o)
	for _, read := range states {
		for _, s := range states {
			claim := s.accounts[c.account].Claim
			if claim.At.After(c.issued) || slices.Equal(claim.Values, read.mapped(c.groups)) {
				return
			}
		}
	}
	w.fail("the account %d has signed in with the groups %q, but has those of another ID token", c.account, c.groups)
}

// changedClaim checks that what an ID token said does not replace what a later one said.
func (w *World) changedClaim(c change) {
	var old, next storedAccount
	w.must(dynamo.Unmarshal(c.old, &old))
	w.must(dynamo.Unmarshal(c.next, &next))
	if next.Kind != "" && next.Claim.At.Before(old.Claim.At) {
		w.fail("the account %d gets the groups of an ID token of %s, but had those of one of %s", c.item.Int("id"),
			next.Claim.At, old.Claim.At)
	}
}
