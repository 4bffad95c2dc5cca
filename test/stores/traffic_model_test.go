package stores_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
	"toggleadmin/test/memory"
)

// streams are those of one run.
func streams(run int) []string {
	return []string{fmt.Sprint(run, "a"), fmt.Sprint(run, "b"), fmt.Sprint(run, "c"), fmt.Sprint(run, "i")}
}

// accessLog is what a run's gateway has logged, and how it was cut into deliveries.
type accessLog struct {
	streams    []string
	paths      []string // those that are counted
	lines      map[string][]accesslog.Line
	deliveries []events.CloudwatchLogsEvent
}

// drawAccessLog makes a history: requests around midnights, month ends, a leap day and weeks back, of paths that count and of others.
func drawAccessLog(t *rapid.T, run int) *accessLog {
	h := &accessLog{
		streams: streams(run), paths: []string{fmt.Sprintf("/%d/x", run), fmt.Sprintf("/%d/x/{id}", run)}, lines: map[string][]accesslog.Line{},
	}
	anchors := []time.Time{
		time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 3, 15, 0, 0, 0, 0, time.UTC),
	}
	line := rapid.Custom(func(t *rapid.T) accesslog.Line {
		return accesslog.Line{
			Time: rapid.SampledFrom(anchors).Draw(t, "anchor").
				Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "milliseconds"))*time.Millisecond).
				AddDate(0, 0, rapid.IntRange(-1, 1).Draw(t, "days")),
			Path:   rapid.SampledFrom(append([]string{"-", "/{proxy+}"}, h.paths...)).Draw(t, "path"),
			Status: rapid.SampledFrom([]int{200, 201, 302, 400, 401, 404, 429, 500, 502, 504}).Draw(t, "status"),
		}
	})
	for _, stream := range h.streams {
		lines := rapid.SliceOfN(line, 0, 20).Draw(t, "lines of "+stream)
		for i := range lines {
			lines[i].N = i
		}
		h.lines[stream] = lines
	}
	return h
}

// cut makes deliveries of the history, anew each time.
func (h *accessLog) cut(t *rapid.T) []events.CloudwatchLogsEvent {
	var all []events.CloudwatchLogsEvent
	for _, stream := range h.streams {
		for left := h.lines[stream]; len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(t, "lines in a delivery")
			d, err := accesslog.Delivery(stream, shared.format, left[:n])
			if err != nil {
				t.Fatal(err)
			}
			all, left = append(all, d), left[n:]
		}
	}
	return all
}

// want is what the lines say, by path and day.
func (h *accessLog) want() map[string]traffic.Counts {
	want := map[string]traffic.Counts{}
	for _, lines := range h.lines {
		for i := range lines {
			if !slices.Contains(h.paths, lines[i].Path) {
				continue
			}
			key := lines[i].Path + " " + lines[i].Time.Format(time.DateOnly)
			c := want[key]
			switch {
			case lines[i].Status < 400:
				c.Successful++
			case lines[i].Status < 500:
				c.ClientErrors++
			default:
				c.ServerErrors++
			}
			want[key] = c
		}
	}
	return want
}

// reported is what the reports of the months say of the run's paths.
func (h *accessLog) reported(t *rapid.T, from traffic.Reporter) map[string]traffic.Counts {
	got := map[string]traffic.Counts{}
	for _, period := range []string{"2028-02", "2028-03"} {
		all, err := from.Report(t.Context(), period)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range all {
			if slices.Contains(h.paths, u.APIPath) {
				got[u.APIPath+" "+u.Day.Format(time.DateOnly)] = u.Counts
			}
		}
	}
	return got
}

// spoiler lets some calls fail, as the run draws them; whether they were written is part of it.
type spoiler struct {
	mu   sync.Mutex
	next []string
}

func (b *spoiler) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.next) == 0 {
		return ""
	}
	fault := b.next[0]
	b.next = b.next[1:]
	return fault
}

func (b *spoiler) set(faults ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = faults
}

// model is one of the two places that batches are counted in.
type model struct {
	report traffic.Reporter
	record func(exact bool) traffic.Recorder
}

