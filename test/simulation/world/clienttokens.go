package world

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/dynamo"
)

// clientTokenLimit is the maximum number of client tokens: those of SDKs and pages, the two secrets of a rotated token, and
// four more.
const clientTokenLimit = sdkTokens + pageTokens + 2 + 4

// clientTokenState is what the world knows about client tokens. Its keys are selectors.
type clientTokenState struct {
	all     []*clientToken
	deleted map[string]bool
	ends    map[string][]time.Time // the values that validUntil had
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
	switch a.IntN(9) {
	case 0, 1, 2:
		a.meanwhile(choose(a, (*actor).manageEnvironments, (*actor).manageClientTokens))
		a.createClientToken(c)
	case 3:
		a.meanwhile((*actor).manageClientTokens)
		expires := time.Now().Add(time.Duration(1+a.IntN(3)) * 100 * time.Hour).UTC().Format(time.RFC3339)
		a.do(c, "PUT api-tokens/"+t.listed, object{"expiresAt": expires})
	case 4, 5:
		a.delete(c, &t.deletion, (*actor).manageClientTokens, func() *op { return a.do(c, "DELETE api-tokens/"+t.listed, nil) })
	case 6, 7:
		a.meanwhile((*actor).manageClientTokens)
		a.rotateClientToken(c, t)
	default:
		a.listClientTokens(c)
	}
}

// rotateClientToken gives a token a second secret. The first one is valid for hours, which the world does not live.
func (a *actor) rotateClientToken(c *credential, t *clientToken) {
	hours := choose(a, 1, 24, 720)
	o := a.do(c, "POST api-tokens/"+t.listed+"/rotate", object{"overlapHours": hours})
	if !o.ok() {
		return
	}
	overlap := time.Duration(hours) * time.Hour
	if !slices.ContainsFunc(a.clientTokens.ends[selectorOf(t.secret)], func(at time.Time) bool {
		return !at.Before(o.begun.Add(overlap-maxSkew).Truncate(time.Millisecond)) && !at.After(o.ended.Add(overlap+maxSkew))
	}) {
		a.fail("the secret %s ends at %v, and was rotated for %s", t.listed, a.clientTokens.ends[selectorOf(t.secret)], overlap)
	}
	next := t.applicationToken
	next.deletion = deletion{}
	a.addClientToken(o, next)
	if a.IntN(2) == 0 {
		a.rotateClientToken(c, t) // which is refused
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
	a.addClientToken(o, t)
}

// addClientToken remembers a token whose secret is in a response.
func (a *actor) addClientToken(o *op, t applicationToken) {
	var created struct{ Secret string }
	a.decode(o, &created)
	if _, ok := clienttokentable.ParseSecret(created.Secret); !ok {
		a.fail("a client token is created with the secret %q", created.Secret)
		return
	}
	t.secret, t.created = created.Secret, o.ended
	a.clientTokens.all = append(a.clientTokens.all, &clientToken{t, listedForm(t.secret)})
}

// listedForm returns a secret without its random part.
func listedForm(text string) string {
	secret, _ := clienttokentable.ParseSecret(text)
	return strings.TrimSuffix(text, secret.Body.Reveal()) + "v2_" + secret.Selector.String()
}

// selectorOf returns the selector of a secret.
func selectorOf(text string) string {
	secret, _ := clienttokentable.ParseSecret(text)
	return secret.Selector.String()
}

// prepareRotation creates a token, and rotates it so that its first secret ends while the world lives.
func (w *World) prepareRotation(tokens *clienttoken.Store, p *process) {
	t := w.createToken(tokens, p, &applicationToken{
		kind: clienttokentable.Backend, environment: w.delivery.installed[0].query.Environment,
	})
	overlap := w.upTo(duration, 86)
	_, secret, err := tokens.Rotate(context.Background(), t.secret, p.now(), overlap, clientTokenLimit, p)
	w.must(err)
	next := *t
	next.secret = secret.Reveal()
	for _, t := range []*applicationToken{t, &next} {
		w.clientTokens.all = append(w.clientTokens.all, &clientToken{*t, listedForm(t.secret)})
	}
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
	if until := c.next.Time(clienttokentable.AttributeValidUntil); until != nil {
		w.clientTokens.ends[selector] = append(w.clientTokens.ends[selector], *until)
	}
	switch {
	case c.next == nil:
		w.clientTokens.deleted[selector] = true
		for _, t := range w.clientTokens.all { // a rotation deletes what has ended
			if selectorOf(t.secret) == selector {
				earliest(&t.deleting, time.Now())
			}
		}
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
	w.checkSecrets()
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

// checkSecrets checks that no token has more than two secrets, and that they agree.
func (w *World) checkSecrets() {
	others := map[string][]dynamo.Item{} // by the selector that they name
	items := map[string]dynamo.Item{}
	for _, item := range w.db.Items(clienttokentable.Table) {
		items[item.String(clienttokentable.Hash)] = item
		if other := item.String(clienttokentable.AttributeOther); other != "" {
			others[other] = append(others[other], item)
		}
	}
	for selector, item := range items {
		all := others[selector]
		other, exists := items[item.String(clienttokentable.AttributeOther)]
		if exists && !slices.ContainsFunc(all, func(it dynamo.Item) bool {
			return it.String(clienttokentable.Hash) == other.String(clienttokentable.Hash)
		}) {
			all = append(all, other)
		}
		if len(all) > 1 {
			w.fail("the client token %s has %d other secrets", selector, len(all))
		}
		for _, it := range all {
			for _, name := range []string{"name", "type", "projects", "environment", "expiresAt"} {
				if !reflect.DeepEqual(it[name], item[name]) {
					w.fail("the secrets %s and %s of a client token differ in %s", selector, it.String(clienttokentable.Hash), name)
				}
			}
		}
	}
}
