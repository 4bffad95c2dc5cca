package featuresearch_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// searchable creates toggles for searches.
func searchable(tb testing.TB) toggles.Fixture {
	tb.Helper()
	db := toggles.NewFixture(tb)
	db.Create(tb, `{"name":"checkout","contextFields":["a"]}`,
		`{"name":"banner","type":"short","createdAt":"2026-11-21T05:39:00.123Z","description":"The Checkout's banner"}`,
		`{"name":"login","type":"long","project":"shop"}`,
		`{"name":"stop","type":"endless","project":"shop","createdAt":"2026-12-01T00:00:00Z","contextFields":["a","b"]}`,
		`{"name":"old","createdAt":"2026-10-01T00:00:00Z","stale":true}`,
		`{"name":"gone","createdAt":"2026-10-02T00:00:00Z","archived":true}`)
	return db
}

func TestSearch(t *testing.T) {
	t.Parallel()
	db := searchable(t)
	client, tap := db.Through(t, nil)
	search := db.Searches(client)
	for _, test := range []struct {
		query string
		names string
		total string
	}{
		{"", "old checkout login banner stop", "5"},
		{"unknown=1&unknown=2", "old checkout login banner stop", "5"},
		{"query=CHECKOUT", "checkout banner", "2"},
		{"query=", "old checkout login banner stop", "5"},
		// words and alternatives
		{"query=check%20banner", "banner", "1"},
		{"query=banner%20%20CHECK%09", "banner", "1"},
		{"query=check%20login", "", "0"},
		{"query=stop,log", "login stop", "2"},
		{"query=%20,stop%20,", "stop", "1"},
		{"query=,", "old checkout login banner stop", "5"},
		{"project=IS:shop", "login stop", "2"},
		{"project=IS_NOT:shop", "old checkout banner", "3"},
		{"project=IS:shop,default", "", "0"},
		{"project=IS_ANY_OF:shop,x", "login stop", "2"},
		{"type=IS_ANY_OF:short,long", "login banner", "2"},
		{"type=IS_NONE_OF:short,release", "login stop", "2"},
		{"type=IS_ANY_OF:Short,LONG", "login banner", "2"},
		{"state=IS:active", "login stop", "2"},
		{"state=IS:stale", "old", "1"},
		{"state=IS:potentially-stale", "checkout banner", "2"},
		{"state=IS_NOT:potentially-stale", "old login stop", "3"},
		{"state=IS_NONE_OF:active,stale", "checkout banner", "2"},
		{"state=IS_ANY_OF:active,potentially-stale", "checkout login banner stop", "4"},
		{"state=IS:potentially-stale&query=checkout%27", "banner", "1"},
		{"state=IS:potentially-stale&contextField=IS:a", "checkout", "1"},
		{"state=IS:potentially-stale&type=IS:short", "banner", "1"},
		{"state=IS:potentially-stale&archived=IS:true", "", "0"},
		{"state=IS:potentially-stale&limit=1&sortOrder=desc", "banner", "2"},
		{"createdAt=IS_BEFORE:2026-11-21", "old checkout login", "3"},
		{"createdAt=IS_ON_OR_AFTER:2026-12-01", "stop", "1"},
		{"createdBefore=2026-11-21T06:39:00.124%2B01:00", "old checkout login banner", "4"},
		{"createdBefore=2026-11-21T05:39:00.123Z", "old checkout login", "3"},
		{"createdBefore=2026-11-21T05:39:00.123Z&createdAt=IS_BEFORE:2026-11-20", "old", "1"},
		{"archived=IS:true", "gone", "1"},
		{"archived=IS:false&project=IS:default", "old checkout banner", "3"},
		{"contextField=IS:a", "checkout stop", "2"},
		{"contextField=IS:x", "", "0"},
		{"limit=2", "old checkout", "5"},
		{"limit=2&offset=4", "stop", "5"},
		{"offset=2147483647", "", "5"},
		{"sortBy=name", "banner checkout login old stop", "5"},
		{"sortBy=type&sortOrder=asc", "stop login checkout old banner", "5"},
		{"sortBy=type&sortOrder=desc", "banner checkout old login stop", "5"},
		{"sortBy=project", "banner checkout old login stop", "5"},
		{"sortBy=stale&sortOrder=desc", "old banner checkout login stop", "5"},
		{"sortBy=potentiallyStaleAt", "banner checkout login old stop", "5"},
		{"sortBy=potentiallyStaleAt&sortOrder=desc", "login checkout banner old stop", "5"},
	} {
		before := len(tap.Calls())
		status, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: test.query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		if status != 200 || strings.Join(names, " ") != test.names || !strings.HasSuffix(text, `"total":`+test.total+`}`) {
			t.Errorf("%s: %d %s", test, status, text)
		}
		scans := strings.Count(tap.Calls()[before:], "Scan")
		if onlyIndex := strings.HasPrefix(test.query, "state=IS:potentially-stale") ||
			strings.Contains(test.query, "NONE_OF:active,stale"); onlyIndex != (scans == 2) {
			t.Errorf("%s: %d scans, of which two read the types and the environments", test.query, scans)
		}
	}
}

