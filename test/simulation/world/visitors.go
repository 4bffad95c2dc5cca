package world

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshot"
)

// applicationToken is a client token with its secret, which an application, a page, or nobody uses.
type applicationToken struct {
	kind        clienttokentable.Type
	projects    []string // empty: all
	environment string
	secret      string
	created     time.Time // when the response arrived
	expires     time.Time // zero: never
	deletion
}

func (t *applicationToken) query() snapshot.Query {
	return snapshot.Query{Projects: t.projects, Environment: t.environment}
}

// pageTokens is the number of client tokens of pages.
const pageTokens = 2

// preparePages creates the tokens of pages: one that expires while the world lives, and one that does not.
func (w *World) preparePages(tokens *clienttoken.Store, p *process) {
	expires := w.start.Add(w.upTo(duration, 84)).Truncate(time.Second)
	for _, at := range []time.Time{expires, {}} {
		w.delivery.pages = append(w.delivery.pages, w.createToken(tokens, p, &applicationToken{
			kind: clienttokentable.Frontend, environment: w.delivery.installed[0].query.Environment, expires: at,
		}))
	}
}

// createToken creates a client token, before anything else happens.
func (w *World) createToken(tokens *clienttoken.Store, p *process, t *applicationToken) *applicationToken {
	stored := clienttokentable.Token{
		Name: map[clienttokentable.Type]string{clienttokentable.Backend: "sdk", clienttokentable.Frontend: "page"}[t.kind],
		Type: t.kind, Projects: t.projects, Environment: t.environment, CreatedAt: p.now(),
	}
	if !t.expires.IsZero() {
		stored.ExpiresAt = &t.expires
	}
	_, secret, err := tokens.Create(context.Background(), stored, clientTokenLimit, p)
	w.must(err)
	t.secret, t.created = secret.Reveal(), time.Now()
	return t
}

// applicationTokens returns all client tokens.
func (w *World) applicationTokens() (all []*applicationToken) {
	for _, s := range w.delivery.installed {
		all = append(all, s.token)
	}
	all = append(all, w.delivery.pages...)
	for _, t := range w.clientTokens.all {
		all = append(all, &t.applicationToken)
	}
	return all
}

// accepts reports whether a process can accept a token in a request that began at a time and has ended, and whether it
// must. It reads tokens eventually consistently. While it cannot read them, it accepts those that it has accepted before.
func (w *World) accepts(on *server, t *applicationToken, begun time.Time) (can, must bool) {
	now := time.Now()
	expired := !t.expires.IsZero() && t.expires.Before(begun.Add(-maxSkew))
	ends, ending := w.endOf(t)
	ended := ending && ends.Before(begun.Add(-maxSkew)) && !on.hasTrouble(begun)
	deleted := !t.deleted.IsZero() && t.deleted.Before(begun.Add(-maxLag)) && !on.hasTrouble(begun)
	must = t.created.Before(begun.Add(-maxLag)) && t.deleting.IsZero() &&
		(t.expires.IsZero() || t.expires.After(now.Add(maxSkew))) && (!ending || ends.After(now.Add(maxSkew)))
	return !expired && !ended && !deleted, must
}

// endOf returns when a secret ends that was rotated.
func (w *World) endOf(t *applicationToken) (at time.Time, ok bool) {
	all := w.clientTokens.ends[selectorOf(t.secret)]
	if len(all) == 0 {
		return time.Time{}, false
	}
	return all[len(all)-1], true
}

// hasTrouble reports whether a read of the process has failed shortly before a time, or since then.
func (on *server) hasTrouble(since time.Time) bool {
	return time.Unix(0, on.troubled.Load()).After(since.Add(-slowest))
}

// disturb lets somebody else ask a process.
func (a *actor) disturb(on *server) {
	t := choose(a, a.applicationTokens()...)
	switch a.IntN(10) {
	case 0:
		a.forge(on, t)
	case 1:
		a.validate(on)
	case 2, 3:
		a.download(on, t)
	case 4, 5:
		a.evaluateFlags(on, t)
	default:
		a.visit(on, choose(a, append(slices.Clone(a.delivery.pages), t)...))
	}
}

