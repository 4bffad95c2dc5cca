package eventsearch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// set contains the operation, whose searches end after the time.
func (f *fixture) set(within time.Duration) operation.Set {
	toggles := featuretable.NewVisibility(f.Database.Client, f.Tables)
	return operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{
		"search": eventsearch.Search(f.Reader, toggles, f.names, f.ProjectReader(), within),
	}}
}

// withRole returns a context of a request by a user with a root role.
func withRole(ctx context.Context, role access.Role) context.Context {
	return access.WithPrincipal(ctx, access.UserPrincipal(9, role))
}

// search returns the response to a query of an Admin.
func (f *fixture) search(tb testing.TB, query string) string {
	tb.Helper()
	status, _, text := f.set(time.Minute).Serve(withRole(tb.Context(), access.RoleAdmin),
		operation.Request{Operation: "search", Query: query})
	return fmt.Sprint(status, " ", text)
}

// page is a response.
type page struct {
	Events     []struct{ ID int64 }
	Total      int
	TotalExact bool
	Next       string
	SearchedTo string
}

// ids returns the ids of the events.
func (p page) ids() (ids []int64) {
	for _, e := range p.Events {
		ids = append(ids, e.ID)
	}
	return ids
}

// page returns the page for a query of an Admin.
func (f *fixture) page(tb testing.TB, query string) (p page) {
	tb.Helper()
	body, ok := strings.CutPrefix(f.search(tb, query), "200 ")
	if !ok || json.Unmarshal([]byte(body), &p) != nil || len(strconv.Quote(body)) > 6_000_000 {
		tb.Fatalf("%s: %.200s", query, body)
	}
	return p
}

// TestSearchResponse checks the properties of events of an API request, of an operator and of the system.
func TestSearchResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.addPeople(t, "Ada")
	assert.Equal(t, `200 {"events":[],"total":0,"totalExact":true}`, f.search(t, ""))
	request := apigateway.WithRequest(t.Context(), apigateway.Request{ID: "r"})
	principal := access.Principal{ID: "user:1", UserID: 1, Name: "Ada", TokenID: "5"}
	ids := []any{f.record(access.WithPrincipal(request, principal), t, eventlog.Change{
		Type: eventlog.FeatureUpdated, Subject: "toggle:a", FeatureName: "a", Project: "default", Environment: "production",
		Data: map[string]any{"type": "b"}, PreData: map[string]any{"type": "c"},
	})}
	robot := access.Principal{ID: "user:4", UserID: 4, IsServiceAccount: true, Name: "Ada", TokenID: "6"}
	for _, ctx := range []context.Context{
		access.WithPrincipal(request, robot), eventlog.WithActor(request, eventlog.Actor{Name: "operator"}), t.Context(),
	} {
		f.now = f.now.Add(time.Second)
		ids = append(ids, f.record(ctx, t, eventlog.Change{Type: eventlog.FeatureTypeCreated, Subject: "type:x"}))
	}
	const typeCreated = `,"type":"feature-type-created","label":"Toggle type created","summary":`
	assert.Equal(t, fmt.Sprintf(`200 {"events":[{"id":%[4]d,"createdAt":"2026-11-22T10:00:03.000Z"`+typeCreated+
		`"system created the toggle type x.","subject":"type:x","createdBy":"system",`+
		`"createdByUserId":null,"createdByTokenId":null,"createdByKind":"system","environment":null,"project":null,"featureName":null,"data":null,`+
		`"preData":null,"requestId":null,"tags":[]},`+
		`{"id":%[3]d,"createdAt":"2026-11-22T10:00:02.000Z"`+typeCreated+
		`"operator created the toggle type x.","subject":"type:x","createdBy":"operator",`+
		`"createdByUserId":null,"createdByTokenId":null,"createdByKind":"operator","environment":null,"project":null,"featureName":null,"data":null,`+
		`"preData":null,"requestId":"r","tags":[]},`+
		`{"id":%[2]d,"createdAt":"2026-11-22T10:00:01.000Z"`+typeCreated+
		`"deleted service account 4 created the toggle type x.","subject":"type:x","createdBy":"deleted service account 4",`+
		`"createdByUserId":4,"createdByTokenId":"6","createdByKind":"service-account","environment":null,"project":null,`+
		`"featureName":null,"data":null,"preData":null,"requestId":"r","tags":[]},`+
		`{"id":%[1]d,"createdAt":"2026-11-22T10:00:00.000Z","type":"feature-updated",`+
		`"label":"Toggle updated","summary":"Ada (user 1) updated the toggle a in production: type.","subject":"toggle:a",`+
		`"createdBy":"Ada","createdByUserId":1,"createdByTokenId":"5","createdByKind":"user","environment":"production",`+
		`"project":"default","featureName":"a","data":{"type":"b"},"preData":{"type":"c"},"requestId":"r","tags":[]}],`+
		`"total":4,"totalExact":true}`, ids...), f.search(t, ""))
	for _, item := range f.Scan(t, f.Tables["Events"]) {
		if item.Int("id") == ids[0] {
			assert.Equal(t, start().AddDate(0, 0, 400).Unix(), item.Int("expiresAt"))
		}
	}
}

