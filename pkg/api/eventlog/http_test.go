package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

// serve returns the status and the body of a response, or the message of an error.
func (f *fixture) serve(query string) (int, string) {
	return f.serveWithin(context.Background(), eventlog.SearchTime, query)
}

func (f *fixture) serveWithin(ctx context.Context, within time.Duration, query string) (int, string) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/admin/search/events?"+query, nil)
	r = r.WithContext(lambdahttp.WithGateway(ctx, lambdahttp.Gateway{Query: r.URL.Query()}))
	if err := eventlog.Search(f.Log, within)(w, r); err != nil {
		e := apierror.From(err)
		return e.Kind.Status(), e.Message
	}
	return w.Code, w.Body.String()
}

func TestSearchResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if status, body := f.serve(""); status != 200 || body != `{"events":[],"total":0}` {
		t.Errorf("%d %s", status, body)
	}
	id := f.record(eventlog.WithActor(t.Context(), eventlog.Actor{Name: "Ada", UserID: 1, TokenID: "5"}), t, created("a"))
	want := fmt.Sprintf(`{"events":[{"id":%d,"createdAt":"2026-11-22T10:00:00.000Z","type":"feature-created",`+
		`"label":"Toggle created","summary":"Ada created the toggle a.","subject":"toggle:a","createdBy":"Ada","createdByUserId":1,`+
		`"createdByTokenId":"5","environment":null,"project":"default","featureName":"a","data":{"name":"a"},"preData":null,`+
		`"requestId":null,"tags":[]}],"total":1}`, id)
	status, body := f.serve("")
	if diff := cmp.Diff(want, body); diff != "" || status != 200 {
		t.Error(status, diff)
	}
}

// TestSearchParameters checks how each parameter selects events.
func TestSearchParameters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.record(eventlog.WithActor(t.Context(), eventlog.Actor{Name: "Ada", UserID: 1, TokenID: "5"}), t,
		created("a"))
	f.now = f.now.AddDate(0, 0, 1)
	f.record(t.Context(), t, created("b"))
	hundred := ""
	for i := range 99 {
		hundred += fmt.Sprint(",", 100+i)
	}
	for query, want := range map[string]string{
		"":                                    "b a",
		"limit=1":                             "b",
		"offset=1":                            "a",
		"offset=2":                            "",
		"type=IS:feature-created":             "b a",
		"type=IS:other":                       "",
		"feature=IS:a":                        "a",
		"feature=IS_ANY_OF:a,b":               "b a",
		"subject=IS:toggle:a":                 "a",
		"subject=IS_ANY_OF:toggle:a,toggle:b": "b a",
		"subject=IS:toggle:a&feature=IS:b":    "",
		fmt.Sprintf("subject=IS:toggle:b&id=IS:%d", first): "",
		"project=IS:default":                              "b a",
		"createdBy=IS:1":                                  "a",
		"createdBy=IS_ANY_OF:2,1":                         "a",
		fmt.Sprintf("id=IS:%d", first):                    "a",
		fmt.Sprintf("id=IS:%d&from=IS:2026-11-23", first): "",
		"type=IS_ANY_OF:feature-created" + hundred + "&createdBy=IS_ANY_OF:1" + hundred + "&project=IS_ANY_OF:default" +
			hundred: "a",
		"token=IS:5":                          "a",
		"from=IS:2026-11-22&limit=1000":       "b a",
		"from=IS:2026-11-23":                  "b",
		"to=IS:2026-11-22":                    "a",
		"from=IS:2026-11-22&to=IS:2026-11-22": "a",
		"query=TOGGLE%3AB":                    "b",
		"unknown=1&unknown=2":                 "b a",
	} {
		status, body := f.serve(query)
		var page struct {
			Events []struct{ FeatureName string }
		}
		err := json.Unmarshal([]byte(body), &page)
		var names []string
		for _, e := range page.Events {
			names = append(names, e.FeatureName)
		}
		if got := strings.Join(names, " "); status != 200 || err != nil || got != want {
			t.Errorf("%s: %d %s, want %s", query, status, body, want)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for query, want := range map[string]string{
		"type=x": "`/query/type` parameter must begin with IS: or IS_ANY_OF: and have a " +
			"value; you sent \"x\"",
		"type=IS:":          "`/query/type`",
		"type=":             "`/query/type`",
		"token=IS_ANY_OF:a": "`/query/token` parameter must begin with IS: and",
		"createdBy=IS:x": "`/query/createdBy` parameter must have ids that are positive integers; " +
			"you sent \"IS:x\"",
		"createdBy=IS:01":                        "`/query/createdBy`",
		"id=IS:0":                                "`/query/id`",
		"id=IS:9007199254740992":                 "`/query/id`",
		"from=IS:2026-02-30":                     "`/query/from` parameter must be IS: and a date",
		"from=2026-02-20":                        "`/query/from`",
		"to=IS:0000-01-01":                       "`/query/to`",
		"from=IS:2026-11-23&to=IS:2026-11-22":    "`/query/from` parameter must not be after `/query/to`",
		"limit=0":                                "`/query/limit` parameter must be an integer from 1 to 1000; you sent \"0\"",
		"limit=1001":                             "`/query/limit`",
		"limit=01":                               "`/query/limit`",
		"limit=":                                 "`/query/limit`",
		"offset=-1":                              "`/query/offset`",
		"offset=1&offset=2":                      "`/query/offset` parameter must be sent once; you sent \"1 and 2\"",
		"query=" + strings.Repeat("%C3%A9", 101): "`/query/query` parameter must have at most 100 characters",
		"id=IS_ANY_OF:" + strings.Repeat("1,", 100) + "1": "`/query/id` parameter must have at most 100 values",
	} {
		if status, message := f.serve(query); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %s, want %s", query, status, message, want)
		}
	}
	if status, message := f.serve("limit=0&" + url.Values{"from": {"x"}}.Encode()); !strings.Contains(message,
		"/query/from") || !strings.Contains(message, "/query/limit") {
		t.Error(status, message)
	}
}

