package counting

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/logging"
)

// How long what was counted can wait for its write, since the last one.
const (
	talliesEvery   = 10 * time.Second // and applications that are new
	requestsEvery  = time.Minute      // if there are only requests
	instancesEvery = time.Minute      // that are new
	presenceEvery  = 10 * time.Minute // of each presence
	loggedEvery    = time.Minute
)

const (
	writeTimeout   = 2 * time.Second
	parallelWrites = 8
	partIDBytes    = 8
)

// Recorder counts what applications use, and writes it to the table Usage. It is safe for concurrent use.
//
// What is counted belongs to a part, which is an item that only this process writes. A write replaces the whole item,
// so that a repeated one counts nothing twice. One that fails is repeated later. A part of an hour that is over is kept
// until the end of the next hour, or until it is written.
type Recorder struct {
	store    usageStore
	now      func() time.Time
	random   io.Reader
	logger   *slog.Logger
	function string

	mu           sync.Mutex
	books        map[bookKey]book
	used         map[quotaKey]*quota
	size         int       // of all parts, estimated, in bytes
	frontendSize int       // of those of frontend tokens
	talliesAt    time.Time // of the last attempt to write
	requestsAt   time.Time // of the last attempt to write, or of the start of the process
	writing      bool
	lost         losses
	loggedAt     time.Time
}

// losses is what was not counted as it was reported, and is not logged yet.
type losses struct {
	failed  int   // writes, which are repeated
	dropped int   // counts that could not be written
	limited int   // counts that exceed a limit
	cause   error // of a failed write
}

// New returns a Recorder.
func New(c Config) *Recorder {
	return &Recorder{
		store:      usageStore{c.DynamoDB, c.Tables[usagetable.Table]},
		now:        c.Now,
		random:     c.Random,
		logger:     c.Logger,
		function:   c.Function,
		books:      map[bookKey]book{},
		used:       map[quotaKey]*quota{},
		requestsAt: c.Now(),
	}
}

// parts returns all parts, in a fixed order.
func (r *Recorder) parts() []*part {
	var all []*part
	for _, b := range r.books {
		all = append(all, b...)
	}
	slices.SortFunc(all, func(a, b *part) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.ID, b.ID))
	})
	return all
}

// CountRequest counts a request by its path and status.
func (r *Recorder) CountRequest(path string, status int) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.onePart(bookKey{usagetable.KindRequests, usage.HourOf(now), ""})
	if p == nil {
		r.lose()
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
	r.change(p, r.requestsAt.Add(requestsEvery), now)
}

// heard records that the process has heard from an instance of an application, and what it said of the application.
func (r *Recorder) heard(from Reporter, application string, a usage.Application, id string, i usage.Instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	hour := usage.HourOf(i.SeenAt)
	quotas := r.quotas(from, period{inHour, hour})
	kind := usagetable.KindPresence
	if from.isFrontend() {
		kind = usagetable.KindFrontendPresence
	}
	p := r.onePart(bookKey{kind, hour, from.Token.Environment})
	if p == nil {
		r.lose()
		return
	}
	known, isKnown := p.presence[application]
	earlier, isKnownInstance := known.Instances[id]
	if len(known.Strategies)+len(a.Strategies) > maxStrategies {
		a.Strategies = nil
	}
	size := 0
	if !isKnown {
		size += len(application) + entrySize
	}
	if !isKnown || hasOthers(a, known) {
		for _, name := range slices.Concat(a.Projects, a.Strategies) {
			size += len(name) + entrySize
		}
	}
	if !isKnownInstance {
		size += len(id) + len(i.SDK) + entrySize
	}
	if size > 0 && (p.size+size > maxPartSize || !r.hasRoom(from.isFrontend(), size) || !quotas.admits(application)) ||
		!isKnownInstance && !quotas.addInstance() {
		r.lost.limited++
		return
	}
	r.grow(p, size)
	if !isKnown || hasOthers(a, known) {
		quotas.add(application)
		p.presence.Merge(usage.Presence{application: a})
		known = p.presence[application]
	}
	i.SDK = cmp.Or(i.SDK, earlier.SDK)
	known.Instances[id] = i
	dueAt := p.WrittenAt.Add(presenceEvery)
	switch {
	case !isKnown:
		dueAt = r.talliesAt.Add(talliesEvery)
	case !isKnownInstance:
		dueAt = p.WrittenAt.Add(instancesEvery)
	}
	r.change(p, dueAt, i.SeenAt)
}