// TestSearchParameters checks how each parameter selects events.
func TestSearchParameters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.addPeople(t, "Ada", "Bob")
	ada := eventlog.WithActor(t.Context(), eventlog.Actor{UserID: 1, TokenID: "5"})
	bob := eventlog.WithActor(t.Context(), eventlog.Actor{UserID: 2})
	first := f.record(ada, t, created("a")) // 22 November, 10:00
	f.now = f.now.Add(12 * time.Hour)
	f.record(t.Context(), t, eventlog.Change{
		Type: eventlog.FeaturePotentiallyStaleOn, Subject: "toggle:a", FeatureName: "a", Project: "default",
		Data: map[string]any{"lifetimeDays": 40, "list": []any{map[string]any{"KEY": "Οδός"}}},
	})
	f.now = f.now.Add(12 * time.Hour)
	f.record(ada, t, created("b"))
	f.now = f.now.Add(12 * time.Hour)
	f.record(bob, t, eventlog.Change{Type: eventlog.ContextFieldCreated, Subject: "field:plan", Environment: "production",
		PreData: map[string]any{"name": "plan"}})
	hundred := ""
	for i := range 99 {
		hundred += fmt.Sprint(",", 100+i)
	}
	assert.Equal(t, `context-field-created field:plan by user 2: before {"name":"plan"}`, f.Events(t)[3])
	id := strconv.FormatInt(first, 10)
	for _, test := range []struct {
		query string
		want  string // total, subjects of the events
	}{
		{"", "4, field:plan, toggle:b, toggle:a, toggle:a"},
		{"limit=1", "4, field:plan"},
		{"offset=1&limit=2", "4, toggle:b, toggle:a"},
		{"offset=4", "4"},
		{"type=IS:feature-created", "2, toggle:b, toggle:a"},
		{"type=IS_ANY_OF:feature-created,context-field-created", "3, field:plan, toggle:b, toggle:a"},
		{"type=IS:other", "0"},
		{"feature=IS:a", "2, toggle:a, toggle:a"},
		{"feature=IS:a&offset=1", "2, toggle:a"},
		{"feature=IS_ANY_OF:b,a,b&type=IS:feature-created", "2, toggle:b, toggle:a"},
		{"subject=IS:toggle:a", "2, toggle:a, toggle:a"},
		{"subject=IS_ANY_OF:toggle:a,toggle:b", "3, toggle:b, toggle:a, toggle:a"},
		{"subject=IS:toggle:a&feature=IS:b", "0"},
		{"project=IS:default", "3, toggle:b, toggle:a, toggle:a"},
		{"environment=IS_ANY_OF:development,production", "1, field:plan"},
		{"createdBy=IS:1", "2, toggle:b, toggle:a"},
		{"createdBy=IS_ANY_OF:2,1", "3, field:plan, toggle:b, toggle:a"},
		{"token=IS:5&feature=IS:b", "1, toggle:b"},
		{"id=IS_ANY_OF:77," + id + "," + id, "1, toggle:a"},
		{"id=IS:" + id + "&subject=IS:toggle:b", "0"},
		{"id=IS:" + id + "&from=IS:2026-11-23", "0"},
		{
			query: "type=IS_ANY_OF:feature-created" + hundred + "&createdBy=IS_ANY_OF:1" + hundred +
				"&project=IS_ANY_OF:default" + hundred,
			want: "2, toggle:b, toggle:a",
		},
		{"from=IS:2026-11-22&limit=1000", "4, field:plan, toggle:b, toggle:a, toggle:a"},
		{"from=IS:2026-11-23", "2, field:plan, toggle:b"},
		{"to=IS:2026-11-22", "2, toggle:a, toggle:a"},
		{"from=IS:2026-11-22&to=IS:2026-11-22", "2, toggle:a, toggle:a"},
		{"query=ΟΔΌΣ", "1, toggle:a"},
		{"query=40", "1, toggle:a"},
		{"query=lifetimeDays", "0"},
		{"query=field%3APLAN", "1, field:plan"},
		{"query=plan&type=IS:feature-created", "0"},
		{"query=ada&limit=1", "2, toggle:b"},
		{"query=ada&offset=1", "2, toggle:a"},
		{"unknown=1&unknown=2", "4, field:plan, toggle:b, toggle:a, toggle:a"},
	} {
		var page struct {
			Total  int
			Events []struct{ Subject string }
		}
		body := strings.TrimPrefix(f.search(t, test.query), "200 ")
		assert.OK(t, json.Unmarshal([]byte(body), &page))
		got := fmt.Sprint(page.Total)
		for _, e := range page.Events {
			got += ", " + e.Subject
		}
		assert.Equal(t, []string{test.query, test.want}, []string{test.query, got})
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 2 {
		f.record(t.Context(), t, created("a"))
	}
	next := f.page(t, "limit=1").Next
	for _, test := range []struct {
		query string
		want  string // part of the response, in which ' stands for a backquote
	}{
		{"type=x", `'/query/type' parameter must begin with IS: or IS_ANY_OF: and have a value; you sent "x"`},
		{"token=IS_ANY_OF:a", "'/query/token' parameter must begin with IS: and"},
		{"subject=IS:" + strings.Repeat("x", 1025), "'/query/subject' parameter must have values of at most 1024 bytes"},
		{"createdBy=IS:x", `'/query/createdBy' parameter must have ids that are positive integers; you sent "IS:x"`},
		{"createdBy=IS:01", "'/query/createdBy'"},
		{"id=IS:0", "'/query/id'"},
		{"id=IS:9007199254740992", "'/query/id'"},
		{"to=IS:0000-01-01", "'/query/to'"},
		{"from=IS:2026-11-23&to=IS:0001-01-01", "'/query/from'"},
		{"from=IS:2026-11-23&to=IS:2026-11-22", "'/query/from' parameter must not be after '/query/to'"},
		{"limit=0", `'/query/limit' parameter must be an integer from 1 to 1000; you sent "0"`},
		{"limit=1001", "'/query/limit'"},
		{"offset=-1", "'/query/offset'"},
		{"query=" + strings.Repeat("%C3%A9", 101), "'/query/query' parameter must have at most 100 characters"},
		{"limit=0&from=x", "'/query/limit'"},
		{"limit=0&from=x", "'/query/from'"},
		{"cursor=x", `'/query/cursor' parameter must be the value of 'next' in a response; you sent "x"`},
		{"cursor=e30", "'/query/cursor' parameter must be the value of 'next' in a response"},
		{
			query: "cursor=" + next + "&type=IS:a",
			want:  "'/query/cursor' parameter must be sent with the same filters as the search that it continues",
		},
		{"cursor=" + next + "&offset=1", `'/query/offset' parameter must not be sent with '/query/cursor'; you sent "1"`},
	} {
		got := f.search(t, test.query)
		if !strings.HasPrefix(got, "400 ") || !strings.Contains(strings.ReplaceAll(got, "`", "'"), test.want) {
			t.Errorf("%s: %s, want %s", test.query, got, test.want)
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
	seen, query := map[int64]bool{}, "limit=1000"
	for query != "" {
		p := f.page(t, query)
		if p.Total != n || len(p.Events) == 0 {
			t.Fatalf("%d events of %d", len(p.Events), p.Total)
		}
		for _, id := range p.ids() {
			seen[id] = true
		}
		if query = ""; p.Next != "" {
			query = "limit=1000&cursor=" + p.Next
		}
	}
	assert.Equal(t, n, len(seen))
}

// TestPages checks that next continues a search although new events arrive, and that it ends with the last page.
func TestPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := func() {
		f.now = f.now.Add(time.Millisecond)
		f.record(t.Context(), t, created("a"+f.now.Format(time.StampMilli)))
	}
	for range 20 {
		record()
	}
	for _, tt := range []struct {
		query  string
		offset int
	}{{"limit=5", 0}, {"limit=5", 3}, {"limit=7&query=toggle", 0}, {"limit=1000", 0}} {
		all, err := f.Newest(t.Context(), eventlog.Filter{}, 1000)
		assert.OK(t, err)
		var want, got []int64
		for _, e := range all[tt.offset:] {
			want = append(want, e.ID)
		}
		p := f.page(t, fmt.Sprint(tt.query, "&offset=", tt.offset))
		for {
			assert.Equal(t, page{Total: len(all), TotalExact: true}, page{Total: p.Total, TotalExact: p.TotalExact,
				SearchedTo: p.SearchedTo})
			got = append(got, p.ids()...)
			if p.Next == "" {
				break
			}
			record()
			p = f.page(t, tt.query+"&cursor="+p.Next)
		}
		assert.Equal(t, want, got)
	}
}

// TestAllPages reads events about one toggle that are larger than one page of DynamoDB.
func TestAllPages(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f := newFixture(t)
	var want, got []int64
	for range 90 {
		f.now = f.now.Add(time.Millisecond)
		c := created("a")
		c.Data = map[string]any{"description": strings.Repeat("d", 13_000)}
		want = append(want, f.record(ctx, t, c))
	}
	assert.OK(t, f.All(ctx, eventlog.Filter{Subjects: []string{"toggle:a"}}, func(e eventlog.Event) error {
		got = append(got, e.ID)
		return ctx.Err()
	}))
	assert.Equal(t, want, got)
}

// TestNamedToggles checks that whoever can read toggles can read their events, and no others.
func TestNamedToggles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.record(t.Context(), t, created("a"))
	f.record(t.Context(), t, created("b"))
	f.record(t.Context(), t, eventlog.Change{Type: eventlog.UserCreated, Subject: "user:1"})
	const lacks = `403 NoAccessError: You need the "ADMIN" permission to perform this operation.`
	for _, test := range []struct {
		query string
		want  string // status and total, for a Viewer and an Editor
	}{
		{"feature=IS:a", "200 1"},
		{"feature=IS:a&type=IS:feature-created&limit=1&query=a", "200 1"},
		{"feature=IS:a&subject=IS:user:1", "200 0"},
		{"feature=IS:a&subject=IS:toggle:b", "200 0"},
		{"feature=IS:other", "200 0"},
		{"feature=IS:a&limit=0", "400"},
		{"feature=IS_ANY_OF:a,b", "200 2"},
		{"feature=IS_ANY_OF:a,b&createdBy=IS:7", "200 0"},
		{"feature=IS_ANY_OF:", "403"},
		{"feature=a", "403"},
		{"feature=IS:a&feature=IS:a", "403"},
		{"subject=IS:toggle:a", "403"},
		{"limit=0", "403"},
		{"", "403"},
	} {
		for _, role := range []access.Role{access.RoleViewer, access.RoleEditor} {
			status, _, text := f.set(time.Minute).Serve(withRole(t.Context(), role), operation.Request{Operation: "search",
				Query: test.query})
			got := fmt.Sprint(status)
			var p page
			if json.Unmarshal([]byte(text), &p) == nil {
				got += fmt.Sprint(" ", p.Total)
			}
			assert.Equal(t, []string{test.query, test.want}, []string{test.query, got})
			if status == http.StatusForbidden {
				assert.Equal(t, lacks, fmt.Sprint(status, " ", text))
			}
		}
	}
}

