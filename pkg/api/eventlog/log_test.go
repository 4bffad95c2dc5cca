package eventlog_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

func start() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) }

// fixture is a log whose clock can be set.
type fixture struct {
	*database.Database
	*eventlog.Log
	now time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{Database: database.New(tb), now: start()}
	f.Log = eventlog.New(f.Client, f.Tables, func() time.Time { return f.now }, 400)
	return f
}

// record appends the event of a change and returns its id.
func (f *fixture) record(ctx context.Context, tb testing.TB, c eventlog.Change) (id int64) {
	tb.Helper()
	failures, err := f.Transact(ctx, func() ([]types.TransactWriteItem, error) {
		var put []types.TransactWriteItem
		var err error
		id, put, err = f.Record(ctx, c)
		return put, err
	})
	if err != nil || failures != nil {
		tb.Fatal(failures, err)
	}
	return id
}

func (f *fixture) search(tb testing.TB, filter eventlog.Filter, offset, limit int) (ids []int64, total int) {
	tb.Helper()
	page, total, err := f.Search(tb.Context(), filter, offset, limit)
	assert.OK(tb, err)
	for _, e := range page {
		ids = append(ids, e.ID)
	}
	return ids, total
}

func created(name string) eventlog.Change {
	return eventlog.Change{
		Type: eventlog.FeatureCreated, Subject: eventlog.Subject("toggle:" + name), FeatureName: name, Project: "default",
		Data: map[string]any{"name": name},
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx := access.WithPrincipal(lambdahttp.WithGateway(t.Context(), lambdahttp.Gateway{RequestID: "r"}),
		access.Principal{ID: "user:7", UserID: 7, Name: "Ada", TokenID: "12"})
	id := f.record(ctx, t, eventlog.Change{
		Type: eventlog.ContextFieldUpdated, Subject: "field:plan", Data: map[string]any{"a": 1},
		PreData: map[string]any{"a": 2},
	})
	page, total, err := f.Search(t.Context(), eventlog.Filter{}, 0, 1)
	want := []eventlog.Event{{
		ID: id, Type: eventlog.ContextFieldUpdated, Subject: "field:plan",
		By:        eventlog.Actor{Name: "Ada", UserID: 7, TokenID: "12"},
		RequestID: "r", Data: json.RawMessage(`{"a":1}`), PreData: json.RawMessage(`{"a":2}`),
	}}
	assert.OK(t, err)
	assert.Equal(t, want, page)
	assert.Equal(t, 1, total)
	assert.Equal(t, start(), page[0].CreatedAt())
	assert.Equal(t, start().AddDate(0, 0, 400).Unix(), f.Scan(t, f.Tables.Events)[0].Int("expiresAt"))
}

func TestActor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	operator := eventlog.Actor{Name: "operator ada"}
	f.record(eventlog.WithActor(t.Context(), operator), t, created("a"))
	f.now = f.now.Add(time.Second)
	f.record(t.Context(), t, created("b"))
	page, _, err := f.Search(t.Context(), eventlog.Filter{}, 0, 2)
	if err != nil || page[1].By != operator || page[0].By != eventlog.System {
		t.Error(page, err)
	}
}

// TestIDsRise checks that ids rise within a process and above the subject's last event, even if the clock does not.
func TestIDsRise(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.record(t.Context(), t, created("a"))
	f.now = f.now.Add(-time.Hour)
	c := created("b")
	if second := f.record(t.Context(), t, c); second <= first || second >= 1<<53 {
		t.Errorf("%d after %d", second, first)
	}
	c.Last = 4e15
	var ahead []int64
	for range 2 {
		ahead = append(ahead, f.record(t.Context(), t, c))
	}
	if ahead[0] <= c.Last || ahead[0] == ahead[1] {
		t.Errorf("%d after %d", ahead, c.Last)
	}
	f.now = f.now.Add(2 * time.Hour)
	if id := f.record(t.Context(), t, created("d")); !eventlog.TimeOf(id).Equal(f.now) {
		t.Errorf("an event after one that is ahead of the clock is at %v", eventlog.TimeOf(id))
	}
}

// TestEqualIDs checks that an event gets another id if another process has issued the same one.
func TestEqualIDs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := *f
	other.Log = eventlog.New(f.Client, f.Tables, func() time.Time { return start() }, 0)
	ids := []int64{f.record(t.Context(), t, created("a")), other.record(t.Context(), t, created("a"))}
	if ids[1] <= ids[0] {
		t.Error(ids)
	}
}

