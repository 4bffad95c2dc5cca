package staleness_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/test/database"
)

// publisher is a bus.
type publisher func(ctx context.Context, events []event.Event) []error

func (p publisher) Publish(ctx context.Context, events []event.Event) []error { return p(ctx, events) }

// rejecting returns a bus that rejects each event as often as the function says, and the number of calls and of accepted events.
func rejecting(times func(e event.Event) int) (p publisher, calls, accepted *int) {
	var mu sync.Mutex
	rejected := map[string]int{}
	calls, accepted = new(int), new(int)
	return func(_ context.Context, events []event.Event) []error {
		mu.Lock()
		defer mu.Unlock()
		*calls++
		errs := make([]error, len(events))
		for i, e := range events {
			if rejected[e.ID] < times(e) {
				rejected[e.ID]++
				errs[i] = errBroken
			} else {
				*accepted++
			}
		}
		return errs
	}, calls, accepted
}

// Events are sent in batches. Only those that the bus rejects are sent again. Only toggles whose events the bus has stored are cleared.
func TestRejectedEvents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		times    func(e event.Event) int
		accepted int
		calls    int // maximum
		failed   bool
	}{
		"none":                 {func(event.Event) int { return 0 }, 1000, 120, false},
		"each, twice":          {func(event.Event) int { return 2 }, 1000, 360, false},
		"one in ten, once":     {func(e event.Event) int { return strings.Count(e.Subject[len(e.Subject)-1:], "0") }, 1000, 240, false},
		"one toggle, for ever": {func(e event.Event) int { return 20 * strings.Count(e.Subject, "toggle0123") }, 999, 140, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bus, calls, accepted := rejecting(tt.times)
				c := newCrowd(1000)
				c.bus = bus
				r := c.evaluate(t.Context(), "release")[0]
				if r.Flagged != 1000 || r.Err != nil {
					t.Errorf("%+v", r)
				}
				if *accepted != tt.accepted || c.cleared != tt.accepted || *calls > tt.calls {
					t.Errorf("%d events after %d calls, %d cleared", *accepted, *calls, c.cleared)
				}
				if a := c.announced; a.Sent != tt.accepted || a.Left != 1000-tt.accepted || (a.Err != nil) != tt.failed {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

// A bus that is unavailable delays flips only for a short time. Nothing is cleared.
func TestUnavailableBus(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"fails": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, calls := newCrowd(10_000), 0
				var mu sync.Mutex
				c.bus = publisher(func(ctx context.Context, events []event.Event) []error {
					mu.Lock()
					calls++
					mu.Unlock()
					if hangs {
						<-ctx.Done()
					}
					return slices.Repeat([]error{errBroken}, len(events))
				})
				r := c.evaluate(t.Context(), "release")[0]
				if r.Flagged != 10_000 || r.Err != nil || r.Took > 6*time.Second {
					t.Errorf("%+v", r)
				}
				if a := c.announced; calls > 100 || c.cleared != 0 || a.Sent != 0 || a.Left != 10_000 || a.Err == nil {
					t.Errorf("%d calls, %d cleared, %+v", calls, c.cleared, a)
				}
			})
		})
	}
}

// bus is the events that were sent.
type bus struct {
	mu  sync.Mutex
	all []event.Event
}

// newBus returns a bus that stores events.
func newBus() (publisher, *bus) {
	b := &bus{}
	return func(_ context.Context, events []event.Event) []error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.all = append(b.all, events...)
		return make([]error, len(events))
	}, b
}

// A run sends the events of its flips and of the types at once. A sweep sends what is left after ten seconds.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	s := newStage(t, "")
	publish, bus := newBus()
	toggles := feature.NewFlagStore(s.db.Client, s.db.Tables, "s")
	types := s.types.Announcing("s", noon)
	s.Evaluator.Toggles, s.Evaluator.Types, s.Evaluator.Publisher = toggles, types, publish
	_, err := types.SetLifetime(t.Context(), "a", new(int64(6)))
	check(t, err)
	sent := func(want string) {
		t.Helper()
		var subjects []string
		for _, e := range bus.all {
			subjects = append(subjects, e.Subject)
		}
		slices.Sort(subjects)
		if got := strings.Join(subjects, ","); got != want {
			t.Errorf("sent: %s, want %s", got, want)
		}
		bus.all = nil
	}
	s.stream(t.Context(), t, changed("1", "a", 7, 6))
	sent("a,of a")
	if !strings.Contains(s.log.String(), `"level":"INFO","msg":"changes announced","trigger":"stream","sent":2,"left":0}`) {
		t.Error(s.log.String())
	}
	_, _, err = toggles.Flip(t.Context(), feature.Range{Type: "b", Shard: feature.Shard("of b")},
		feature.Indexed{Name: "of b", CreatedAt: datetime.Format(noon().AddDate(0, 0, -8))}, noon())
	check(t, err)
	for i, want := range []string{"", "of b", ""} { // too young, sent, nothing left
		s.Evaluator.Now = func() time.Time { return noon().Add(time.Duration(i*10) * time.Second) }
		_, err := s.Sweep(t.Context(), nil)
		check(t, err)
		sent(want)
	}
}

// A sweep that cannot send an event reports an error, and so does one that cannot read what is to be sent.
func TestSweepDoesNotAnnounce(t *testing.T) {
	t.Parallel()
	for _, fails := range []string{"", "Query", "GetItem"} {
		t.Run(fails, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "")
			client, _ := s.db.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == fails && (fails == "GetItem" || strings.Contains(c.Body, "announcements")) {
					return c.Refuse("AccessDeniedException")
				}
				return c.Pass()
			})
			s.Evaluator.Toggles = feature.NewFlagStore(client, s.db.Tables, "s")
			s.Evaluator.Publisher = publisher(func(_ context.Context, events []event.Event) []error {
				return slices.Repeat([]error{errBroken}, len(events))
			})
			s.Evaluator.Now = func() time.Time { return noon().Add(-time.Minute) }
			_, err := s.Sweep(t.Context(), nil)
			if err == nil {
				t.Error("no error")
			}
			s.Evaluator.Now = noon
			if _, err := s.Sweep(t.Context(), nil); err == nil || s.flagged(t) != "a b" {
				t.Error(err, s.flagged(t))
			}
			if !strings.Contains(s.log.String(), `"level":"ERROR","msg":"changes announced"`) {
				t.Error(s.log.String())
			}
		})
	}
}

// A run that ends leaves events. That is not an error, because the next sweep sends it.
func TestNoTimeToAnnounce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(1000)
		ctx, end := context.WithCancel(t.Context())
		c.fail = func(call, _ int) error {
			if call == 100 {
				end()
			}
			return nil
		}
		c.bus = publisher(func(_ context.Context, events []event.Event) []error {
			return make([]error, len(events))
		})
		r := c.evaluate(ctx, "release")[0]
		if a := c.announced; a.Left == 0 || a.Left != r.Flagged-a.Sent || a.Err != nil {
			t.Errorf("%+v, %+v", r, a)
		}
	})
}