// fill records events about many toggles, each of which is about 500 bytes.
func (f *fixture) fill(tb testing.TB, n int) {
	tb.Helper()
	for from := 0; from < n; from += 100 {
		f.now = f.now.Add(time.Second)
		assert.OK(tb, f.log.RetryTransact(tb.Context(), func() (all []types.TransactWriteItem, err error) {
			for i := from; i < min(n, from+100) && err == nil; i++ {
				c := created(fmt.Sprint("toggle-", i))
				c.Data = map[string]any{"name": c.FeatureName, "description": strings.Repeat("d", 300)}
				var actions []types.TransactWriteItem
				_, actions, err = f.log.RecordActions(tb.Context(), c)
				all = append(all, actions...)
			}
			return all, err
		}, nil))
	}
}

// metered returns the response to a request for the page after a client's, with the read units that it consumed.
// DynamoDB reports a number of items; 0: its own.
func (f *fixture) metered(t *testing.T, query string, items int) (p page, units float64) {
	t.Helper()
	var mu sync.Mutex
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "DescribeTable" && items > 0 {
			return c.Reply(http.StatusOK, fmt.Sprintf(`{"Table":{"ItemCount":%d}}`, items))
		}
		c.Body = strings.Replace(c.Body, "{", `{"ReturnConsumedCapacity":"TOTAL",`, 1)
		response, err := c.Pass()
		if err != nil || c.Operation != "Query" {
			return response, err
		}
		body, err := io.ReadAll(response.Body)
		var consumed struct {
			ConsumedCapacity struct{ CapacityUnits float64 }
		}
		if err := errors.Join(err, json.Unmarshal(body, &consumed)); err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		units += consumed.ConsumedCapacity.CapacityUnits
		return c.Reply(response.StatusCode, string(body))
	})
	through := *f
	through.Reader = eventlog.NewReader(eventlog.New(client, f.Tables, start, 0))
	return through.page(t, query), units
}

