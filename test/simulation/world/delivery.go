package world

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// deliveryState is what the world knows about applications and what they can download.
type deliveryState struct {
	published  map[string][]*published // by environment, in their order
	segments   map[int64][]segmentAt   // by id, in their order
	wrongClock bool                    // somebody whose clock is wrong has compiled
	gaveUp     time.Time               // the last time that the stream gave up records; zero: sweeps compiled all since
	swept      time.Time               // when the last sweep of snapshots that succeeded has begun
	servers    []*server
	crashed    []*server
	started    int // the number of servers
	installed  []*application
	pages      []*applicationToken
}

func newDeliveryState() deliveryState {
	return deliveryState{published: map[string][]*published{}, segments: map[int64][]segmentAt{}}
}

// applications are the actors that let SDKs poll.
var applications = []string{"application-1", "application-2"}

// application is an SDK: what its token sees, and what it has received.
type application struct {
	token *applicationToken
	query snapshot.Query
	gzip  bool
	polls bool // now

	tag      string
	content  string
	position int // in the published snapshots; -1: it has nothing
}

// server is a process that serves applications.
type server struct {
	*process
	handler   *client.Handler
	freshness time.Duration
	warm      map[string]bool // the tokens to whose requests it has answered
	busy      bool            // it handles one request at a time, as an instance of a function does
	reports   reports
}

// sdkTokens is the number of client tokens of SDKs.
const sdkTokens = 2

// servers is the number of processes behind the address that SDKs know.
const servers = 3

// ofClient reports whether the call is one of a process that serves applications.
func (c *call) ofClient() bool { return strings.HasPrefix(c.process.name, "client/") }

// prepareDelivery creates tokens, and compiles snapshots, some of which must soon be compiled in full again.
func (w *World) prepareDelivery(db *sdk.Client, p *process) {
	if !w.delivers {
		return
	}
	environments := environmentNames[:2]
	tokens := clienttoken.NewStore(db, w.tables, eventlog.New(db, w.tables, p.now, eventlog.DefaultDays))
	all := [][]string{nil, {"shop"}, {"default"}, {"default", "shop"}} // the projects of tokens
	first := sdkTokens * int(w.upTo(2, 83))
	for i := first; i < first+sdkTokens; i++ {
		projects, environment := all[i], environments[i%2]
		t := w.createToken(tokens, p, &applicationToken{
			kind: clienttokentable.Backend, projects: projects, environment: environment,
		})
		q := t.query()
		q.InlineSegmentConstraints = i%3 == 2
		if projects == nil && w.upTo(2, 85) == 0 { // the SDK asks for less than the token allows
			q.Projects = []string{"shop"}
		}
		if w.upTo(2, 86, uint64(i)) == 0 {
			q.Tags = askedTags()
		}
		w.delivery.installed = append(w.delivery.installed, &application{token: t, query: q, gzip: i%3 == 0, position: -1})
	}
	w.preparePages(tokens, p)
	w.prepareRotation(tokens, p)
	for i, environment := range environments {
		earlier := time.Hour - w.upTo(2*duration, 81, uint64(i))
		now := func() time.Time { return p.now().Add(-earlier) }
		w.must(w.compiler(db, p, now).Compile(context.Background(), environment))
	}
}

func (w *World) compiler(db *sdk.Client, p *process, now func() time.Time) *compiler.Compiler {
	return compiler.New(db, w.tables, now, p, slog.New(slog.DiscardHandler))
}

// askedTags returns those of the tags of actors that SDKs ask for.
func askedTags() []snapshot.TagOf {
	return []snapshot.TagOf{{"area", "blue"}, {"team", "blue"}, {"team", "red"}}
}

// server returns one of the processes. One that has crashed is replaced.
func (w *World) server(i int) *server {
	d := &w.delivery
	for len(d.servers) <= i {
		d.servers = append(d.servers, w.newServer())
	}
	if d.servers[i].dead {
		d.crashed = append(d.crashed, d.servers[i])
		d.servers[i] = w.newServer()
	}
	return d.servers[i]
}

func (w *World) newServer() *server {
	w.delivery.started++
	p := w.newProcess(fmt.Sprint("client/", w.delivery.started))
	db, err := dynamo.NewClient(p.config(), "")
	w.must(err)
	freshness := []time.Duration{0, 250 * time.Millisecond, 10 * time.Second}[w.upTo(3, 82, p.hash)]
	handler := client.New(client.Config{
		DynamoDB: db, Tables: w.tables, Freshness: freshness, Now: p.now, Random: p, NewID: w.newID, Origins: []string{"*"},
		Logger: slog.New(slog.DiscardHandler),
	})
	return &server{
		process: p, handler: handler, freshness: freshness, warm: map[string]bool{}, reports: newReports(),
	}
}

