package counting

import (
	"cmp"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/logging"
)

// How long what was counted can wait for its write, since the last one.
const (
	talliesEvery  = 10 * time.Second
	requestsEvery = time.Minute      // if there are only requests
	presenceEvery = 10 * time.Minute // of each presence
	loggedEvery   = time.Minute
)

// Config is what a Recorder and SeenTokens need. The tables are Usage and ClientTokens.
type Config struct {
	DynamoDB *dynamodb.Client
	Tables   dynamo.Tables
	Now      func() time.Time
	Random   io.Reader
	Logger   *slog.Logger
}

// The limits of what a process counts.
const (
	maxPartSize     = 300_000 // in bytes, estimated: an item has at most 400 kB
	maxUnwritten    = 100     // parts
	maxApplications = 500     // in an environment and hour
	maxInstances    = 5_000   // in an environment and hour
	maxUnknown      = 100     // names in an environment and day
	maxVariants     = 100     // of a toggle in an application
	entrySize       = 20      // of an entry in addition to its name, estimated
)

const (
	writeTimeout   = 2 * time.Second
	parallelWrites = 8
	partIDBytes    = 8
)

// Recorder counts what applications ask for, and writes it to the table Usage. It is safe for concurrent use.
//
// What is counted belongs to a part, which is an item that only this process writes. A write replaces the whole item,
// so that a repeated one counts nothing twice. One that fails is repeated later. A part of an hour that is over is
// forgotten when it is written, and what is counted in the hour afterwards begins a new part.
type Recorder struct {
	store  usageStore
	now    func() time.Time
	random io.Reader
	logger *slog.Logger

	mu         sync.Mutex
	open       map[partKey]*part
	sealed     []*part                 // tallies that have reached their size and are not written yet
	unknown    map[string]unknownNames // by environment
	talliesAt  time.Time               // of the last attempt to write tallies
	requestsAt time.Time               // of the last attempt to write requests, or of the start of the process
	writing    bool
	dropped    int // counts, not logged yet
	loggedAt   time.Time
}

// partKey identifies an open part.
type partKey struct {
	kind        usagetable.Kind
	hour        time.Time
	environment string // empty for requests
}

// part is a part of this process. Its content is the one of its kind.
type part struct {
	usagetable.Part
	tally     usage.Tally
	presence  usage.Presence
	requests  usage.Requests
	apps      map[string]bool // in the tally
	instances int             // in the presence
	size      int             // estimated, in bytes
	changed   bool            // since the last write
}

func (p *part) content() any {
	switch p.Kind {
	case usagetable.KindTally:
		return p.tally
	case usagetable.KindPresence:
		return p.presence
	default:
		return p.requests
	}
}

// unknownNames are the names without a toggle that were counted on a day.
type unknownNames struct {
	day   time.Time
	names map[string]bool
}

// New returns a Recorder.
func New(c Config) *Recorder {
	return &Recorder{
		store:      usageStore{c.DynamoDB, c.Tables[usagetable.Table]},
		now:        c.Now,
		random:     c.Random,
		logger:     c.Logger,
		open:       map[partKey]*part{},
		unknown:    map[string]unknownNames{},
		requestsAt: c.Now(),
	}
}

// part returns the open part of a kind, hour and environment. It returns nil if there is none and too many parts are
// unwritten.
func (r *Recorder) part(kind usagetable.Kind, hour time.Time, environment string) *part {
	key := partKey{kind, hour, environment}
	if p := r.open[key]; p != nil {
		return p
	}
	id := make([]byte, partIDBytes)
	if _, err := io.ReadFull(r.random, id); err != nil || r.unwritten() >= maxUnwritten {
		return nil
	}
	p := &part{Part: usagetable.Part{Kind: kind, Hour: hour, Environment: environment, ID: hex.EncodeToString(id)}}
	switch kind {
	case usagetable.KindTally:
		p.tally, p.apps = usage.NewTally(), map[string]bool{}
	case usagetable.KindPresence:
		p.presence = usage.Presence{}
	case usagetable.KindRequests:
		p.requests = usage.Requests{}
	}
	r.open[key] = p
	return p
}

// parts returns all parts, in a fixed order.
func (r *Recorder) parts() []*part {
	all := slices.Concat(r.sealed, slices.Collect(maps.Values(r.open)))
	slices.SortFunc(all, func(a, b *part) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.ID, b.ID))
	})
	return all
}