// TestReadUnits checks that a page of a large log costs what it shows, and that small logs are counted.
func TestReadUnits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fill(t, 3000)
	first, _ := f.metered(t, "", 400_000)
	for _, test := range []struct {
		query string
		items int     // that DynamoDB reports for the table; 0: its own number
		want  string  // events of the page, total, exact
		least float64 // read units
		most  float64
	}{
		{"", 400_000, "50 10000 false", 10, 50},
		{"cursor=" + first.Next, 400_000, "50 10000 false", 10, 50},
		{"limit=1000", 400_000, "1000 10000 false", 100, 250},
		{"feature=IS:toggle-7", 400_000, "1 1 true", 0, 2},
		{"", 0, "50 3000 true", 150, 260},
		{"type=IS:feature-created", 400_000, "50 51 false", 10, 50},
		{"type=IS:feature-created", 0, "50 3000 true", 150, 260},
		{"query=TOGGLE-1234", 0, "1 1 true", 350, 500},
	} {
		p, units := f.metered(t, test.query, test.items)
		assert.Equal(t, test.want, fmt.Sprint(len(p.Events), p.Total, p.TotalExact))
		if units < test.least || units > test.most {
			t.Errorf("%+v: %v units", test, units)
		}
	}
}

// TestTotal checks that counting ends soon after 10,000 events, after ten pages or after two seconds, without an error.
func TestTotal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fill(t, 300)
	for _, tt := range []struct {
		count      string // the response to a query that counts
		least      int
		exact      bool
		mostCounts int32
	}{
		{`{"Count":1}`, 58, true, 8},
		{`{"Count":2000}`, 10_000, false, 8},
		{`{"Count":1,"LastEvaluatedKey":{"id":{"N":"1"}}}`, 60, false, 10},
		{"hang", 50, false, 8},
	} {
		var counts atomic.Int32
		client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
			if !strings.Contains(c.Body, `"COUNT"`) {
				return c.Pass()
			}
			if counts.Add(1); tt.count == "hang" {
				return c.Hang()
			}
			return c.Reply(http.StatusOK, tt.count)
		})
		p, err := eventlog.NewReader(eventlog.New(client, f.Tables, start, 0)).Search(deadline(t), eventlog.Filter{}, eventlog.Cursor{}, 50)
		assert.OK(t, err)
		if p.Total < tt.least || p.TotalExact != tt.exact || counts.Load() > tt.mostCounts || p.Next == nil ||
			!p.SearchedTo.IsZero() {
			t.Errorf("%s: %d, %t, %d counts, searched to %v", tt.count, p.Total, p.TotalExact, counts.Load(), p.SearchedTo)
		}
	}
}