// Toggles are found, ordered and returned with when applications last asked for them, in any environment.
func TestSearchByLastUse(t *testing.T) {
	t.Parallel()
	db := searchable(t)
	db.See(t, "login", map[string]time.Time{"prod": time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC)})
	db.See(t, "banner", map[string]time.Time{
		"dev": time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), "prod": time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC),
	})
	search := db.Searches(db.Client)
	for _, test := range []struct{ query, names string }{
		{"lastSeenAt=IS:never", "old checkout stop"},
		{"lastSeenAt=IS_BEFORE:2026-11-01", "login"},
		{"lastSeenAt=IS_BEFORE:2026-11-22", "login banner"},
		{"lastSeenAt=IS_ON_OR_AFTER:2026-10-05", "login banner"},
		{"lastSeenAt=IS_ON_OR_AFTER:2026-11-21", "banner"},
		{"lastSeenAt=IS:never&state=IS:potentially-stale", "checkout"},
		{"sortBy=lastSeenAt", "checkout old stop login banner"},
		{"sortBy=lastSeenAt&sortOrder=desc", "banner login checkout old stop"},
	} {
		status, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: test.query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		if status != http.StatusOK || strings.Join(names, " ") != test.names {
			t.Errorf("%s: %d %s", test, status, text)
		}
	}
	_, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: "query=banner&sortBy=name"})
	if !strings.Contains(text, `"lastSeenAt":"2026-11-21T05:00:00.000Z"`) {
		t.Errorf("no time of the last use: %s", text)
	}
}

