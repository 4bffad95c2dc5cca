package stores_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/traffic"
)

// batchOf makes a batch whose identity is the name.
func batchOf(name string, requests ...traffic.Request) *traffic.Batch {
	return &traffic.Batch{ID: name, Shard: traffic.Shard(name), Requests: requests, Events: len(requests)}
}

// requestAt is a successful request of a path on a day of November 2026.
func requestAt(path string, day, n int) traffic.Request {
	return traffic.Request{
		Event: fmt.Sprint(path, day, "-", n), APIPath: path, Day: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC), Group: traffic.Successful,
	}
}

// counted says whether the path has so many successful requests in November 2026.
func counted(ctx context.Context, db *database, path string, want int64) error {
	all, err := traffic.NewStore(db.client, db.tables).Report(ctx, "2026-11")
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, u := range all {
		if u.APIPath == path {
			sum += u.Counts.Successful
		}
	}
	return must(sum == want)
}

// many is a batch of more items than a transaction holds: 3 paths on each day of 70, two requests each.
func many() *traffic.Batch {
	var requests []traffic.Request
	for day := range 70 {
		for _, path := range []string{"/a", "/b", "/c"} {
			requests = append(requests, requestAt(path, 1+day, 0), requestAt(path, 1+day, 1))
		}
	}
	return batchOf("many", requests...)
}

// batches is what a Recorder promises, whichever way it knows again what it has counted.
func batches(exact bool) []property {
	report := func(t *testing.T, g *ground, want []traffic.Usage) {
		t.Helper()
		var got []traffic.Usage
		for _, period := range []string{"2026-10", "2026-11", "2026-12", "2027-01"} {
			all, err := g.Traffic.Report(t.Context(), period)
			check(t, err)
			got = append(got, all...)
		}
		slices.SortFunc(got, func(a, b traffic.Usage) int {
			return strings.Compare(a.APIPath+a.Day.String(), b.APIPath+b.Day.String())
		})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	record := func(t *testing.T, g *ground, b *traffic.Batch, counted, duplicate int) {
		t.Helper()
		done, err := g.Recorder(exact).Record(t.Context(), b)
		check(t, err)
		if done.Counted != counted || done.Duplicate != duplicate {
			t.Errorf("%+v, want %d counted and %d duplicate", done, counted, duplicate)
		}
	}
	return []property{
		{"a batch without requests leaves nothing", func(t *testing.T, g *ground) {
			record(t, g, batchOf("empty"), 0, 0)
			report(t, g, nil)
		}},
		{"every group and day, once, however often it comes", func(t *testing.T, g *ground) {
			b := batchOf("b", requestAt("/a", 30, 0), requestAt("/a", 30, 1), requestAt("/a", 31, 0), requestAt("/b", 0, 0))
			b.Requests[1].Group, b.Requests[3].Group = traffic.ServerError, traffic.ClientError
			record(t, g, b, 4, 0)
			record(t, g, b, 0, 4)
			record(t, g, b, 0, 4)
			day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
			report(t, g, []traffic.Usage{
				{APIPath: "/a", Day: day(30), Counts: traffic.Counts{Successful: 1, ServerErrors: 1}},
				{APIPath: "/a", Day: day(31), Counts: traffic.Counts{Successful: 1}},
				{APIPath: "/b", Day: day(0), Counts: traffic.Counts{ClientErrors: 1}},
			})
		}},
		{"more items than a transaction holds", func(t *testing.T, g *ground) {
			record(t, g, many(), 420, 0)
			record(t, g, many(), 0, 420)
			report(t, g, traffic.Tally(many().Requests))
		}},
		{"batches at once on the same items", func(t *testing.T, g *ground) {
			const each, deliveries = 30, 2
			atOnce(clients*deliveries, func(i int) {
				b := batchOf(fmt.Sprint(i % clients))
				for n := range each {
					b.Requests = append(b.Requests, requestAt("/a", 1, i%clients*each+n))
				}
				if _, err := g.Recorder(exact).Record(t.Context(), b); err != nil {
					t.Error(err)
				}
			})
			report(t, g, []traffic.Usage{{
				APIPath: "/a", Day: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Counts: traffic.Counts{Successful: clients * each},
			}})
		}},
	}
}

// TestRecutBatches: what comes again in a batch of another cut counts twice by batch, once by event.
func TestRecutBatches(t *testing.T) {
	t.Parallel()
	a, b, c := requestAt("/a", 1, 0), requestAt("/a", 1, 1), requestAt("/a", 1, 2)
	for name, ground := range grounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for exact, want := range map[bool]int64{false: 5, true: 3} {
				g := ground(t)
				for _, delivery := range []*traffic.Batch{batchOf("1", a, b), batchOf("2", b, c), batchOf("3", a)} {
					_, err := g.Recorder(exact).Record(t.Context(), delivery)
					check(t, err)
				}
				all, err := g.Traffic.Report(t.Context(), "2026-11")
				check(t, err)
				if len(all) != 1 || all[0].Counts.Successful != want {
					t.Errorf("exact %t: %+v, want %d", exact, all, want)
				}
			}
		})
	}
}