// deadline returns a context that ends soon.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestSlowSearch checks that a search that finds little ends after two seconds and can be continued. If DynamoDB does
// not respond for a partition, it is an error.
func TestSlowSearch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := func(seconds int) int64 { return eventlog.FirstID(start().Add(time.Duration(seconds) * time.Second)) }
	// Each page takes 450 ms, so no response coincides with the end of the search, and ends one second earlier than the
	// one before. The second page of the partition 0 has an event.
	slow := func(c *database.Call) (*http.Response, error) {
		select {
		case <-time.After(450 * time.Millisecond):
		case <-c.Request.Context().Done():
			return c.Hang()
		}
		last := at(0)
		if found := regexp.MustCompile(`"ExclusiveStartKey":.*?"N":"(\d+)"`).FindStringSubmatch(c.Body); found != nil {
			last, _ = strconv.ParseInt(found[1], 10, 64)
		}
		items := ""
		if last == at(-1) && strings.Contains(c.Body, `:{"S":"0"}`) {
			items = fmt.Sprintf(`{"id":{"N":"%d"},"type":{"S":"feature-created"},"subject":{"S":"toggle:a"}}`, at(-2)+8)
		}
		last -= eventlog.FirstID(time.Unix(1, 0))
		return c.Reply(http.StatusOK, fmt.Sprintf(`{"Items":[%s],"LastEvaluatedKey":{"id":{"N":"%d"}}}`, items, last))
	}
	onePartition := func(c *database.Call) (*http.Response, error) {
		if strings.Contains(c.Body, `:{"S":"3"}`) {
			return c.Hang()
		}
		return c.Reply(http.StatusOK, `{"Items":[]}`)
	}
	for _, tt := range []struct {
		respond func(*database.Call) (*http.Response, error)
		took    time.Duration
		want    string
	}{
		{slow, 2 * time.Second, fmt.Sprintf(`200 {"events":[{"id":%d,…"total":1,"totalExact":false,"next":"…","searchedTo":`+
			`"2026-11-22T09:59:56.000Z"}`, at(-2)+8)},
		{onePartition, 2 * time.Second, "503 …"},
		{(*database.Call).Hang, 2 * time.Second, "503 …"},
	} {
		client, _ := f.Through(t, tt.respond)
		f.Reader = eventlog.NewReader(eventlog.New(client, f.Tables, start, 0))
		nobody, _ := f.Through(t, func(c *database.Call) (*http.Response, error) { return c.Reply(http.StatusOK, `{"Items":[]}`) })
		f.names = user.NewNames(nobody, f.Tables)
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			status, _, text := f.set(eventsearch.SearchTime).Serve(withRole(t.Context(), access.RoleAdmin),
				operation.Request{Operation: "search", Query: "query=a"})
			got := fmt.Sprint(status, " ", text)
			for part := range strings.SplitSeq(tt.want, "…") {
				if !strings.Contains(got, part) {
					t.Errorf("%s, want %s", got, tt.want)
				}
			}
			assert.Equal(t, tt.took, time.Since(started))
		})
	}
}