// Toggles are found by whether they are on in environments, and by the segments that they use. An environment or a
// segment that does not exist finds nothing.
func TestSearchByState(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	a.CreateSegments(t, "Beta", "NO, SE")
	a.Create(t, `{"name":"both"}`, `{"name":"dev"}`, `{"name":"none"}`, `{"name":"prod","type":"endless"}`)
	for _, path := range []string{"both/dev", "both/prod", "dev/dev", "prod/prod"} {
		a.ExpectStatus(t.Context(), t, "on", "default/"+path, "", 200)
	}
	for path, segments := range map[string]string{"both/dev": "1", "dev/prod": "1,2", "prod/prod": "2"} {
		a.ExpectStatus(t.Context(), t, "add strategy", "default/"+path, `{"name":"default","segments":[`+segments+`]}`, 200)
	}
	for _, test := range []struct{ query, names string }{
		{"status=IS:prod:enabled", "both prod"},
		{"status=IS:prod:disabled", "dev none"},
		{"status=IS_NOT:prod:enabled", "dev none"},
		{"status=IS_ANY_OF:prod:enabled,dev:enabled", "both dev prod"},
		{"status=IS_NONE_OF:prod:disabled,dev:disabled", "both"},
		{"status=IS:unknown:enabled", ""},
		{"status=IS:unknown:disabled", ""},
		{"status=IS_NOT:unknown:disabled", "both dev none prod"},
		{"status=IS:prod:disabled&state=IS:potentially-stale", "dev none"}, // reads the index
		{"status=IS:prod:disabled&state=IS:potentially-stale&limit=2", "dev none"},
		{"segment=IS:Beta", "both dev"},
		{"segment=IS:NO,%20SE", "dev prod"},
		{"segment=IS_NOT:Beta", "none prod"},
		{"segment=IS_ANY_OF:Beta,unknown", "both dev"},
		{"segment=IS_NONE_OF:Beta,unknown", "none prod"},
		{"segment=IS:unknown", ""},
		{"segment=IS:NO,%20SE&state=IS:potentially-stale", "dev"},
		{"segment=IS:Beta&status=IS:prod:enabled", "both"},
	} {
		_, _, text := a.Serve(t.Context(), operation.Request{Operation: "search", Query: "sortBy=name&" + test.query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)","type":"\w+","project"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		want := fmt.Sprint(test.names, " ", len(strings.Fields(test.names)))
		if got := fmt.Sprint(strings.Join(names, " "), " ", text[strings.LastIndex(text, ":")+1:len(text)-1]); got != want {
			t.Errorf("%s: %s, not %s", test.query, got, want)
		}
	}
}

// The index is behind: a toggle whose flag was cleared is neither returned nor counted.
func TestSearchReadsTheTogglesOfTheIndex(t *testing.T) {
	t.Parallel()
	db := searchable(t)
	search := db.Searches(db.Before(t, "BatchGetItem", 1, func() { db.Update(t, "banner", `{"stale":true}`) }))
	search.ExpectQuery(t.Context(), t, "search", "state=IS:potentially-stale",
		`200 {"features":[{"name":"checkout","type":"release","project":"default","description":null,`+
			`"impressionData":false,"stale":false,"archived":false,"createdAt":"2026-11-20T05:39:00.123Z","createdBy":null,`+
			`"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z","lastSeenAt":null,"environments":[],`+
			`"segments":[],"dependencies":[],"children":[],"dependencyType":null,"tags":[],"favorite":false}],"total":1}`)
}

// The type of a toggle changes after the toggle was read from the index, and before the index of the new type is read.
// It is returned and counted once.
func TestSearchWhileATypeChanges(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"x","type":"short"}`, `{"name":"y","type":"release"}`)
	shard := featuretable.Shard("x")
	before, after := featuretable.StalenessKey("short", true, shard), featuretable.StalenessKey("release", true, shard)
	var once sync.Once
	changed := make(chan struct{})
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		switch {
		case c.Operation == "Query" && strings.Contains(c.Body, `"`+before+`"`):
			r, err := c.Pass()
			once.Do(func() {
				db.Update(t, "x", `{"type":"release"}`)
				close(changed)
			})
			return r, err
		case c.Operation == "Query" && strings.Contains(c.Body, `"`+after+`"`):
			<-changed
		}
		return c.Pass()
	})
	status, _, text := db.Searches(client).Serve(t.Context(),
		operation.Request{Operation: "search", Query: "state=IS:potentially-stale"})
	if status != http.StatusOK || strings.Count(text, `"name":"x"`) != 1 || !strings.HasSuffix(text, `"total":2}`) {
		t.Errorf("%d %s", status, text)
	}
}

func TestSearchRejectsInvalidParameters(t *testing.T) {
	t.Parallel()
	search := toggles.Searches(nil, nil)
	for _, test := range []struct {
		query     string
		parameter string
		message   string // the beginning
	}{
		{"type=release", "type", "must begin with IS: or IS_NOT: or IS_ANY_OF: or IS_NONE_OF: and have a value"},
		{"project=IS:", "project", "must begin with IS: or IS_NOT:"},
		{"state=IS:new", "state", "must have the states active, stale or potentially-stale"},
		{"createdAt=IS:2026-11-20", "createdAt", "must begin with IS_BEFORE: or IS_ON_OR_AFTER:"},
		{"createdBefore=2026-11-20", "createdBefore", "must be an RFC 3339 date-time"},
		{"archived=true", "archived", `must be IS:false or IS:true; you sent "true".`},
		{"contextField=IS_NOT:a", "contextField", "must begin with"},
		{"limit=101", "limit", "must be an integer from 1 to 100"},
		{"offset=-1", "offset", "must be an integer"},
		{"sortBy=age", "sortBy", "must be createdAt or name or type"},
		{"query=" + strings.Repeat("x", 1001), "query", "must have at most 1000 characters"},
		{"tag=IS:a", "tag", `is not supported; you sent "IS:a".`},
		{"favoritesFirst=true", "favoritesFirst", "is not supported"},
		{"segment=", "segment", "must begin with IS: or IS_NOT:"},
		{"status=production:enabled", "status", "must begin with IS: or IS_NOT:"},
		{"status=IS:production", "status", "must have an environment and enabled or disabled"},
		{"status=IS_ANY_OF:production:enabled,production:on", "status", "must have an environment and enabled or disabled"},
		{"status=IS_NOT::enabled", "status", "must have an environment and enabled or disabled"},
		{"lifecycle=a", "lifecycle", "is not supported"},
		{"favorite=a", "favorite", "is not supported"},
		{"createdBy=a", "createdBy", "is not supported"},
		{"lastSeenAt=IS:2026-11-20", "lastSeenAt", "must begin with IS_BEFORE: or IS_ON_OR_AFTER:"},
		{"lastSeenAt=IS_BEFORE:never", "lastSeenAt", "must be IS_BEFORE: or IS_ON_OR_AFTER: and a date"},
		{"lastSeenAt=IS:never&lastSeenAt=IS:never", "lastSeenAt", "must be sent once"},
		{"sortOrder=x&limit=0", "sortOrder", "must be asc or desc; you sent \"x\". The `/query/limit` "},
	} {
		status, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: test.query})
		want := fmt.Sprintf("ValidationError: The `/query/%s` parameter %s", test.parameter, test.message)
		if status != http.StatusBadRequest || !strings.HasPrefix(text, want) {
			t.Errorf("%.100s: %d %s\nwant %s", test.query, status, text, want)
		}
	}
}
