package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// accountState is what the world knows about accounts.
type accountState struct {
	robots    []int64 // service accounts
	deletions map[int64]*deletion
}

// robotLimit is the maximum number of service accounts.
const robotLimit = 3

func (a *actor) manageAccounts() {
	id := subject(a, a.accounts.robots...)
	switch a.IntN(7) {
	case 0, 1:
		a.addAccount()
	case 2, 6:
		if id != a.accounts.robots[0] {
			a.deleteAccount(id)
		}
	case 3:
		a.meanwhile(func(b *actor) { b.updateAccount(id) })
		a.updateAccount(id)
	case 4:
		a.listAccounts()
	default:
		a.listTokens(a.admin, id)
	}
}

// addAccount creates a service account.
func (a *actor) addAccount() {
	name := fmt.Sprintf("%s-%d", choose(a, "robot", "Robot"), a.IntN(4))
	o := a.do(a.admin, "POST service-account", object{"username": name, "name": "Robot", "rootRole": 2})
	var out struct{ ID int64 }
	if o.ok() {
		a.decode(o, &out)
		a.accounts.robots = append(a.accounts.robots, out.ID)
		a.account(out.ID)
		a.record(o, "role", out.ID, "set", 2)
	}
}

// updateAccount changes the role or the name of a service account.
func (a *actor) updateAccount(id int64) {
	request, role := fmt.Sprint("PUT service-account/", id), choose(a, 1, 2, 3)
	if a.IntN(2) == 0 {
		a.do(a.admin, request, object{"name": fmt.Sprint("Robot ", a.IntN(9))})
		return
	}
	a.record(a.do(a.admin, request, object{"rootRole": role}), "role", id, "set", role)
}

// deleteAccount deletes a service account.
func (a *actor) deleteAccount(id int64) {
	o := a.delete(a.admin, a.account(id), func(b *actor) { b.changeOwn(id) }, func() *op {
		return a.do(a.admin, fmt.Sprint("DELETE service-account/", id), nil)
	})
	a.record(o, "tokens", id, "close", "")
}

// delete deletes a token or an account while rivals act. The token of a person can be missing because the person has
// signed in to another account meanwhile.
func (a *actor) delete(by *credential, d *deletion, rival func(*actor), send func() *op) *op {
	earliest(&d.deleting, time.Now())
	a.meanwhile(rival)
	a.meanwhile(rival)
	o := send()
	if o.ok() || o.status == http.StatusNotFound && by.subject == "" {
		earliest(&d.deleted, o.ended)
	}
	return o
}

// listAccounts lists the service accounts with their tokens. What it contains of an account that is being deleted is
// not defined.
func (a *actor) listAccounts() {
	known := slices.Clone(a.accounts.robots)
	var out struct {
		ServiceAccounts []struct {
			ID, RootRole int64
			Tokens       descriptions
		}
	}
	o := a.get(a.admin, "service-account", &out)
	for _, id := range known {
		if !o.ok() || !a.account(id).deleting.IsZero() {
			continue
		}
		value, listed := "", *o
		listed.status = http.StatusNotFound
		for _, s := range out.ServiceAccounts {
			if s.ID == id {
				value, listed = s.Tokens.canonical(), *o
				a.record(o, "role", id, "get", s.RootRole)
			}
		}
		a.record(&listed, "tokens", id, "list", value)
	}
}

func (a *actor) disable(kind user.Kind, id int64, disabled bool) {
	if kind == user.ServiceAccount && a.IntN(2) == 0 {
		o := a.do(a.admin, fmt.Sprint("PUT service-account/", id), object{"disabled": disabled})
		a.record(o, "enabled", id, "set", !disabled)
		return
	}
	o := a.command(fmt.Sprintf("disabled %d %t", id, disabled), func(ctx context.Context) error {
		return errorOf(a.operator.SetDisabled(ctx, kind, id, disabled, true))
	})
	a.record(o, "enabled", id, "set", !disabled)
}

// deletion is when the first request to delete something began, and when the first one that succeeded had ended.
type deletion struct{ deleting, deleted time.Time }

func (w *World) account(id int64) *deletion {
	if w.accounts.deletions[id] == nil {
		w.accounts.deletions[id] = &deletion{}
	}
	return w.accounts.deletions[id]
}

// earliest sets a time that is unknown or later.
func earliest(known *time.Time, t time.Time) {
	if known.IsZero() || t.Before(*known) {
		*known = t
	}
}