// A toggle that was moved has events of several projects. Those with something of a private project are neither returned
// nor counted for others.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.PutPrivateProject(t)
	about := func(kind eventlog.Type, project string, data, preData any) {
		f.record(t.Context(), t, eventlog.Change{Type: kind, Subject: "toggle:a", FeatureName: "a", Project: project,
			Data: data, PreData: preData})
	}
	type moved struct {
		Project string `json:"project"`
	}
	f.record(t.Context(), t, created("b"))
	about(eventlog.FeatureCreated, "secret", map[string]any{"name": "a"}, nil)
	about(eventlog.FeatureUpdated, "default", moved{"default"}, moved{"secret"})
	about(eventlog.FeatureArchived, "default", map[string]any{"archived": true}, nil)
	set := f.set(time.Minute)
	set.Projects = f.ProjectReader()
	for _, query := range []string{"feature=IS:a", "feature=IS:a&limit=1", "feature=IS:a&query=a"} {
		_, _, text := set.Serve(operation.Viewer(t.Context()), operation.Request{Operation: "search", Query: query})
		var got struct {
			Events []struct{ Type eventlog.Type }
			Total  int
		}
		assert.OK(t, json.Unmarshal([]byte(text), &got))
		assert.Equal(t, "[{feature-archived}] 1", fmt.Sprint(got.Events, " ", got.Total))
		if strings.Contains(text, "secret") {
			t.Error(text)
		}
	}
	both := operation.Request{Operation: "search", Query: "feature=IS_ANY_OF:a,b"}
	_, _, text := set.Serve(operation.Viewer(t.Context()), both)
	if strings.Contains(text, "secret") || !strings.Contains(text, `"total":2,`) {
		t.Error(text)
	}
	set.ExpectQuery(operation.Viewer(t.Context()), t, "search", "feature=IS:a&project=IS:secret",
		`200 {"events":[],"total":0,"totalExact":true}`)
}
