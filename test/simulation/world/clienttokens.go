package world

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
)

// clientTokenLimit is the maximum number of client tokens: those of SDKs and pages, and three more.
const clientTokenLimit = sdkTokens + pageTokens + 3

// clientTokenState is what the world knows about client tokens.
type clientTokenState struct {
	all     []*clientToken
	deleted map[string]bool // selectors
}

// clientToken is a client token that was created.
type clientToken struct {
	applicationToken
	listed string
}

// manageClientTokens creates, changes, deletes and lists client tokens. Their environments are deleted meanwhile.
func (a *actor) manageClientTokens() {
	c := choose(a, a.admin, a.api)
	if len(a.clientTokens.all) == 0 {
		a.createClientToken(c)
		return
	}
	t := subject(a, a.clientTokens.all[max(0, len(a.clientTokens.all)-3):]...)
	switch a.IntN(7) {
	case 0, 1, 2:
		a.meanwhile(choose(a, (*actor).manageEnvironments, (*actor).manageClientTokens))
		a.createClientToken(c)
	case 3:
		a.meanwhile((*actor).manageClientTokens)
		expires := time.Now().Add(time.Duration(1+a.IntN(3)) * 100 * time.Hour).UTC().Format(time.RFC3339)
		a.do(c, "PUT api-tokens/"+t.listed, object{"expiresAt": expires})
	case 4, 5:
		a.delete(c, &t.deletion, (*actor).manageClientTokens, func() *op { return a.do(c, "DELETE api-tokens/"+t.listed, nil) })
	default:
		a.listClientTokens(c)
	}
}

func (a *actor) createClientToken(c *credential) {
	t := applicationToken{
		kind:        choose(a, clienttokentable.Backend, clienttokentable.Frontend),
		projects:    choose(a, nil, nil, []string{"shop"}),
		environment: subject(a, a.environments.names...),
	}
	body := object{"tokenName": a.name, "type": t.kind, "environment": t.environment}
	if t.projects != nil {
		body["projects"] = t.projects
	}
	o := a.do(c, "POST api-tokens", body)
	if !o.ok() {
		return
	}
	var created struct{ Secret string }
	a.decode(o, &created)
	secret, ok := clienttokentable.ParseSecret(created.Secret)
	if !ok {
		a.fail("a client token is created with the secret %q", created.Secret)
		return
	}
	listed := strings.TrimSuffix(created.Secret, secret.Body.Reveal()) + "v2_" + secret.Selector.String()
	t.secret, t.created = created.Secret, o.ended
	a.clientTokens.all = append(a.clientTokens.all, &clientToken{t, listed})
}

// listClientTokens checks that the list contains the tokens that exist, and none that was deleted before.
func (a *actor) listClientTokens(c *credential) {
	var list struct{ Tokens []struct{ Secret string } }
	o := a.get(c, "api-tokens", &list)
	if !o.ok() {
		return
	}
	listed := map[string]bool{}
	for _, t := range list.Tokens {
		listed[t.Secret] = true
	}
	for _, t := range a.clientTokens.all {
		exists := t.created.Before(o.begun) && (t.deleting.IsZero() || t.deleting.After(o.ended))
		gone := !t.deleted.IsZero() && t.deleted.Before(o.begun)
		if exists && !listed[t.listed] || gone && listed[t.listed] {
			a.fail("the client token %s exists: %t; it is listed: %t", t.listed, exists, listed[t.listed])
		}
	}
}

// changedClientToken checks that a token that was deleted does not come back.
func (w *World) changedClientToken(c change) {
	if !clienttokentable.IsToken(c.item) {
		return
	}
	selector := c.item.String(clienttokentable.Hash)
	switch {
	case c.next == nil:
		w.clientTokens.deleted[selector] = true
	case w.clientTokens.deleted[selector] || c.next["verifier"] == nil:
		w.fail("the client token %s was deleted, but there is an item", selector)
	}
}

// checkClientTokens checks the limit, and compares the number of all tokens, and those of the tokens of environments that
// exist, with a recount.
func (w *World) checkClientTokens() {
	recount, stored := map[string]int64{}, map[string]int64{} // by environment
	total, counted := int64(0), int64(0)
	for _, item := range w.db.Items("ClientTokens") {
		counted += item.Int("tokens") // of the item that counts them
		if clienttokentable.IsToken(item) {
			recount[item.String("environment")]++
			total++
		}
	}
	if counted != total {
		w.fail("there are %d client tokens, and %d are counted", total, counted)
	}
	table := environment.ReferencesStore(nil, nil)
	for _, item := range w.db.Items("Environments") {
		if name, ok := table.ResourceOf(item); ok {
			if used, _ := references.FromItem(item); used.Tokens != 0 {
				stored[name] = used.Tokens
			}
		}
	}
	if !maps.Equal(stored, recount) {
		w.fail("the environments count the client tokens %v, but there are %v", fmt.Sprint(stored), fmt.Sprint(recount))
	}
	if total > clientTokenLimit {
		w.fail("there are %d client tokens, the limit is %d", total, clientTokenLimit)
	}
}