// TestDelayedTransaction checks that a transaction that was refused, although its first attempt got no response, is not
// carried out when that attempt arrives later, and that one that was carried out succeeds even if the engine has
// forgotten it.
func TestDelayedTransaction(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]bool{"later": false, "at once": true, "later, and not prevented": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			token, taken := regexp.MustCompile(`"ClientRequestToken":"[^"]*"`), dynamo.Item{"id": dynamo.S("taken")}
			var first *database.Call
			refused := name == "later, and not prevented"
			client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
				if c.Operation == "PutItem" && refused {
					return c.Refuse("ValidationException")
				}
				if c.Operation != "TransactWriteItems" || c.N > 2 {
					return c.Pass()
				}
				if c.N == 1 {
					if first = c; arrives {
						return c.Lose()
					}
					return nil, io.ErrUnexpectedEOF
				}
				if c.Body = token.ReplaceAllString(c.Body, `"ClientRequestToken":"other"`); !arrives {
					f.Put(t, f.Tables.APITokens, taken)
				}
				return c.Pass()
			})
			log := eventlog.New(client, f.Tables, func() time.Time { return f.now }, 0)
			failures, err := log.Transact(t.Context(), func() ([]types.TransactWriteItem, error) {
				_, record, err := log.Record(t.Context(), created("a"))
				return append(record, dynamo.NewItem(f.Tables.APITokens, "id", taken)), err
			})
			if refused {
				if !dynamo.ResultUnknown(err) {
					t.Error(err)
				}
				return
			}
			if err != nil || (failures == nil) != arrives {
				t.Fatal(failures, err)
			}
			want := 1
			if !arrives {
				want = 0
				f.Delete(t, f.Tables.APITokens, taken)
				response, err := first.Pass()
				assert.OK(t, err)
				if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusBadRequest {
					t.Error("the first attempt was carried out", err)
				}
				if items := f.Scan(t, f.Tables.Events); len(items) != 1 || items[0].Int("expiresAt") != start().AddDate(0, 0,
					2).Unix() {
					t.Error(items)
				}
			}
			if ids, total := f.search(t, eventlog.Filter{}, 0, 10); total != want || len(ids) != want {
				t.Errorf("%d events, found %v, want %d", total, ids, want)
			}
		})
	}
}

// TestDeletedSubject checks that the events of a subject rise if it is deleted and created again by a process whose
// clock is behind.
func TestDeletedSubject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const subject = "toggle:a"
	var last int64
	_, err := f.Transact(t.Context(), func() ([]types.TransactWriteItem, error) {
		id, put, err := f.Record(t.Context(), eventlog.Change{Type: eventlog.FeatureDeleted, Subject: subject})
		last = id
		return append(put, f.Deleted(subject, id)...), err
	})
	assert.OK(t, err)
	behind := eventlog.New(f.Client, f.Tables, func() time.Time { return start().Add(-time.Second) }, 0)
	c := created("a")
	for range 2 {
		failures, err := behind.Transact(t.Context(), func() ([]types.TransactWriteItem, error) {
			id, put, err := behind.Record(t.Context(), c)
			return append(put, behind.Created(subject, id)...), err
		})
		assert.OK(t, err)
		if c.Last != 0 {
			if failures != nil {
				t.Error("not created after the last event")
			}
			break
		}
		if failures == nil || !failures[1].Failed || eventlog.LastOf(failures[1]) != last {
			t.Fatalf("%v, last %d", failures, last)
		}
		c.Last = eventlog.LastOf(failures[1])
	}
	if ids, total := f.search(t, eventlog.Filter{}, 0, 10); total != 2 || len(ids) != 2 {
		t.Error("the marker of the deleted toggle is an event:", ids, total)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []int64
	add := func(by eventlog.Actor, c eventlog.Change) {
		ids = append(ids, f.record(eventlog.WithActor(t.Context(), by), t, c))
		f.now = f.now.Add(12 * time.Hour)
	}
	ada := eventlog.Actor{Name: "Ada", UserID: 1, TokenID: "5"}
	add(ada, created("a")) // 22 November, 10:00
	add(eventlog.System, eventlog.Change{
		Type: eventlog.FeaturePotentiallyStaleOn, Subject: "toggle:a", FeatureName: "a", Project: "default",
		Data: map[string]any{"lifetimeDays": 40, "list": []any{map[string]any{"KEY": "Value"}}},
	})
	add(ada, created("b")) // 23 November, 10:00
	add(eventlog.Actor{Name: "Bob", UserID: 2}, eventlog.Change{
		Type: eventlog.ContextFieldCreated, Subject: "field:plan", Data: map[string]any{"name": "plan"},
	})
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for name, tt := range map[string]struct {
		filter eventlog.Filter
		want   []int // newest first, counted from 0
	}{
		"all":      {eventlog.Filter{}, []int{3, 2, 1, 0}},
		"an id":    {eventlog.Filter{IDs: []int64{ids[2], 77, ids[2]}}, []int{2}},
		"types":    {eventlog.Filter{Types: []string{"feature-created", "context-field-created"}}, []int{3, 2, 0}},
		"a toggle": {eventlog.Filter{Features: []string{"a"}}, []int{1, 0}},
		"toggles": {eventlog.Filter{Features: []string{"b", "a", "b"}, Types: []string{"feature-created"}},
			[]int{2, 0}},
		"a project":       {eventlog.Filter{Projects: []string{"default"}}, []int{2, 1, 0}},
		"a user":          {eventlog.Filter{Users: []int64{1}}, []int{2, 0}},
		"a token":         {eventlog.Filter{Tokens: []string{"5"}, Features: []string{"b"}}, []int{2}},
		"from":            {eventlog.Filter{From: day(23)}, []int{3, 2}},
		"until":           {eventlog.Filter{Until: day(23)}, []int{1, 0}},
		"nothing":         {eventlog.Filter{From: day(24), Until: day(23)}, nil},
		"text in a value": {eventlog.Filter{Text: "vALUE"}, []int{1}},
		"a number":        {eventlog.Filter{Text: "40"}, []int{1}},
		"no member names": {eventlog.Filter{Text: "lifetimeDays"}, nil},
		"text in subject": {eventlog.Filter{Text: "field:PLAN"}, []int{3}},
		"text in actor":   {eventlog.Filter{Text: "ada", Types: []string{"feature-created"}}, []int{2, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []int64
			for _, i := range tt.want {
				want = append(want, ids[i])
			}
			got, total := f.search(t, tt.filter, 0, 10)
			if !slices.Equal(got, want) || total != len(want) {
				t.Errorf("%v of %d, want %v", got, total, want)
			}
			if len(want) < 2 {
				return
			}
			if got, total := f.search(t, tt.filter, 1, 1); !slices.Equal(got, want[1:2]) || total != len(want) {
				t.Errorf("second: %v of %d, want %v", got, total, want)
			}
		})
	}
	var all []int64
	assert.OK(t, f.All(t.Context(), eventlog.Filter{}, func(e eventlog.Event) error {
		all = append(all, e.ID)
		return nil
	}))
	assert.Equal(t, ids, all)
}