// models are the fake, which fails by its hooks, and the engine, which fails behind a tap.
func models() map[string]func(testing.TB, *spoiler) model {
	return map[string]func(testing.TB, *spoiler) model{
		"memory": func(_ testing.TB, b *spoiler) model {
			m := memory.New(memory.Hooks{Write: func(string) (bool, error) {
				switch fault := b.take(); fault {
				case "":
					return true, nil
				default:
					return strings.Contains(fault, "applied"), errLost
				}
			}})
			return model{m.Traffic, m.Traffic.Recorder}
		},
		"engine": func(tb testing.TB, b *spoiler) model {
			tb.Helper()
			db := newDatabase(tb)
			client, _ := db.through(tb, func(c *call) (*http.Response, error) {
				switch b.take() {
				case "lost":
					return nil, errLost
				case "applied, lost":
					return c.lose()
				case "applied, cut":
					return c.cut()
				case "conflict":
					return conflict(c)
				case "hang":
					return c.hang()
				case "applied, hang":
					if _, err := c.pass(); err != nil {
						return nil, err
					}
					return c.hang()
				}
				return c.pass()
			})
			return model{traffic.NewStore(db.client, db.tables), func(exact bool) traffic.Recorder { return db.ledger(client, exact) }}
		},
	}
}

// TestTrafficModel delivers histories: duplicated, reordered, late, at once, through faults, and by event also cut anew each time. What
// is reported is never more than what was logged, and in the end exactly that.
func TestTrafficModel(t *testing.T) {
	t.Parallel()
	faults := []string{"", "", "lost", "applied, lost", "applied, cut", "conflict", "hang", "applied, hang"}
	for name, newModel := range models() {
		for _, exact := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", exact ", exact), func(t *testing.T) {
				t.Parallel()
				b := &spoiler{}
				m, run := newModel(t, b), 0
				rapid.Check(t, func(t *rapid.T) {
					run++
					h := drawAccessLog(t, run)
					h.deliveries = h.cut(t)
					paths, err := traffic.ParsePaths(strings.Join(h.paths, " "))
					if err != nil {
						t.Fatal(err)
					}
					log := &traffic.Log{Recorder: m.record(exact), Paths: paths, Now: later, Logger: slog.New(slog.DiscardHandler)}
					for range rapid.IntRange(0, 3).Draw(t, "rounds") {
						all := h.deliveries
						if exact && rapid.Bool().Draw(t, "cut anew") {
							all = h.cut(t)
						}
						if len(all) == 0 {
							break
						}
						some := rapid.SliceOfN(rapid.SampledFrom(all), 1, 6).Draw(t, "deliveries")
						b.set(rapid.SliceOfN(rapid.SampledFrom(faults), 0, 4).Draw(t, "faults")...)
						deliver(t, log, some, 540*time.Millisecond) // 500 of them are the handler's margin
						b.set()
						atMost(t, h.reported(t, m.report), h.want())
					}
					deliver(t, log, rapid.Permutation(h.deliveries).Draw(t, "order"), time.Minute)
					if diff := cmp.Diff(h.want(), h.reported(t, m.report)); diff != "" {
						t.Fatal(diff)
					}
				})
			})
		}
	}
}

// deliver gives the log deliveries, two at once. One that fails is as if it had not come.
func deliver(t *rapid.T, log *traffic.Log, all []events.CloudwatchLogsEvent, patience time.Duration) {
	var group sync.WaitGroup
	for half := range 2 {
		group.Go(func() {
			for i := half; i < len(all); i += 2 {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				_, _ = log.Deliver(ctx, all[i])
				cancel()
			}
		})
	}
	group.Wait()
}

// atMost fails the test where more is reported than was logged.
func atMost(t *rapid.T, got, want map[string]traffic.Counts) {
	for key, c := range got {
		w := want[key]
		if c.Successful > w.Successful || c.ClientErrors > w.ClientErrors || c.ServerErrors > w.ServerErrors {
			t.Fatalf("%s: %+v reported, %+v logged", key, c, w)
		}
	}
}