func (r *Recorder) unwritten() int {
	n := 0
	for _, p := range r.parts() {
		if p.changed {
			n++
		}
	}
	return n
}

// CountRequest counts a request by its path and status.
func (r *Recorder) CountRequest(path string, status int) {
	hour := usage.HourOf(r.now())
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.part(usagetable.KindRequests, hour, "")
	if p == nil {
		r.dropped++
		return
	}
	one := usage.Statuses{Successful: 1}
	switch {
	case status >= 500:
		one = usage.Statuses{ServerErrors: 1}
	case status >= 400:
		one = usage.Statuses{ClientErrors: 1}
	}
	p.requests.Merge(usage.Requests{path: one})
	p.changed = true
}

// grow adds a name to the size of the part, unless the part becomes too large.
func (p *part) grow(names ...string) bool {
	size := p.size + entrySize
	for _, name := range names {
		size += len(name)
	}
	if size > maxPartSize {
		return false
	}
	p.size = size
	return true
}

// heard records that the process has heard from an instance of an application, and what it said of the application.
func (r *Recorder) heard(environment, application string, a usage.Application, id string, i usage.Instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.part(usagetable.KindPresence, usage.HourOf(i.SeenAt), environment)
	if p == nil {
		return
	}
	known, isKnown := p.presence[application]
	if !isKnown && (len(p.presence) >= maxApplications || !p.grow(application)) {
		return
	}
	if hasOthers(a, known) && !p.grow(slices.Concat(a.Projects, a.Strategies)...) {
		a = usage.Application{}
	}
	if !isKnown || hasOthers(a, known) {
		p.presence.Merge(usage.Presence{application: a})
		known = p.presence[application]
	}
	earlier, ok := known.Instances[id]
	if !ok {
		if p.instances >= maxInstances || !p.grow(id, i.SDK) {
			return
		}
		p.instances++
	}
	i.SDK = cmp.Or(i.SDK, earlier.SDK)
	known.Instances[id] = i
	p.changed = true
}

// hasOthers reports whether an application has projects or strategies that are not known.
func hasOthers(a, known usage.Application) bool {
	others := func(names, known []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	}
	return others(a.Projects, known.Projects) || others(a.Strategies, known.Strategies)
}

// use is how often an application asked for a toggle in an hour.
type use struct {
	hour        time.Time // its start
	feature     string
	application string
	counts      usage.Counts
}

// countKnown counts the use of toggles. Names that are not known are counted apart.
func (r *Recorder) countKnown(environment string, uses []use, known func(feature string) bool) {
	today := r.now().UTC().Truncate(24 * time.Hour)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range uses {
		if p := r.part(usagetable.KindTally, u.hour, environment); p == nil || !r.add(p, u, known(u.feature), today) {
			r.dropped++
		}
	}
}

// add adds a use to a tally. It returns false if a limit is reached.
func (r *Recorder) add(p *part, u use, known bool, today time.Time) bool {
	if !p.apps[u.application] && len(p.apps) >= maxApplications {
		return false
	}
	if known {
		p.size += p.sizeOf(u)
		p.tally.Add(u.feature, u.application, u.counts)
	} else {
		u.feature = cut(u.feature)
		if !r.isCountedUnknown(p.Environment, u.feature, today) {
			return false
		}
		if _, ok := p.tally.Unknown[u.feature][u.application]; !ok {
			p.size += len(u.feature) + len(u.application) + entrySize
		}
		p.tally.AddUnknown(u.feature, u.application, 1)
	}
	p.apps[u.application] = true
	p.changed = true
	if p.size >= maxPartSize {
		delete(r.open, partKey{p.Kind, p.Hour, p.Environment})
		r.sealed = append(r.sealed, p)
	}
	return true
}

// sizeOf returns by how much a use makes the tally larger. It removes variants from the use that are too many.
func (p *part) sizeOf(u use) int {
	size := 0
	byApplication, ok := p.tally.Features[u.feature]
	if !ok {
		size += len(u.feature) + entrySize
	}
	known, ok := byApplication[u.application]
	if !ok {
		size += len(u.application) + entrySize
	}
	variants := len(known.Variants)
	for _, name := range slices.Sorted(maps.Keys(u.counts.Variants)) {
		if _, ok := known.Variants[name]; ok {
			continue
		}
		if variants >= maxVariants {
			delete(u.counts.Variants, name)
			continue
		}
		variants++
		size += len(name) + entrySize
	}
	return size
}