func TestEveryTypeHasALabelAndASummary(t *testing.T) {
	t.Parallel()
	for _, kind := range eventlog.Types() {
		e := eventlog.Event{Type: kind, Subject: "kind:x", By: eventlog.Actor{Name: "Ada"}}
		if s := e.Summary(); kind.Label() == "" || strings.Contains(s, string(kind)) || strings.Contains(s, "%!") ||
			!strings.HasSuffix(s, ".") {
			t.Errorf("%s: label %q, summary %q", kind, kind.Label(), s)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind          eventlog.Type
		subject       eventlog.Subject
		data, preData string
		want          string
	}{
		{"feature-type-updated", "type:release", `{"lifetimeDays":1}`, `{"lifetimeDays":null}`,
			"Ada changed the lifetime of the toggle type release from never to 1 day."},
		{"token-expiring", "pat:7", `{"description":"ci","days":1}`, "", "The token 7 (ci) expires in at most 1 day."},
		{"token-expiring", "pat:7", `{"days":14}`, "", "The token 7 expires in at most 14 days."},
		{"feature-potentially-stale-off", "toggle:a", `{"reason":"archived"}`, "",
			"The toggle a is no longer potentially stale (archived)."},
		{"feature-archived", "toggle:a", `{"archived":true}`, `{"archived":false}`, "Ada archived the toggle a."},
		{"feature-stale-on", "toggle:a", `{"stale":true}`, `{"stale":false}`, "Ada marked the toggle a as stale."},
		{"feature-updated", "toggle:a", `{"name":"A","project":"p","type":"x"}`, `{"name":"A","project":"q"}`,
			"Ada updated the toggle a: project, type."},
		{"user-updated", "user:7", `{"name":"Bob","disabled":true}`, `{"name":"Bob","disabled":false}`,
			"Ada updated the user 7 (Bob): disabled."},
		{"other", "x:1", "", "", "Ada: other."},
	} {
		e := eventlog.Event{Type: tt.kind, Subject: tt.subject, By: eventlog.Actor{Name: "Ada"}, Data: []byte(tt.data),
			PreData: []byte(tt.preData)}
		assert.Equal(t, tt.want, e.Summary())
	}
}