// forge lets somebody ask with a token that does not exist: one whose last digit or whose environment is another one.
func (a *actor) forge(on *server, t *applicationToken) {
	secret, last := strings.CutSuffix(t.secret, "0")
	if last {
		secret += "1"
	} else {
		secret = secret[:len(secret)-1] + "0"
	}
	if other := choose(a, environmentNames...); other != t.environment && a.IntN(2) == 0 {
		secret = strings.Replace(t.secret, ":"+t.environment+".", ":"+other+".", 1)
	}
	recorder, ok := a.requestWith(on, "GET /api/client/features", secret, nil)
	if ok && recorder.Code != http.StatusUnauthorized && recorder.Code != http.StatusServiceUnavailable {
		a.fail("%s answers a request with a token that does not exist with %d", on.name, recorder.Code)
	}
}

// requestWith sends a request with a token to a process, which can crash meanwhile. It returns false then.
func (a *actor) requestWith(on *server, request, secret string, body any) (*httptest.ResponseRecorder, bool) {
	_, ctx := a.begin()
	var content []byte
	if body != nil {
		content = encode(body)
	}
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(content))
	r.Header.Set("Authorization", secret)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Unleash-Client-Spec", "5.0.0")
	recorder, ok := a.request(on, r)
	if ok {
		a.digest(hashOf(a.name), uint64(recorder.Code), hashOf(recorder.Body.Bytes()))
		a.note("somebody asks %s: %s %s → %d", on.name, request, content, recorder.Code)
	}
	return recorder, ok
}

// requestAs sends a request with a client token that has a type of some, and checks whether it is accepted. It returns
// nil unless the response is that of the operation.
func (a *actor) requestAs(
	on *server, t *applicationToken, request string, body any, types ...clienttokentable.Type,
) *httptest.ResponseRecorder {
	begun := time.Now()
	recorder, ok := a.requestWith(on, request, t.secret, body)
	if !ok {
		return nil
	}
	can, must := a.accepts(on, t, begun)
	switch {
	case recorder.Code == http.StatusUnauthorized:
		if must {
			a.fail("%s refuses the token %s for %s, which is valid", on.name, t.secret, request)
		}
		return nil
	case recorder.Code == http.StatusServiceUnavailable:
		if must && on.warm[t.secret] {
			a.fail("%s answers %s with 503, and has answered the token before", on.name, request)
		}
		return nil
	case !can:
		a.fail("%s accepts the token %s for %s, which was deleted or has expired: %d", on.name, t.secret, request,
			recorder.Code)
		return nil
	case !slices.Contains(types, t.kind):
		if recorder.Code != http.StatusForbidden {
			a.fail("%s answers %s with %d, although the token is of the type %s", on.name, request, recorder.Code, t.kind)
		}
		return nil
	case recorder.Code == http.StatusForbidden:
		a.fail("%s answers %s with 403, although the token is of the type %s", on.name, request, t.kind)
		return nil
	}
	on.warm[t.secret] = true
	return recorder
}

// validate lets Unleash Edge ask which of some tokens are valid. One of them does not exist.
func (a *actor) validate(on *server) {
	all := a.applicationTokens()
	texts := []string{"*:" + environmentNames[0] + "." + strings.Repeat("0", 64)}
	for _, t := range all {
		texts = append(texts, t.secret)
	}
	begun := time.Now()
	recorder, ok := a.requestWith(on, "POST /edge/validate", "", object{"tokens": texts})
	if !ok || recorder.Code == http.StatusServiceUnavailable && on.hasTrouble(begun) {
		return
	}
	var response struct {
		Tokens []struct {
			Token, Type, Environment string
			Projects                 []string
		}
	}
	if recorder.Code != http.StatusOK {
		a.fail("%s answers the validation of tokens with %d: %s", on.name, recorder.Code, recorder.Body)
		return
	}
	a.must(json.Unmarshal(recorder.Body.Bytes(), &response))
	valid := map[string]bool{}
	for _, v := range response.Tokens {
		valid[v.Token] = true
		i := slices.IndexFunc(all, func(t *applicationToken) bool { return t.secret == v.Token })
		if i < 0 {
			a.fail("%s says that the token %s is valid, which does not exist", on.name, v.Token)
			return
		}
		projects := all[i].projects
		if len(projects) == 0 {
			projects = []string{"*"}
		}
		kind := map[clienttokentable.Type]string{clienttokentable.Backend: "client", clienttokentable.Frontend: "frontend"}
		if v.Type != kind[all[i].kind] || v.Environment != all[i].environment || !slices.Equal(v.Projects, projects) {
			a.fail("%s says that the token %s is %v", on.name, v.Token, v)
		}
	}
	for _, t := range all {
		if can, must := a.accepts(on, t, begun); valid[t.secret] && !can || !valid[t.secret] && must {
			a.fail("%s says that the token %s is valid: %t", on.name, t.secret, valid[t.secret])
		}
	}
}