// prepareAccounts adds the accounts and credentials that the world begins with.
func (w *World) prepareAccounts(o *operator.Operator) {
	ctx := context.Background()
	credentialOf := func(id int64, expires *time.Time) *credential {
		_, token, err := o.CreateToken(ctx, id, "first", expires)
		w.must(err)
		return &credential{text: token.Reveal(), account: id, expires: time.Now().AddDate(1, 0, 0)}
	}
	personOf := func(role access.Role) *credential {
		p, err := o.AddAccount(ctx, user.Person, role.String(), strings.ToLower(role.String())+"@example.com", role)
		w.must(err)
		return credentialOf(p.ID, new(datetime.Milliseconds(time.Now().AddDate(1, 0, 0))))
	}
	w.admin, w.editor, w.api = personOf(access.RoleAdmin), personOf(access.RoleEditor), credentialOf(0, nil)
	robot, err := o.AddAccount(ctx, user.ServiceAccount, "ci", "", access.RoleEditor)
	w.must(err)
	w.accounts.robots = []int64{robot.ID}
	w.account(robot.ID)
	w.tokens.highest = 2
	if w.random(5).IntN(2) == 0 {
		_, err = o.AddAccount(ctx, user.Person, "Bob", "bob@example.com", access.RoleEditor)
		w.must(err)
	}
}

// users returns the items of the table Users, which contains accounts with positive ids, and their number.
func (w *World) users() map[int64]dynamo.Item {
	all := map[int64]dynamo.Item{}
	for _, item := range w.db.Items("Users") {
		all[item.Int("id")] = item
	}
	return all
}

// account returns the account that a change of the tables Users and PersonalAccessTokens belongs to.
func (c change) account() int64 {
	return max(c.item.Int("id")*int64(map[string]int{"Users": 1}[c.table]), c.item.Int("userId"))
}

// changedAccount checks an item of the table Users.
func (w *World) changedAccount(c change) {
	id := c.item.Int("id")
	subject := ""
	if c.next["kind"] != nil {
		subject = c.next.Map("identity").String("subject")
	}
	if w.holds(id, subject); id <= 0 || c.next == nil {
		return
	}
	if c.next["kind"] == nil && c.next["deleting"] == nil || c.next["kind"] != nil && c.old["deleting"] != nil {
		w.fail("the account %d is deleted, but a change has added an item", id)
	}
	w.changedClaim(c)
}

// checkAccounts checks that deletions end.
func (w *World) checkAccounts() {
	w.checkRelations()
	for id, item := range w.users() {
		if item["deleting"] != nil {
			w.fail("the deletion of the account %d does not end", id)
		}
	}
}

// checkRelations checks that there are no tokens and reservations without an account, and the number of accounts.
func (w *World) checkRelations() {
	for _, item := range w.db.Items("PersonalAccessTokens") {
		w.checkTokens(item.Int("userId"))
	}
	robots, people, users, names := int64(0), int64(0), w.users(), map[string]int64{}
	for id, item := range users {
		switch cmp.Or(item.String("kind"), item.String("deleting")) { // counted until it is gone
		case string(user.ServiceAccount):
			robots++
		case string(user.Person):
			people++
		}
		identity := item.Map("identity")
		for kind, name := range map[string]string{
			"email:": item.String("email"), "username:": item.String("username"),
			"identity:" + identity.String("issuer") + " ": identity.String("subject"),
		} {
			if name = strings.ToLower(kind + name); name != kind && item["deleting"] == nil {
				if names[name] != 0 {
					w.fail("two accounts have the name %s", name)
				}
				names[name] = id
			}
		}
	}
	if n := users[-1].Int("serviceAccounts"); n != robots || n > robotLimit {
		w.fail("there are %d service accounts, %d are counted, and the limit is %d", robots, n, robotLimit)
	}
	if n := users[-1].Int("people"); n != people {
		w.fail("there are %d people, and %d are counted", people, n)
	}
	identifiers := map[string]int64{}
	for _, item := range w.db.Items("Identifiers") {
		name, owner := strings.ToLower(item.String("id")), item.Int("accountId")
		if names[name] != 0 || users[owner]["deleting"] == nil { // otherwise the end of the deletion removes it
			identifiers[name] = owner
		}
	}
	if !maps.Equal(names, identifiers) {
		w.fail("the accounts have the names %v, but %v are reserved", names, identifiers)
	}
}