// hasOthers reports whether an application has projects or strategies that are not known.
func hasOthers(a, known usage.Application) bool {
	others := func(names, known []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	}
	return others(a.Projects, known.Projects) || others(a.Strategies, known.Strategies)
}

// use is how often an application used a toggle.
type use struct {
	at          time.Time // in the hour in which it counts
	feature     string
	application string
	counts      usage.Counts
}

// countUses counts the use of toggles by a reporter. Names that it does not know are counted apart.
func (r *Recorder) countUses(from Reporter, uses []use, toggles map[string]Toggle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	kind := usagetable.KindTally
	if from.isFrontend() {
		kind = usagetable.KindFrontendTally
	}
	for _, u := range uses {
		c := counter{
			Recorder: r,
			now:      now,
			key:      bookKey{kind, usage.HourOf(u.at), from.Token.Environment},
			period:   periodOf(usage.HourOf(u.at), now),
		}
		c.quotas = r.quotas(from, c.period)
		if t, ok := toggles[u.feature]; ok && from.Token.Includes(t.Project) {
			c.count(u, t)
		} else {
			c.countUnknown(u, r.quotas(from, period{inDay, today(now)}))
		}
	}
}

// counter counts the uses of a reporter in an hour.
type counter struct {
	*Recorder
	now    time.Time
	key    bookKey
	period period
	quotas quotas
}

// count counts the use of a toggle: by the application, by usage.Other if the application exceeds a limit, and not at
// all if the process keeps too much, or has counted too much of hours before the last one.
func (c counter) count(u use, t Toggle) {
	p := c.place(u.feature, u.application, c.books[c.key].with)
	if p == nil && u.application != usage.Other {
		c.lost.limited++
		u.application = usage.Other
		p = c.place(u.feature, u.application, c.books[c.key].with)
	}
	if p == nil {
		c.lose()
		return
	}
	counts := usage.Counts{Yes: u.counts.Yes, No: u.counts.No}
	known := p.tally.Features[u.feature][u.application]
	if len(u.counts.Variants) > 0 {
		counts.Variants = map[string]int64{}
	}
	for _, name := range slices.Sorted(maps.Keys(u.counts.Variants)) {
		n := u.counts.Variants[name]
		if name != noVariant && !slices.Contains(t.Variants, name) {
			name = usage.Other
		}
		_, isKnown := known.Variants[name]
		_, isCounted := counts.Variants[name]
		if !isKnown && !isCounted {
			if p.size+len(name)+entrySize > maxGrownSize {
				name = usage.Other
			}
			c.grow(p, len(name)+entrySize)
		}
		counts.Variants[name] += n
	}
	p.tally.Add(u.feature, u.application, counts)
	p.tally.See(u.feature, u.at)
	c.change(p, c.talliesAt.Add(talliesEvery), c.now)
}

// countUnknown counts a report about a name without a toggle, if it is one of the first of the day.
func (c counter) countUnknown(u use, names quotas) {
	u.feature = cut(u.feature)
	if !names.admits(u.feature) {
		c.lost.limited++
		return
	}
	p := c.place(u.feature, u.application, c.books[c.key].withUnknown)
	if p == nil {
		u.application = usage.Other
		p = c.place(u.feature, u.application, c.books[c.key].withUnknown)
	}
	if p == nil {
		c.lost.limited++
		return
	}
	names.add(u.feature)
	p.tally.AddUnknown(u.feature, u.application, 1)
	c.change(p, c.talliesAt.Add(talliesEvery), c.now)
}

// place returns the part for an application of a toggle, or nil if a limit is reached.
func (c counter) place(feature, application string, with func(feature, application string) *part) *part {
	if p := with(feature, application); p != nil {
		return p
	}
	size := len(feature) + len(application) + 2*entrySize
	isLimited := application != usage.Other || c.period.kind == late
	if isLimited && (!c.quotas.admits(application) || !c.quotas.hasRoom(size)) {
		return nil
	}
	p := c.partFor(c.key, size)
	if p == nil {
		return nil
	}
	if isLimited {
		c.quotas.add(application)
		c.quotas.grow(size)
	}
	c.grow(p, size)
	return p
}