// recentOf returns the snapshots from which a process can answer a request that began at a time.
func (w *World) recentOf(on *server, t *applicationToken, begun time.Time) []*published {
	return w.delivery.published[t.environment][w.recent(on, t.environment, begun):]
}

// parameters returns the query of a visitor for the frontend API.
func (v visitor) parameters() string {
	query := url.Values{}
	for field, value := range v {
		query.Set("properties["+field+"]", value)
	}
	return query.Encode()
}

// visit lets a visitor open a page, which asks a process for the toggles that are on for the visitor.
func (a *actor) visit(on *server, t *applicationToken) {
	v := choose(a, a.visitors()...)
	begun := time.Now()
	recorder := a.requestAs(on, t, "GET /api/frontend?"+v.parameters(), nil, clienttokentable.Frontend)
	if recorder == nil {
		return
	}
	var response struct {
		Toggles []struct {
			Name    string
			Variant struct{ Name string }
		}
	}
	a.must(json.Unmarshal(recorder.Body.Bytes(), &response))
	got := map[string]decision{}
	for _, toggle := range response.Toggles {
		got[toggle.Name] = decision{true, strings.TrimPrefix(toggle.Variant.Name, noVariant)}
	}
	a.checkEvaluated(on, t, v, begun, got, false)
}

// noVariant is the name of the variant of a toggle that has none.
const noVariant = "disabled"

// evaluateFlags lets a provider of OpenFeature ask a process for the values of all toggles.
func (a *actor) evaluateFlags(on *server, t *applicationToken) {
	v := choose(a, a.visitors()...)
	begun := time.Now()
	recorder := a.requestAs(on, t, "POST /ofrep/v1/evaluate/flags", object{"context": v},
		clienttokentable.Backend, clienttokentable.Frontend)
	if recorder == nil {
		return
	}
	var response struct {
		Flags []struct {
			Key, Variant string
			Value        any
		}
	}
	a.must(json.Unmarshal(recorder.Body.Bytes(), &response))
	got := map[string]decision{}
	for _, flag := range response.Flags {
		got[flag.Key] = decision{on: flag.Value == true}
		if flag.Value == true && flag.Variant != "enabled" {
			got[flag.Key] = decision{true, flag.Variant}
		}
	}
	a.checkEvaluated(on, t, v, begun, got, true)
}

// checkEvaluated checks decisions of a process: for the toggles that the token sees, or for those of them that are on.
func (a *actor) checkEvaluated(
	on *server, t *applicationToken, v visitor, begun time.Time, got map[string]decision, alsoOff bool,
) {
	recent := a.recentOf(on, t, begun)
	var first map[string]decision
	for _, s := range recent {
		engine, want := newDelivered(s.document, true), map[string]decision{}
		for name, f := range engine.features {
			if d := engine.decide(name, v); isSeen(f, t.query()) && (d.on || alsoOff) {
				want[name] = d
			}
		}
		if maps.Equal(got, want) {
			return
		}
		if first == nil {
			first = want
		}
	}
	a.fail("%s decides for the visitor %v with a token for %v of %v: %v, but in the snapshot %d it is %v", on.name, v,
		t.projects, t.environment, got, recent[0].version, first)
}

// download lets an application get one toggle of a process.
func (a *actor) download(on *server, t *applicationToken) {
	name := choose(a, append(slices.Clone(a.toggles.names), "removed")...)
	begun := time.Now()
	recorder := a.requestAs(on, t, "GET /api/client/features/"+name, nil, clienttokentable.Backend)
	if recorder == nil {
		return
	}
	got := strings.TrimSpace(recorder.Body.String())
	for _, s := range a.recentOf(on, t, begun) {
		f, exists := newDelivered(s.document, false).features[name]
		exists = exists && isSeen(f, t.query())
		if !exists && recorder.Code == http.StatusNotFound ||
			exists && recorder.Code == http.StatusOK && got == string(encode(f)) {
			return
		}
	}
	a.fail("%s answers a request for the toggle %s with a token for %v of %v with %d %s, which no recent snapshot has",
		on.name, name, t.projects, t.environment, recorder.Code, got)
}
