package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
	"toggleadmin/test/table"
)

// set contains the operation, whose searches end after the time.
func (f *fixture) set(within time.Duration) operation.Set {
	return operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{"search": eventlog.Search(f.Log, within)}}
}

// search returns the response to a query.
func (f *fixture) search(tb testing.TB, query string) string {
	tb.Helper()
	status, _, text := f.set(time.Minute).Serve(tb.Context(), operation.Request{Operation: "search", Query: query})
	return fmt.Sprint(status, " ", text)
}

// TestSearchResponse checks the members of events of an API request, of an operator and of the system.
func TestSearchResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	assert.Equal(t, `200 {"events":[],"total":0}`, f.search(t, ""))
	request := lambdahttp.WithGateway(t.Context(), lambdahttp.Gateway{RequestID: "r"})
	principal := access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "5"}
	ids := []any{f.record(access.WithPrincipal(request, principal), t, eventlog.Change{
		Type: eventlog.FeatureUpdated, Subject: "toggle:a", FeatureName: "a", Project: "default",
		Data: map[string]any{"type": "b"}, PreData: map[string]any{"type": "c"},
	})}
	for _, ctx := range []context.Context{eventlog.WithActor(request, eventlog.Actor{Name: "operator"}), t.Context()} {
		f.now = f.now.Add(time.Second)
		ids = append(ids, f.record(ctx, t, eventlog.Change{Type: eventlog.FeatureTypeCreated, Subject: "type:x"}))
	}
	assert.Equal(t, fmt.Sprintf(`200 {"events":[{"id":%[3]d,"createdAt":"2026-11-22T10:00:02.000Z","type":"feature-type-created",`+
		`"label":"Toggle type created","summary":"system created the toggle type x.","subject":"type:x","createdBy":"system",`+
		`"createdByUserId":null,"createdByTokenId":null,"environment":null,"project":null,"featureName":null,"data":null,`+
		`"preData":null,"requestId":null,"tags":[]},`+
		`{"id":%[2]d,"createdAt":"2026-11-22T10:00:01.000Z","type":"feature-type-created",`+
		`"label":"Toggle type created","summary":"operator created the toggle type x.","subject":"type:x","createdBy":"operator",`+
		`"createdByUserId":null,"createdByTokenId":null,"environment":null,"project":null,"featureName":null,"data":null,`+
		`"preData":null,"requestId":"r","tags":[]},`+
		`{"id":%[1]d,"createdAt":"2026-11-22T10:00:00.000Z","type":"feature-updated",`+
		`"label":"Toggle updated","summary":"Ada (user 1) updated the toggle a: type.","subject":"toggle:a","createdBy":"Ada",`+
		`"createdByUserId":1,"createdByTokenId":"5","environment":null,"project":"default","featureName":"a","data":{"type":"b"},`+
		`"preData":{"type":"c"},"requestId":"r","tags":[]}],"total":3}`, ids...), f.search(t, ""))
	for _, item := range f.Scan(t, f.Tables.Events) {
		if item.Int("id") == ids[0] {
			assert.Equal(t, start().AddDate(0, 0, 400).Unix(), item.Int("expiresAt"))
		}
	}
}