// lose notes that something was not counted: because the process keeps too much that it could not write, or because of
// another limit.
func (r *Recorder) lose() {
	if r.hasRoom(false, maxPartSize) {
		r.lost.limited++
	} else {
		r.lost.dropped++
	}
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
	if r.writing {
		return nil
	}
	r.forget(now)
	parts := r.parts()
	if !slices.ContainsFunc(parts, func(p *part) bool { return p.isDue(now) }) {
		return nil
	}
	var chosen []pending
	for _, p := range parts {
		if !p.changed || p.isPresence() && !p.isDue(now) {
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

// forget drops parts of hours that are over and were written, and those that cannot be merged any more, because the
// process was not asked, or could not write, for longer than a day.
func (r *Recorder) forget(now time.Time) {
	running := usage.HourOf(now)
	for key, b := range r.books {
		kept := slices.DeleteFunc(b, func(p *part) bool {
			isLost := p.Hour.Before(running.Add(-usagetable.Accepted))
			if !isLost && (p.changed || !p.Hour.Before(running) || !p.usedAt.Before(running)) {
				return false
			}
			if p.changed {
				r.lost.dropped += p.unsaved
			}
			r.grow(p, -p.size)
			return true
		})
		if r.books[key] = kept; len(kept) == 0 {
			delete(r.books, key)
		}
	}
	maps.DeleteFunc(r.used, func(key quotaKey, _ *quota) bool { return key.isOver(now) })
}

// end ends a write. Parts that were not written are written at the next chance.
func (r *Recorder) end(chosen []pending, errs []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = false
	for i, c := range chosen {
		if errs[i] == nil {
			if !c.part.changed {
				c.part.unsaved = 0
			}
			continue
		}
		r.lost.failed++
		r.lost.cause = errs[i]
		c.part.changed, c.part.dueAt = true, r.talliesAt.Add(talliesEvery)
	}
}

// StartWriting starts to write what must be written now, and returns what waits for that. A failure is logged by Log.
func (r *Recorder) StartWriting(ctx context.Context) *sync.WaitGroup {
	var writing sync.WaitGroup
	chosen := r.begin()
	if chosen == nil {
		return &writing
	}
	writing.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		errs := make([]error, len(chosen))
		var writes errgroup.Group
		writes.SetLimit(parallelWrites)
		for i, c := range chosen {
			writes.Go(func() error {
				errs[i] = r.put(ctx, c)
				return nil
			})
		}
		_ = writes.Wait()
		r.end(chosen, errs)
	})
	return &writing
}

// put writes a part. If its hour may have been merged before, it notes that the hour must be merged again.
func (r *Recorder) put(ctx context.Context, c pending) error {
	err := r.store.put(ctx, c.item)
	if err == nil && c.part.isTally() && c.part.Hour.Before(usage.HourOf(c.part.WrittenAt)) {
		err = r.store.putLate(ctx, usagetable.MarshalLate(c.part.Part))
	}
	return err
}

// Log logs what was not counted or not written, once a minute, with metrics of the function.
func (r *Recorder) Log(ctx context.Context, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost.failed+r.lost.dropped+r.lost.limited == 0 || now.Sub(r.loggedAt) < loggedEvery {
		return
	}
	line := []slog.Attr{
		slog.Int("usageFailed", r.lost.failed), slog.Int("usageDropped", r.lost.dropped),
		slog.Int("usageLimited", r.lost.limited),
	}
	line = append(line, logging.Metrics("ToggleAdmin/Delivery", r.function, now, line,
		logging.Metric{Name: "usageFailed", Unit: "Count"}, logging.Metric{Name: "usageDropped", Unit: "Count"})...)
	if r.lost.cause != nil {
		line = append(line, logging.Cause(r.lost.cause))
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "usage was not counted", line...)
	r.lost, r.loggedAt = losses{}, now
}