// TestTrafficItems: as others may read them.
func TestTrafficItems(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	b := batchOf("b", requestAt("/a/{id}", 1, 0), requestAt("/a/{id}", 1, 1))
	b.Requests[1].Group, b.Shard = traffic.ServerError, 5
	_, err := db.ledger(db.client, false).Record(t.Context(), b)
	check(t, err)
	var got []string
	for _, item := range db.scan(t, "Traffic") {
		got = append(got, text(dynamo.M(item)))
	}
	slices.Sort(got)
	want := []string{
		fmt.Sprintf("expiresAt=%d pathDayShard=- period=batch#b ", later().AddDate(0, 0, 30).Unix()),
		"pathDayShard=/a/{id}#2026-11-01#5 period=2026-11 serverErrors=1 successfulRequests=1 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestConflicts: batches meet on the same items as on AWS, nine times of ten, and all are counted.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, exact := range []bool{false, true} {
		db := newDatabase(t)
		conflicts := new(atomic.Int64)
		client, _ := db.through(t, func(c *call) (*http.Response, error) {
			if c.operation == "TransactWriteItems" && c.n%10 != 0 {
				conflicts.Add(1)
				return conflict(c)
			}
			return c.pass()
		})
		atOnce(clients, func(i int) {
			done, err := db.ledger(client, exact).Record(within(t, 20*time.Second), batchOf(fmt.Sprint(i), requestAt("/a", 1, i), requestAt("/b", 1, i)))
			if err != nil || done.Counted != 2 {
				t.Errorf("exact %t: %+v, %v", exact, done, err)
			}
		})
		check(t, errors.Join(counted(t.Context(), db, "/a", clients), counted(t.Context(), db, "/b", clients)))
		if got := conflicts.Load(); got < clients*9/2 {
			t.Errorf("%d conflicts", got)
		}
	}
}

// TestConflictsThatStay: at the deadline nothing is written, and the delivery after that counts.
func TestConflictsThatStay(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	client, _ := db.through(t, conflict)
	_, err := db.ledger(client, false).Record(within(t, 50*time.Millisecond), many())
	unavailable(t, err)
	if found := db.scan(t, "Traffic"); len(found) != 0 {
		t.Errorf("%d items", len(found))
	}
	done, err := db.ledger(db.client, false).Record(t.Context(), many())
	check(t, err)
	if done.Counted != 420 || done.Writes != 3 {
		t.Errorf("%+v", done)
	}
}

// TestEndBetweenParts: a batch of three parts whose process ends at each of its calls, before and after the write, counts once.
func TestEndBetweenParts(t *testing.T) {
	t.Parallel()
	for _, exact := range []bool{false, true} {
		for _, persist := range []bool{false, true} {
			for k := 1; k <= 3; k++ {
				t.Run(fmt.Sprintf("exact %t, persists %t, call %d", exact, persist, k), func(t *testing.T) {
					t.Parallel()
					db := newDatabase(t)
					ctx, end := context.WithCancel(t.Context())
					defer end()
					client, _ := db.through(t, func(c *call) (*http.Response, error) {
						if c.n < k {
							return c.pass()
						}
						defer end()
						if persist {
							return c.lose()
						}
						return nil, errLost
					})
					if _, err := db.ledger(client, exact).Record(ctx, many()); err == nil {
						t.Fatal("it did not end")
					}
					done, err := db.ledger(db.client, exact).Record(t.Context(), many())
					check(t, err)
					if done.Counted+done.Duplicate != 420 {
						t.Errorf("%+v", done)
					}
					check(t, counted(t.Context(), db, "/a", 60))
				})
			}
		}
	}
}
