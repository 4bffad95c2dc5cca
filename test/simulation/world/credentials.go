package world

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// credentials are those that actors use.
type credentials struct {
	admin, editor *credential
	api           *credential // an API token
}

// credential is a token that the world has seen, and what it knows about it.
type credential struct {
	text        string
	account, id int64
	description string
	subject     string // of an ID token
	issued      time.Time
	groups      []string
	job         *job // of the ID token of a pipeline; otherwise nil
	expires     time.Time
	deletion
}

// name is how the history of the account's tokens calls it.
func (c *credential) name() string { return tokenName(c.description, c.id, c.expires) }

func tokenName(description string, id int64, expires time.Time) string {
	return fmt.Sprintf("%s#%d@%s", description, id, datetime.Format(expires))
}

// tryCredential uses a credential that may be deleted, expired or disabled, and sometimes deletes it.
func (a *actor) tryCredential() {
	if len(a.tokens.all) == 0 {
		return
	}
	c := choose(a, a.tokens.all...)
	for _, other := range a.tokens.all { // one that is about to expire
		if left := time.Until(other.expires) + a.skew; left > 0 && left < 40*time.Second && other.deleting.IsZero() {
			after := within(a.Rand, time.Second)
			if a.skew == 0 && a.IntN(2) == 0 { // the authorizer reads it some milliseconds later
				after = -time.Duration(a.IntN(20)) * time.Millisecond
			}
			a.sleep(a.name, max(0, left+after))
			c = other
			break
		}
	}
	if a.IntN(2) == 0 { // the authorizers know it
		a.useToken(c)
	}
	if a.IntN(2) == 0 {
		a.endToken(a.admin, c)
	}
	a.useToken(c)
}

// useToken gets the role of the account of a token, as the authorizer reads it.
func (a *actor) useToken(c *credential) {
	var out struct {
		Permissions []struct{ Permission access.Permission }
	}
	o := a.get(c, "user", &out)
	if !o.ok() {
		return
	}
	a.record(o, "role", c.account, "get", roleOf(out.Permissions))
}

// roleOf returns the root role that has the permissions of a response.
func roleOf(all []struct{ Permission access.Permission }) int {
	switch {
	case len(all) == 0:
		return 3
	case all[0].Permission == access.Admin:
		return 1
	}
	return 2
}

func (a *actor) manageCredentials() {
	id := subject(a, a.accounts.robots...)
	switch a.IntN(6) {
	case 0:
		a.disable(user.ServiceAccount, id, a.IntN(2) == 0)
	case 1:
		role := choose(a, access.Roles()...)
		o := a.command(fmt.Sprintf("role %d %s", id, role), func(ctx context.Context) error {
			return errorOf(a.operator.SetRole(ctx, user.ServiceAccount, id, role, true))
		})
		a.record(o, "role", id, "set", int64(role))
	case 2, 3:
		a.createAPIToken()
	default:
		a.tryCredential()
		return
	}
	if c := a.credentialOf(id); c != nil {
		a.useToken(c)
	}
}

// credentialOf returns a token of an account, or nil.
func (w *World) credentialOf(id int64) *credential {
	for _, c := range w.tokens.all {
		if c.account == id && c.deleting.IsZero() && c.expires.After(time.Now()) {
			return c
		}
	}
	return nil
}

// createAPIToken creates an API token, deletes it and tries it. Its description is its id.
func (a *actor) createAPIToken() {
	c := &credential{expires: time.Now().AddDate(100, 0, 0)}
	o := a.command("tokens create", func(ctx context.Context) error {
		created, token, err := a.operator.CreateToken(ctx, 0, a.name, nil)
		c.text, c.description = token.Reveal(), created.ID
		return err
	})
	if o.ok() {
		a.tokens.all = append(a.tokens.all, c)
		a.endToken(a.admin, c)
		a.useToken(c)
	}
}

// checkAccepted checks whether the service accepts a credential exactly if it must. The world does not know what must
// happen to a request at the time of a change.
func (w *World) checkAccepted(c *credential, o *op) {
	if c.subject != "" || o.unknown {
		return
	}
	if c.job != nil {
		w.checkJob(c, o)
		return
	}
	accepted := o.status != http.StatusUnauthorized
	if accepted && !o.judged.IsZero() && !c.expires.After(o.judged) {
		w.fail("the token %d of the account %d is accepted, which expired %s before", c.id, c.account,
			o.judged.Sub(c.expires))
	}
	refuse := func(what string, since time.Time) bool {
		if since.IsZero() || since.After(o.begun) {
			return false
		}
		if accepted {
			w.fail("the token %d of the account %d is accepted, which is %s since %s", c.id, c.account, what, since.Sub(w.start))
		}
		return true
	}
	a := w.account(c.account)
	if refuse("deleted", c.deleted) || refuse("without its account", a.deleted) ||
		refuse("expired", c.expires.Add(w.skew)) {
		return
	}
	before := func(t time.Time) bool { return t.IsZero() || t.After(o.ended) }
	switch valid := before(c.deleting) && before(a.deleting) && c.expires.After(o.ended.Add(w.skew)); {
	case c.account != 0 && (accepted || valid):
		w.add(o, "enabled", c.account, "get", accepted)
	case valid && !accepted:
		w.fail("an API token is refused, which is valid")
	}
}

func (w *World) changedAPIToken(c change) {
	if c.next != nil && c.next["verifier"] == nil {
		w.fail("the API token %s was deleted, but there is an item", c.next.String("id"))
	}
}