// TestLargePage checks that a response has at most 5 MB of events and can be continued.
func TestLargePage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range 450 {
		f.record(t.Context(), t, eventlog.Change{
			Type: eventlog.FeatureUpdated, Subject: "toggle:a", Data: map[string]any{"a": strings.Repeat("x", 450),
				"list": strings.Split(strings.Repeat("x", 3000), "")},
		})
	}
	seen := map[int64]bool{}
	for len(seen) < 450 {
		status, body := f.serveWithin(t.Context(), time.Minute, fmt.Sprintf("limit=1000&offset=%d", len(seen)))
		var page struct {
			Events []struct{ ID int64 }
			Total  int
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || page.Total != 450 ||
			len(body) > 6_000_000 || len(page.Events) == 0 {
			t.Fatalf("%d, %d bytes, %d events of %d, %v", status, len(body), len(page.Events), page.Total, err)
		}
		for _, e := range page.Events {
			seen[e.ID] = true
		}
	}
}

// TestSearchTakesTooLong checks that a search ends after four seconds and asks for a narrower one, unless the caller
// had less time.
func TestSearchTakesTooLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client, _ := f.Through(t, (*database.Call).Hang)
	f.Log = eventlog.New(client, f.Tables, start, 0)
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		status, message := f.serve("")
		if took := time.Since(started); status != 400 || !strings.Contains(message, "`/query/from`") || took != 4*time.Second {
			t.Errorf("%d %s after %s", status, message, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if status, message := f.serveWithin(ctx, eventlog.SearchTime, ""); status < 500 {
			t.Error(status, message)
		}
	})
}

func TestFunctionsNeedTheirTable(t *testing.T) {
	t.Parallel()
	database.RequireVariables(t, database.New(t).Env(t), eventlog.NewSearchFunction, "EVENTS_TABLE")
}