// poll lets an SDK ask processes, one after the other. Most of them are warm, and some are behind. Some SDKs are started
// again with another prefix of the names of toggles or other tags, and some processes end.
func (a *actor) poll() {
	a.turn(a.name)
	s := choose(a, a.delivery.installed...)
	if s.polls || time.Since(a.start) < maxLag { // tokens are read eventually consistently
		return
	}
	if a.IntN(12) == 0 {
		s.tag, s.content, s.position = "", "", -1
		s.query.NamePrefix = choose(a, "", "", "t14")
		s.query.Tags = choose(a, nil, askedTags())
	}
	s.polls = true
	for range 1 + a.IntN(4) {
		i := a.IntN(servers)
		if on := a.server(i); !on.busy && a.IntN(20) == 0 {
			on.crash()
		}
		if on := a.server(i); !on.busy {
			on.busy = true
			if a.IntN(2) == 0 {
				a.disturb(on)
			}
			if !on.dead {
				a.ask(s, on)
			}
			if !on.dead && a.IntN(2) == 0 {
				a.report(on)
			}
			on.busy = false
		}
		a.sleep(a.name, within(a.Rand, choose(a, 50*time.Millisecond, 3*time.Second)))
	}
	s.polls = false
}

// ask lets an SDK ask a process.
func (a *actor) ask(s *application, on *server) {
	_, ctx := a.begin()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/client/features?"+s.parameters(), nil)
	r.Header.Set("Authorization", s.token.secret)
	if s.tag != "" {
		r.Header.Set("If-None-Match", s.tag)
	}
	if s.gzip {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	if !s.query.InlineSegmentConstraints {
		r.Header.Set("Unleash-Client-Spec", "5.0.0")
	}
	begun := time.Now()
	recorder, ok := a.request(on, r)
	if !ok {
		return
	}
	status, body := recorder.Code, recorder.Body.String()
	a.digest(hashOf(a.name), uint64(status), hashOf(recorder.Header().Get("ETag")))
	a.note("%s asks %s for %v with %s → %d %s", a.name, on.name, s.query, s.tag, status, recorder.Header().Get("ETag"))
	switch {
	case status == http.StatusOK:
		a.received(s, on, recorder)
	case status == http.StatusNotModified && s.tag != "":
	case status == http.StatusServiceUnavailable && recorder.Header().Get("Retry-After") != "" && !on.warm[s.token.secret]:
		return
	default:
		a.fail("%s answers an SDK with %d, and has answered it before: %t: %s", on.name, status, on.warm[s.token.secret], body)
	}
	on.warm[s.token.secret] = true
	a.checkRecent(s, on, begun)
}

// parameters returns the query of a request, which asks for less than the token allows.
func (s *application) parameters() string {
	query := url.Values{}
	if len(s.token.projects) == 0 {
		query["project"] = s.query.Projects
	}
	if s.query.NamePrefix != "" {
		query.Set("namePrefix", s.query.NamePrefix)
	}
	for _, tag := range s.query.Tags {
		query.Add("tag", tag[0]+":"+tag[1])
	}
	return query.Encode()
}

// checkRecent checks that what an SDK has after a response is in a snapshot that is recent enough.
func (w *World) checkRecent(s *application, on *server, begun time.Time) {
	all := w.delivery.published[s.query.Environment]
	if s.position < 0 || w.over {
		return
	}
	recent := all[w.recent(on, s.query.Environment, begun):]
	if !slices.ContainsFunc(recent, func(p *published) bool { return p.seen(s.query) == s.content }) {
		w.fail("%s answers to %v from a snapshot that was replaced by %d before %s, and reads every %s: %s", on.name, s.query,
			recent[0].version, recent[0].at.Sub(w.start), on.freshness, s.content)
	}
}

// slowest is the longest time between two reads of a pointer of which the first one has failed or found a lost part.
const slowest = 3 * time.Second

// recent returns the position of the oldest snapshot that a process can use for a request which began at a time, if its
// reads succeed: that which was the current one when it has read the pointer last. Otherwise it can use each one.
func (w *World) recent(on *server, environment string, begun time.Time) (oldest int) {
	since := begun.Add(-on.freshness)
	if on.hasTrouble(since) {
		return 0
	}
	all := w.delivery.published[environment]
	for i, p := range all {
		replaced := i+1 < len(all) && all[i+1].at.Before(since.Add(-slowest))
		if p.lost && !replaced {
			return 0
		}
		if p.at.Before(since) {
			oldest = i
		}
	}
	return oldest
}

// received checks what an SDK receives: it is a published snapshot, not older than what it has, and what its token sees
// has changed.
func (w *World) received(s *application, on *server, recorder *httptest.ResponseRecorder) {
	text := recorder.Body.Bytes()
	if s.gzip {
		var err error
		if text, err = snapshot.Decompress(text); err != nil {
			w.fail("%s answers with something that is not compressed: %v", on.name, err)
			return
		}
	}
	var d snapshot.Document
	w.must(json.Unmarshal(text, &d))
	segments := append([]toggle.Segment{}, d.Segments...)
	content := string(encode(snapshot.Document{Features: d.Features, Segments: segments}))
	tag, ok := snapshot.ParseTag(strings.Trim(recorder.Header().Get("ETag"), `"`))
	all := w.delivery.published[s.query.Environment]
	i := slices.IndexFunc(all, func(p *published) bool { return p.epoch == tag.Epoch && p.version >= tag.Version })
	before := ""
	if s.position >= 0 {
		before = all[s.position].decides(s.query)
	}
	switch {
	case !ok || i < 0:
		w.fail("%s answers with the tag %q, which no snapshot of %s has", on.name, recorder.Header().Get("ETag"),
			s.query.Environment)
		return
	case content != all[i].seen(s.query):
		w.fail("%s answers to %v with %s, but the snapshot %d contains %s", on.name, s.query, content, all[i].version,
			all[i].seen(s.query))
	case i < s.position:
		w.fail("an SDK goes back from %s to %s, which was published before", s.tag, recorder.Header().Get("ETag"))
	case s.position >= 0 && all[s.position].epoch == tag.Epoch &&
		!slices.ContainsFunc(all[s.position:i+1], func(p *published) bool { return p.decides(s.query) != before }):
		w.fail("an SDK receives %s after %s, although nothing that it sees has changed", recorder.Header().Get("ETag"), s.tag)
	}
	s.tag, s.content, s.position = recorder.Header().Get("ETag"), content, i
}

// seen returns what a query sees of a snapshot.
func (p *published) seen(q snapshot.Query) string { return seen(p.document, q) }

// decides returns what the entity tag of a response to a query depends on: neither the prefix of names nor which tags of
// toggles are asked for, but all tags if there are any.
func (p *published) decides(q snapshot.Query) string {
	all := q
	all.NamePrefix, all.Tags = "", nil
	var content strings.Builder
	content.WriteString(p.seen(all))
	for _, f := range p.document.Features {
		if len(q.Tags) > 0 && isSeen(f, all) {
			content.WriteString(withTags(f))
		}
	}
	return content.String()
}

func seen(d snapshot.Document, q snapshot.Query) string {
	selected := snapshot.Document{Features: []evaluation.Feature{}, Segments: []toggle.Segment{}}
	used := map[int64]bool{}
	for _, f := range d.Features {
		if !isSeen(f, q) {
			continue
		}
		strategies := slices.Clone(f.Strategies)
		for i, s := range strategies {
			constraints := slices.Clone(s.Constraints)
			for _, segment := range d.Segments {
				if slices.Contains(s.Segments, segment.ID) {
					used[segment.ID] = true
					constraints = append(constraints, segment.Constraints...)
				}
			}
			if q.InlineSegmentConstraints {
				strategies[i].Constraints, strategies[i].Segments = constraints, nil
			}
		}
		f.Strategies = strategies
		selected.Features = append(selected.Features, f)
	}
	for _, segment := range d.Segments {
		if used[segment.ID] && !q.InlineSegmentConstraints {
			selected.Segments = append(selected.Segments, segment)
		}
	}
	return string(encode(selected))
}

// isSeen reports whether a query sees a toggle.
func isSeen(f evaluation.Feature, q snapshot.Query) bool {
	return (len(q.Projects) == 0 || slices.Contains(q.Projects, f.Project)) && strings.HasPrefix(f.Name, q.NamePrefix) &&
		(len(q.Tags) == 0 || slices.ContainsFunc(f.Tags, func(tag toggle.Tag) bool {
			return slices.Contains(q.Tags, snapshot.NewTagOf(tag))
		}))
}

// checkDelivery checks what must hold when nothing happens any more: the snapshots are what the tables say, every SDK
// has received them, and a toggle that cannot be compiled keeps its part.
func (w *World) checkDelivery() {
	if !w.delivers || w.over {
		return
	}
	w.checkConverged()
	if existing := w.existingEnvironments(); len(existing) > 0 {
		d := w.newDamage(existing[0])
		d.checkToggle()
		d.checkParent()
		d.checkSegment()
		switch w.upTo(4, 24) {
		case 0:
			d.checkSize()
		case 1:
			d.checkEvents()
		case 2:
			if last := existing[len(existing)-1]; last != existing[0] {
				d.checkPointer(last, existing[0])
			}
		default: // only what every world damages
		}
		d.end()
	}
	w.restartHistories()
}

// checkConverged checks that all SDKs receive the true state after a sweep.
func (w *World) checkConverged() {
	if !w.delivers || w.over {
		return
	}
	w.sleep("frozen processes", time.Minute)
	if w.has(lostPart) {
		w.sleep("the hourly compilation", time.Hour)
	}
	if !w.sweepSnapshots() && !w.over {
		w.fail("the last sweep of snapshots fails")
	}
	last := &actor{World: w, Rand: w.random(14), name: applications[0]}
	for _, s := range w.delivery.installed {
		all := w.delivery.published[s.query.Environment]
		if !slices.Contains(w.existingEnvironments(), s.query.Environment) || len(all) == 0 || w.over {
			continue
		}
		s.position = -1 // snapshots of an earlier epoch can be older
		for i := range servers {
			last.ask(s, w.server(i))
		}
		if want := all[len(all)-1].seen(s.query); s.content != want {
			w.fail("in the end, an SDK with %v and the tag %s has %s, but the tables say %s", s.query, s.tag, s.content, want)
		}
	}
}
