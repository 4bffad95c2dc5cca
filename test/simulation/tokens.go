package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
)

// createToken creates a token of an account: the caller's own if owner is 0.
func (a *actor) createToken(c *credential, owner int64, description string) *credential {
	const day = 24 * time.Hour
	lifetime := choose(a, 45*time.Second, 2*time.Minute, day, 7*day+time.Minute, 14*day)
	if lifetime < day {
		lifetime += within(a.Rand, time.Second) // so that hardly any two expire together
	}
	expires := datetime.Milliseconds(time.Now().Add(lifetime).UTC())
	path, account := tokensOf(c, owner)
	highest := a.highest
	o := a.do(c, "POST "+path, object{"description": description, "expiresAt": datetime.Format(expires)})
	var id int64
	var out struct {
		ID     json.Number
		UserID int64
		Secret string
	}
	switch o.status {
	case http.StatusUnauthorized, http.StatusBadRequest: // it would expire too early
		return nil
	case http.StatusForbidden:
		if !strings.Contains(o.response, "maximum number of tokens") {
			return nil
		}
	case http.StatusCreated:
		a.decode(o, &out)
		account = out.UserID // of a JWT, it can change
		if id, _ = out.ID.Int64(); id <= highest {
			a.fail("%s creates the token %d, after the token %d was created", a.name, id, highest)
		}
		a.highest = max(a.highest, id)
	}
	if a.recordTokens(c, o, account, "create", tokenName(description, id, expires)); !o.ok() {
		return nil
	}
	created := &credential{text: out.Secret, account: account, id: id, description: description, expires: expires}
	a.credentials = append(a.credentials, created)
	return created
}

// endToken deletes a token, by a request or as an operator does, while somebody uses it. Only the person or an operator
// can delete a token of a person.
func (a *actor) endToken(by, c *credential) {
	owner := c.account
	if by.account == owner {
		owner = 0
	}
	path, _ := tokensOf(by, owner)
	token := operator.Token{Kind: operator.KindPAT, ID: fmt.Sprint(c.id), UserID: &c.account}
	if c.account == 0 {
		token = operator.Token{Kind: operator.KindAPIToken, ID: c.description}
	}
	o := a.delete(by, &c.deletion, func(b *actor) { b.useToken(c) }, func() *op {
		if by != a.admin || slices.Contains(a.robots, c.account) && a.IntN(2) == 0 {
			return a.do(by, fmt.Sprintf("DELETE %s/%d", path, c.id), nil)
		}
		return a.command(fmt.Sprint("tokens revoke ", token.ID),
			func(ctx context.Context) error { return a.operator.Revoke(ctx, token) })
	})
	if c.account != 0 {
		a.recordTokens(by, o, c.account, "delete", c.name())
	}
}

// tokensOf returns the path of the tokens of an account, and the account: the caller's own if owner is 0.
func tokensOf(c *credential, owner int64) (path string, account int64) {
	if owner == 0 {
		return "user/tokens", c.account
	}
	return fmt.Sprintf("service-account/%d/token", owner), owner
}

// recordTokens records an operation on the tokens of an account, unless the person who did it with a JWT had another
// account meanwhile.
func (a *actor) recordTokens(c *credential, o *op, account int64, name, value string) {
	for _, h := range a.identities {
		if c.subject == h.subject && h.id != account && h.during(o) {
			name = "unclear"
			a.record(o, "tokens", h.id, name, value)
		}
	}
	a.record(o, "tokens", account, name, value)
}

// listTokens lists the tokens of a service account, or the caller's own if owner is 0.
func (a *actor) listTokens(c *credential, owner int64) {
	name := "list"
	if owner == 0 {
		name = "list own"
	}
	path, account := tokensOf(c, owner)
	var out struct{ Pats descriptions }
	a.recordTokens(c, a.get(c, path, &out), account, name, out.Pats.canonical())
}

// descriptions are tokens in a response.
type descriptions []struct{ Description string }

func (d descriptions) canonical() string {
	var all []string
	for _, token := range d {
		all = append(all, token.Description)
	}
	return canonical(all)
}

// rotate replaces the token of a pipeline, and tries both.
func (a *actor) rotate() {
	account := subject(a, a.robots...)
	a.meanwhile((*actor).rotate)
	created := a.createToken(a.admin, account, fmt.Sprint("token ", a.IntN(4))) // sometimes a description that exists
	if created == nil {
		a.listTokens(a.admin, account)
		for _, c := range a.credentials { // make room
			if c.account == account && c.deleting.IsZero() && a.IntN(2) == 0 {
				o := a.do(a.admin, fmt.Sprintf("GET service-account/%d/token/%d", account, c.id), nil)
				a.record(o, "tokens", account, "read", c.name())
				a.endToken(a.admin, c)
				return
			}
		}
		return
	}
	if a.IntN(2) == 0 {
		a.useToken(created)
	}
	if old := a.last; old != nil && old.account == created.account && a.IntN(2) == 0 {
		a.endToken(a.admin, old)
		a.useToken(old)
	}
	a.last = created
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
	role := 3
	switch p := out.Permissions; {
	case len(p) > 0 && p[0].Permission == access.Admin:
		role = 1
	case len(p) > 0:
		role = 2
	}
	a.record(o, "role", c.account, "get", role)
}

func (a *actor) manageCredentials() {
	id := subject(a, a.robots...)
	switch a.IntN(6) {
	case 0:
		a.disable(user.ServiceAccount, id, a.IntN(2) == 0)
	case 1:
		role := choose(a, access.Roles()...)
		o := a.command(fmt.Sprintf("role %d %s", id, role), func(ctx context.Context) error {
			return errorOf(a.operator.SetRole(ctx, user.ServiceAccount, id, role))
		})
		a.record(o, "role", id, "set", role.ID())
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
	for _, c := range w.credentials {
		if c.account == id && c.deleting.IsZero() && c.expires.After(time.Now()) {
			return c
		}
	}
	return nil
}

// changeOwn creates a token with another one of the account, or deletes the other one.
func (a *actor) changeOwn(id int64) {
	switch c := a.credentialOf(id); {
	case c == nil:
	case a.IntN(2) == 0:
		a.createToken(c, 0, "token 0")
	default:
		a.endToken(c, c)
	}
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
		a.credentials = append(a.credentials, c)
		a.endToken(a.admin, c)
		a.useToken(c)
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
		p, err := o.AddAccount(ctx, user.Person, string(role), strings.ToLower(string(role))+"@example.com", role)
		w.must(err)
		return credentialOf(p.ID, new(datetime.Milliseconds(time.Now().AddDate(1, 0, 0))))
	}
	w.admin, w.editor, w.api = personOf(access.RoleAdmin), personOf(access.RoleEditor), credentialOf(0, nil)
	robot, err := o.AddAccount(ctx, user.ServiceAccount, "ci", "", access.RoleEditor)
	w.must(err)
	w.robots = []int64{robot.ID}
	w.account(robot.ID)
	w.highest = 2
	if w.random(5).IntN(2) == 0 {
		_, err = o.AddAccount(ctx, user.Person, "Bob", "bob@example.com", access.RoleEditor)
		w.must(err)
	}
}
