package world

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/delivery/clienttokentable"
)

// page is a page of a web application with a frontend token for all projects, which can expire.
type page struct {
	environment string
	secret      string
	expires     time.Time // zero: never
}

// pageTokens is the number of client tokens of pages.
const pageTokens = 2

// preparePages creates the tokens of pages: one that expires while the world lives, and one that does not.
func (w *World) preparePages(tokens *clienttoken.Store, p *process) {
	expires := w.start.Add(w.upTo(duration, 84)).Truncate(time.Second)
	for _, at := range []time.Time{expires, {}} {
		t := clienttokentable.Token{
			Name: "page", Type: clienttokentable.Frontend, Environment: w.delivery.installed[0].query.Environment,
			CreatedAt: p.now(),
		}
		if !at.IsZero() {
			t.ExpiresAt = &at
		}
		_, secret, err := tokens.Create(context.Background(), t, clientTokenLimit, p)
		w.must(err)
		w.delivery.pages = append(w.delivery.pages, &page{t.Environment, secret.Reveal(), at})
	}
}

// disturb lets somebody ask a process who has no valid token for that, or a page.
func (a *actor) disturb(on *server) {
	s, p := choose(a, a.delivery.installed...), choose(a, a.delivery.pages...)
	switch a.IntN(8) {
	case 0, 1:
		unknown, last := strings.CutSuffix(s.secret, "0")
		if last {
			unknown += "1"
		} else {
			unknown = unknown[:len(unknown)-1] + "0"
		}
		a.reject(on, "/api/client/features", unknown, http.StatusUnauthorized)
	case 2:
		environment := choose(a, environmentNames...)
		if environment != s.query.Environment {
			foreign := strings.Replace(s.secret, ":"+s.query.Environment+".", ":"+environment+".", 1)
			a.reject(on, "/api/client/features", foreign, http.StatusUnauthorized)
		}
	case 3:
		a.reject(on, "/api/frontend", s.secret, http.StatusForbidden)
	default:
		a.visit(on, p)
	}
}

// reject lets somebody ask a process with a token that is not valid for a path.
func (a *actor) reject(on *server, path, secret string, want int) {
	recorder, ok := a.requestWith(on, path, secret)
	if ok && recorder.Code != want && recorder.Code != http.StatusServiceUnavailable {
		a.fail("%s answers a request for %s, whose token is not valid there, with %d instead of %d", on.name, path,
			recorder.Code, want)
	}
}

// requestWith sends a GET request with a token to a process, which can crash meanwhile. It returns false then.
func (a *actor) requestWith(on *server, path, secret string) (*httptest.ResponseRecorder, bool) {
	_, ctx := a.begin()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("Authorization", secret)
	recorder, ok := a.request(on, r)
	if ok {
		a.digest(hashOf(a.name), uint64(recorder.Code), hashOf(recorder.Body.Bytes()))
		a.note("somebody asks %s for %s → %d", on.name, path, recorder.Code)
	}
	return recorder, ok
}

// visit lets a visitor open a page, which asks a process for the toggles that are on for the visitor.
func (a *actor) visit(on *server, p *page) {
	v := choose(a, a.visitors()...)
	query := url.Values{}
	for field, value := range v {
		query.Set("properties["+field+"]", value)
	}
	begun := time.Now()
	recorder, ok := a.requestWith(on, "/api/frontend?"+query.Encode(), p.secret)
	if !ok {
		return
	}
	expired := !p.expires.IsZero() && p.expires.Before(begun.Add(-maxSkew))
	expires := !p.expires.IsZero() && p.expires.Before(time.Now().Add(maxSkew))
	switch {
	case recorder.Code == http.StatusOK && !expired:
	case recorder.Code == http.StatusUnauthorized && expires:
		return
	case recorder.Code == http.StatusServiceUnavailable && (expires || !on.warm[p.secret]):
		return
	default:
		a.fail("%s answers a page with %d, whose token expires at %s, and has answered it before: %t: %s", on.name,
			recorder.Code, p.expires, on.warm[p.secret], recorder.Body)
		return
	}
	on.warm[p.secret] = true
	var response struct{ Toggles []struct{ Name string } }
	a.must(json.Unmarshal(recorder.Body.Bytes(), &response))
	var names []string
	for _, t := range response.Toggles {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	got := strings.Join(names, " ")
	all := a.delivery.published[p.environment]
	recent := all[a.recent(on, p.environment, begun):]
	if !slices.ContainsFunc(recent, func(s *published) bool { return newDelivered(s.document, true).on(v) == got }) {
		a.fail("%s says that %q are on for the visitor %v, but in the snapshot %d of %s it is %q", on.name, got, v,
			recent[0].version, p.environment, newDelivered(recent[0].document, true).on(v))
	}
}