// TestSearchParameters checks how each parameter selects events.
func TestSearchParameters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "Ada", UserID: 1, TokenID: "5"})
	bob := eventlog.WithActor(t.Context(), eventlog.Actor{Name: "Bob", UserID: 2})
	first := f.record(ada, t, created("a")) // 22 November, 10:00
	f.now = f.now.Add(12 * time.Hour)
	f.record(t.Context(), t, eventlog.Change{
		Type: eventlog.FeaturePotentiallyStaleOn, Subject: "toggle:a", FeatureName: "a", Project: "default",
		Data: map[string]any{"lifetimeDays": 40, "list": []any{map[string]any{"KEY": "Οδός"}}},
	})
	f.now = f.now.Add(12 * time.Hour)
	f.record(ada, t, created("b"))
	f.now = f.now.Add(12 * time.Hour)
	f.record(bob, t, eventlog.Change{Type: eventlog.ContextFieldCreated, Subject: "field:plan",
		PreData: map[string]any{"name": "plan"}})
	hundred := ""
	for i := range 99 {
		hundred += fmt.Sprint(",", 100+i)
	}
	assert.Equal(t, `context-field-created field:plan by Bob, user 2: before {"name":"plan"}`, f.Events(t)[3])
	for _, row := range table.Rows(t, 2, strings.NewReplacer("ID", fmt.Sprint(first), ",100", hundred).Replace(`
		# query | total, subjects of the events
		| 4, field:plan, toggle:b, toggle:a, toggle:a
		limit=1 | 4, field:plan
		offset=1&limit=2 | 4, toggle:b, toggle:a
		offset=4 | 4
		type=IS:feature-created | 2, toggle:b, toggle:a
		type=IS_ANY_OF:feature-created,context-field-created | 3, field:plan, toggle:b, toggle:a
		type=IS:other | 0
		feature=IS:a | 2, toggle:a, toggle:a
		feature=IS:a&offset=1 | 2, toggle:a
		feature=IS_ANY_OF:b,a,b&type=IS:feature-created | 2, toggle:b, toggle:a
		subject=IS:toggle:a | 2, toggle:a, toggle:a
		subject=IS_ANY_OF:toggle:a,toggle:b | 3, toggle:b, toggle:a, toggle:a
		subject=IS:toggle:a&feature=IS:b | 0
		project=IS:default | 3, toggle:b, toggle:a, toggle:a
		createdBy=IS:1 | 2, toggle:b, toggle:a
		createdBy=IS_ANY_OF:2,1 | 3, field:plan, toggle:b, toggle:a
		token=IS:5&feature=IS:b | 1, toggle:b
		id=IS_ANY_OF:77,ID,ID | 1, toggle:a
		id=IS:ID&subject=IS:toggle:b | 0
		id=IS:ID&from=IS:2026-11-23 | 0
		type=IS_ANY_OF:feature-created,100&createdBy=IS_ANY_OF:1,100&project=IS_ANY_OF:default,100 | 2, toggle:b, toggle:a
		from=IS:2026-11-22&limit=1000 | 4, field:plan, toggle:b, toggle:a, toggle:a
		from=IS:2026-11-23 | 2, field:plan, toggle:b
		to=IS:2026-11-22 | 2, toggle:a, toggle:a
		from=IS:2026-11-22&to=IS:2026-11-22 | 2, toggle:a, toggle:a
		query=ΟΔΌΣ | 1, toggle:a
		query=40 | 1, toggle:a
		query=lifetimeDays | 0
		query=field%3APLAN | 1, field:plan
		query=plan&type=IS:feature-created | 0
		query=ada&limit=1 | 2, toggle:b
		query=ada&offset=1 | 2, toggle:a
		unknown=1&unknown=2 | 4, field:plan, toggle:b, toggle:a, toggle:a
	`)) {
		var page struct {
			Total  int
			Events []struct{ Subject string }
		}
		body := strings.TrimPrefix(f.search(t, row[0]), "200 ")
		assert.OK(t, json.Unmarshal([]byte(body), &page))
		got := fmt.Sprint(page.Total)
		for _, e := range page.Events {
			got += ", " + e.Subject
		}
		assert.Equal(t, row, []string{row[0], got})
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, row := range table.Rows(t, 2, `
		type=x | /type^ parameter must begin with IS: or IS_ANY_OF: and have a value; you sent "x"
		token=IS_ANY_OF:a | /token^ parameter must begin with IS: and
		subject=IS:1025×x | /subject^ parameter must have values of at most 1024 bytes
		createdBy=IS:x | /createdBy^ parameter must have ids that are positive integers; you sent "IS:x"
		createdBy=IS:01 | /createdBy^
		id=IS:0 | /id^
		id=IS:9007199254740992 | /id^
		to=IS:0000-01-01 | /to^
		from=IS:2026-11-23&to=IS:0001-01-01 | /from^
		from=IS:2026-11-23&to=IS:2026-11-22 | /from^ parameter must not be after ^/query/to^
		limit=0 | /limit^ parameter must be an integer from 1 to 1000; you sent "0"
		limit=1001 | /limit^
		offset=-1 | /offset^
		query=101×(%C3%A9) | /query^ parameter must have at most 100 characters
		limit=0&from=x | /limit^
		limit=0&from=x | /from^
	`) {
		want := strings.ReplaceAll("`/query"+row[1], "^", "`")
		if got := f.search(t, row[0]); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", row[0], got, want)
		}
	}
}

// TestLargePage checks that a response has at most 5 MB of events and can be continued.
func TestLargePage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 230
	for range n {
		f.record(t.Context(), t, eventlog.Change{
			Type: eventlog.FeatureUpdated, Subject: "toggle:a",
			Data: map[string]any{"list": slices.Repeat([]string{strings.Repeat(`"`, 200)}, 34)},
		})
	}
	seen := map[int64]bool{}
	for len(seen) < n {
		body := strings.TrimPrefix(f.search(t, fmt.Sprintf("limit=1000&offset=%d", len(seen))), "200 ")
		var page struct {
			Events []struct{ ID int64 }
			Total  int
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || page.Total != n || len(strconv.Quote(body)) > 6_000_000 ||
			len(page.Events) == 0 {
			t.Fatalf("%d bytes, %d events of %d, %v", len(body), len(page.Events), page.Total, err)
		}
		for _, e := range page.Events {
			seen[e.ID] = true
		}
	}
}

// TestSearchTakesTooLong checks that a search ends after four seconds: it asks for a narrower one if there are many
// pages, and not if DynamoDB does not respond or the caller had less time.
func TestSearchTakesTooLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	page := func(c *database.Call) (*http.Response, error) {
		select {
		case <-time.After(time.Second):
			return c.Reply(http.StatusOK, `{"Count":1000,"LastEvaluatedKey":{"id":{"N":"1"}}}`)
		case <-c.Request.Context().Done():
			return c.Hang()
		}
	}
	const tooMany = "400 ValidationError: The search covers too many events. Narrow it with the `/query/from`, " +
		"`/query/to`, `/query/subject`, `/query/feature` or `/query/id` parameter."
	for _, tt := range []struct {
		respond    func(*database.Call) (*http.Response, error)
		time, took time.Duration
		want       string
	}{
		{page, time.Minute, 4 * time.Second, tooMany},
		{page, 3 * time.Second, 3 * time.Second, "503 …"},
		{(*database.Call).Hang, time.Minute, 4 * time.Second, "503 …"},
	} {
		client, _ := f.Through(t, tt.respond)
		f.Log = eventlog.New(client, f.Tables, start, 0)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.time)
			defer cancel()
			started := time.Now()
			f.set(eventlog.SearchTime).Want(ctx, t, operation.Request{Operation: "search"}, tt.want)
			assert.Equal(t, tt.took, time.Since(started))
		})
	}
}

func TestFunctionsNeedTheirTable(t *testing.T) {
	t.Parallel()
	database.RequireVariables(t, database.New(t).Env(t), eventlog.NewSearchFunction, "EVENTS_TABLE")
}