// isCountedUnknown reports whether a name without a toggle is one of the first of the day in the environment.
func (r *Recorder) isCountedUnknown(environment, name string, today time.Time) bool {
	unknown := r.unknown[environment]
	if !unknown.day.Equal(today) {
		unknown = unknownNames{today, map[string]bool{}}
		r.unknown[environment] = unknown
	}
	if !unknown.names[name] && len(unknown.names) >= maxUnknown {
		return false
	}
	unknown.names[name] = true
	return true
}

// isDue reports whether what was counted must be written now.
func (r *Recorder) isDue(p *part, now time.Time) bool {
	switch {
	case !p.changed:
		return false
	case p.Kind == usagetable.KindTally:
		return now.Sub(r.talliesAt) >= talliesEvery
	case p.Kind == usagetable.KindRequests:
		return now.Sub(r.requestsAt) >= requestsEvery
	default:
		return now.Sub(p.WrittenAt) >= presenceEvery
	}
}

// isAnyDue reports whether a part must be written now.
func (r *Recorder) isAnyDue(now time.Time) bool {
	for _, p := range r.open {
		if r.isDue(p, now) {
			return true
		}
	}
	return slices.ContainsFunc(r.sealed, func(p *part) bool { return r.isDue(p, now) })
}

// pending is a part that is being written.
type pending struct {
	part *part
	item dynamo.Item
}

// begin returns what must be written now. The caller must write it and call end. It returns nothing while another
// request writes, so that writes of a part do not overtake one another.
func (r *Recorder) begin() []pending {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	if r.writing || !r.isAnyDue(now) {
		return nil
	}
	var chosen []pending
	for _, p := range r.parts() {
		if !p.changed || p.Kind == usagetable.KindPresence && !r.isDue(p, now) {
			continue
		}
		p.Writes++
		p.WrittenAt = now
		item, err := usagetable.MarshalPart(p.Part, p.content())
		if err != nil {
			r.logger.Error("usage cannot be written", logging.Cause(err))
			continue
		}
		p.changed = false
		chosen = append(chosen, pending{p, item})
	}
	r.talliesAt, r.requestsAt, r.writing = now, now, true
	return chosen
}

// forget drops what cannot be merged any more, because the process was not asked for longer than a day.
func (r *Recorder) forget(now time.Time) {
	final := usage.HourOf(now).Add(-usagetable.Accepted)
	r.sealed = slices.DeleteFunc(r.sealed, func(p *part) bool { return p.Hour.Before(final) })
	maps.DeleteFunc(r.open, func(_ partKey, p *part) bool { return p.Hour.Before(final) })
}

// end ends a write. Parts that were not written are written later. Those that get no more counts are forgotten.
func (r *Recorder) end(failed []*part) {
	hour := usage.HourOf(r.now())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = false
	for _, p := range failed {
		p.changed = true
	}
	r.sealed = slices.DeleteFunc(r.sealed, func(p *part) bool { return !p.changed })
	maps.DeleteFunc(r.open, func(_ partKey, p *part) bool { return !p.changed && p.Hour.Before(hour) })
}

// Write starts to write what must be written now. The returned function waits for it. A failure is logged.
func (r *Recorder) Write(ctx context.Context) (wait func()) {
	chosen := r.begin()
	if chosen == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		var mu sync.Mutex
		var failed []*part
		var writes errgroup.Group
		writes.SetLimit(parallelWrites)
		for _, c := range chosen {
			writes.Go(func() error {
				err := r.store.put(ctx, c.item)
				if err != nil {
					r.logger.WarnContext(ctx, "usage was not written", logging.Cause(err))
					mu.Lock()
					failed = append(failed, c.part)
					mu.Unlock()
				}
				return nil
			})
		}
		_ = writes.Wait()
		r.end(failed)
	}()
	return func() { <-done }
}

// Log logs how many counts were dropped, once a minute.
func (r *Recorder) Log(ctx context.Context, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dropped > 0 && now.Sub(r.loggedAt) >= loggedEvery {
		r.logger.WarnContext(ctx, "usage was not counted", slog.Int("counts", r.dropped))
		r.dropped, r.loggedAt = 0, now
	}
}
