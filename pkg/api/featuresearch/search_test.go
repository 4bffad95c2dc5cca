package featuresearch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
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
		{"stage=IS:overdue", "checkout banner", "2"},
		{"lifecycle=IS:completed", "old", "1"},
		{"lifecycle=IS_ANY_OF:completed,archived&sortBy=name", "gone old", "2"},
		{"lifecycle=IS_NOT:initial", "old", "1"},
		{"lifecycle=IS:initial&stage=IS_NOT:new", "checkout banner", "2"},
		{"state=IS:potentially-stale&lifecycle=IS:initial", "checkout banner", "2"},
		{"state=IS:potentially-stale&lifecycle=IS:live", "", "0"},
		{"stage=IS:new", "login stop", "2"},
		{"stage=IS:to-remove", "old", "1"},
		{"stage=IS:archived", "gone", "1"},
		{"stage=IS_ANY_OF:archived,to-remove&sortBy=name", "gone old", "2"},
		{"stage=IS:archived&archived=IS:false", "", "0"},
		{"stage=IS_NOT:new", "old checkout banner", "3"},
		{"stage=IS_NONE_OF:new,to-remove,archived", "checkout banner", "2"},
		{"state=IS:potentially-stale&stage=IS:overdue", "checkout banner", "2"},
		{"state=IS:potentially-stale&stage=IS_NOT:overdue", "", "0"},
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
		if onlyIndex := strings.HasPrefix(test.query, "state=IS:potentially-stale") || test.query == "stage=IS:overdue" ||
			strings.Contains(test.query, "NONE_OF:active,stale"); onlyIndex != (scans == 2) {
			t.Errorf("%s: %d scans, of which two read the types and the environments", test.query, scans)
		}
	}
}

// Toggles are found, ordered and returned with when applications last used them, in any environment.
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

// Toggles are found by their tags, also in the index, which does not have them.
func TestSearchByTags(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","Tags":[{"type":"simple","value":"x:1"},{"type":"simple","value":"y"}]}`,
		`{"name":"b","Tags":[{"type":"simple","value":"y"}]}`, `{"name":"c"}`)
	search := db.Searches(db.Client)
	for query, want := range map[string]string{
		"INCLUDE:simple:y":                            "a b",
		"INCLUDE:simple:x:1":                          "a",
		"INCLUDE:other:y":                             "",
		"DO_NOT_INCLUDE:simple:y":                     "c",
		"INCLUDE_ANY_OF:simple:x:1,simple:z":          "a",
		"INCLUDE_ALL_OF:simple:x:1,simple:y":          "a",
		"EXCLUDE_IF_ANY_OF:simple:x:1,simple:z":       "b c",
		"EXCLUDE_ALL:simple:x:1,simple:y":             "b c",
		"INCLUDE:simple:y&state=IS:potentially-stale": "a b",
	} {
		_, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: "sortBy=name&tag=" + query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)","type":"\w+","project"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, not %q", query, got, want)
		}
	}
}

// Toggles are found by their owners, also in the index, which does not have them.
func TestSearchByOwner(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","Owner":{"kind":"user","id":7}}`, `{"name":"b","Owner":{"kind":"group","id":7}}`,
		`{"name":"c","Owner":{"kind":"text","name":"X: y"}}`, `{"name":"d"}`)
	search := db.Searches(db.Client)
	for query, want := range map[string]string{
		"IS:user:7":                             "a",
		"IS_ANY_OF:user:7,group:7,user:1":       "a b",
		"IS:text:X: y":                          "c",
		"IS:none":                               "d",
		"IS_NONE_OF:none,user:7":                "b c",
		"IS:group:7&state=IS:potentially-stale": "b",
	} {
		_, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: "sortBy=name&owner=" + query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)","type":"\w+","project"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		assert.Equal(t, want, strings.Join(names, " "))
	}
}

// The owner me stands for the caller and the groups of the caller.
func TestSearchOwn(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","Owner":{"kind":"user","id":7}}`, `{"name":"b","Owner":{"kind":"group","id":3}}`,
		`{"name":"c","Owner":{"kind":"group","id":7}}`, `{"name":"d"}`)
	search := db.Searches(db.Client)
	as := func(account int64, groups ...access.Group) access.Principal {
		return access.MemberPrincipal(account, access.RoleViewer, groups, nil)
	}
	member, other := as(7, access.Group{ID: 3}), as(8)
	apiToken := access.Principal{ID: "api-token:a", Permissions: []access.Permission{access.Admin}}
	for _, test := range []struct {
		as          access.Principal
		query, want string
	}{
		{member, "owner=IS:me", "a b"},
		{member, "owner=IS_NOT:me", "c d"},
		{member, "owner=IS_ANY_OF:none,me", "a b d"},
		{member, "owner=IS:me&state=IS:potentially-stale", "a b"},
		{other, "owner=IS:me", ""},
		{other, "owner=IS_NONE_OF:me,none", "a b c"},
		{apiToken, "owner=IS:me", ""},
		{apiToken, "owner=IS_NOT:me", "a b c d"},
	} {
		assert.Equal(t, test.want, found(access.WithPrincipal(t.Context(), test.as), search, test.query))
	}
}

// Toggles are found by who created them, also in the index, which does not have it. An imported toggle has a creator
// without an id.
func TestSearchByCreator(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","CreatedBy":{"id":7}}`, `{"name":"b","CreatedBy":{"id":8}}`, `{"name":"c","CreatedBy":{"name":"ada"}}`,
		`{"name":"d"}`)
	search := db.Searches(db.Client)
	for query, want := range map[string]string{
		"createdBy=IS:7":                                "a",
		"createdBy=IS_NOT:7":                            "b c d",
		"createdBy=IS_ANY_OF:7,8":                       "a b",
		"createdBy=IS_NONE_OF:7,8&state=IS_NOT:active":  "c d",
		"createdBy=IS:8&state=IS:potentially-stale":     "b",
		"createdBy=IS_NOT:8&state=IS:potentially-stale": "a c d",
	} {
		assert.Equal(t, want, found(t.Context(), search, query))
	}
}

// Toggles are found by whether they are favorites of the caller.
func TestSearchByFavorite(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","type":"endless"}`, `{"name":"b"}`, `{"name":"c"}`)
	search, viewer := db.Searches(db.Client), operation.Viewer(t.Context())
	favorites := favorite.NewStore(db.Client, db.Tables)
	for _, name := range []string{"a", "b"} {
		assert.OK(t, favorites.Add(viewer, favorite.Feature(db.Toggle(t, name))))
	}
	for query, want := range map[string]string{
		"favorite=IS:true":                            "a b",
		"favorite=IS:false":                           "c",
		"favorite=IS:true&state=IS:potentially-stale": "b",
	} {
		assert.Equal(t, want, found(viewer, search, query))
	}
	assert.Equal(t, "", found(t.Context(), search, "favorite=IS:true")) // another caller
}

// Toggles are found by the applications that used them in the last 24 hours.
func TestSearchByApplication(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a"}`, `{"name":"b"}`, `{"name":"c","type":"endless"}`)
	for hoursAgo, features := range map[int]map[string]usage.ByApplication{
		0:  {"a": {"web": {Yes: 1}}, "unknown": {"web": {No: 1}}},
		23: {"c": {"web": {No: 1}, "mobile": {Yes: 1}}},
		24: {"b": {"web": {Yes: 1}}},
	} {
		hour := usage.HourOf(toggles.Now()).Add(-time.Duration(hoursAgo) * time.Hour)
		item, err := usagetable.MarshalPart(usagetable.Part{
			Kind: usagetable.KindTally, Hour: hour, Environment: "production", ID: "1", WrittenAt: hour,
		}, usage.Tally{Features: features})
		assert.OK(t, err)
		db.Put(t, db.Tables[usagetable.Table], item)
	}
	search := db.Searches(db.Client)
	for query, want := range map[string]string{
		"application=IS:web":                            "a c",
		"application=IS_NOT:web":                        "b",
		"application=IS_ANY_OF:mobile,other":            "c",
		"application=IS_NONE_OF:mobile,other":           "a b",
		"application=IS:other":                          "",
		"application=IS:web&state=IS:potentially-stale": "a",
	} {
		assert.Equal(t, want, found(t.Context(), search, query))
	}
}

// found returns the names of the toggles that a search finds, sorted.
func found(ctx context.Context, search operation.Set, query string) string {
	_, _, text := search.Serve(ctx, operation.Request{Operation: "search", Query: query + "&sortBy=name"})
	var body struct {
		Features []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return text
	}
	names := make([]string, len(body.Features))
	for i, f := range body.Features {
		names[i] = f.Name
	}
	return strings.Join(names, " ")
}

// A toggle that is kept is potentially stale, and not overdue.
func TestSearchKept(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"kept","Keep":{"Until":"2026-12-31T00:00:00Z"}}`, `{"name":"ended","Keep":{"Until":"2026-12-30T00:00:00Z"}}`)
	search := db.Searches(db.Client)
	for query, want := range map[string]string{
		"stage=IS:overdue":           "ended",
		"stage=IS:new":               "kept",
		"state=IS:potentially-stale": "ended kept",
	} {
		_, _, text := search.Serve(t.Context(), operation.Request{Operation: "search", Query: "sortBy=name&" + query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)","type":"\w+","project"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		assert.Equal(t, want, strings.Join(names, " "))
	}
	counts := search.Call(t.Context(), "count", "", "")
	if !strings.Contains(counts, `"overdue":1`) || !strings.Contains(counts, `"new":1`) {
		t.Error(counts)
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
			`"owner":null,"keepUntil":null,"keepReason":null,"archivedAt":null,"potentiallyStale":true,"potentiallyStaleAt":"2026-12-30T05:39:00.123Z","stage":"overdue",`+
			`"lifecycle":{"stage":"initial","enteredStageAt":"2026-11-20T05:39:00.123Z"},"lastSeenAt":null,"environments":[],`+
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
		{"tag=INCLUDE:a", "tag", "must have tags such as simple:checkout"},
		{"owner=IS:ada", "owner", "must have owners such as user:7, group:3, text:Checkout team, me or none"},
		{"lifecycle=IS:new", "lifecycle", "must have the stages initial, pre-live, live, completed or archived"},
		{"favoritesFirst=yes", "favoritesFirst", "must be false or true"},
		{"segment=", "segment", "must begin with IS: or IS_NOT:"},
		{"status=production:enabled", "status", "must begin with IS: or IS_NOT:"},
		{"status=IS:production", "status", "must have an environment and enabled or disabled"},
		{"status=IS_ANY_OF:production:enabled,production:on", "status", "must have an environment and enabled or disabled"},
		{"status=IS_NOT::enabled", "status", "must have an environment and enabled or disabled"},
		{"stage=IS:old", "stage", "must have the stages new, rolling-out, complete, overdue, to-remove or archived"},
		{"favorite=true", "favorite", "must be IS:true or IS:false"},
		{"favorite=", "favorite", "must be IS:true or IS:false"},
		{"createdBy=IS:ada", "createdBy", "must have ids of accounts such as 7"},
		{"createdBy=IS_ANY_OF:7,07", "createdBy", "must have ids of accounts such as 7"},
		{"application=web", "application", "must begin with IS: or IS_NOT:"},
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

// A toggle is complete that is on for everybody in each production environment for a week.
func TestSearchByStage(t *testing.T) {
	t.Parallel()
	a, ctx := toggles.NewActive(t), t.Context()
	environments := environment.NewStore(a.Client, a.Tables, a.Log())
	addProduction := func(name string) {
		_, err := environments.Create(ctx, environment.Environment{Name: name, Type: environment.TypeProduction, Last: true})
		assert.OK(t, err)
	}
	addProduction("live")
	log := eventlog.New(a.Client, a.Tables, func() time.Time { return toggles.Now().Add(-toggle.CompleteAfter) }, 0)
	aWeekAgo := toggles.Activation(feature.NewStore(a.Client, a.Tables, log))
	a.Create(t, `{"name":"complete","type":"endless"}`, `{"name":"child","type":"endless"}`, `{"name":"late","type":"endless"}`,
		`{"name":"part","type":"endless"}`)
	aWeekAgo.ExpectStatus(ctx, t, "on", "default/complete/live", "", 200)
	aWeekAgo.ExpectStatus(ctx, t, "on", "default/child/live", "", 200)
	aWeekAgo.ExpectStatus(ctx, t, "add strategy", "default/part/live",
		`{"name":"flexibleRollout","parameters":{"rollout":"25"}}`, 200)
	aWeekAgo.ExpectStatus(ctx, t, "on", "default/part/live", "", 200)
	aWeekAgo.ExpectStatus(ctx, t, "depend", "default/child", `{"feature":"complete"}`, 200)
	a.ExpectStatus(ctx, t, "on", "default/late/live", "", 200)
	a.See(t, "part", map[string]time.Time{"live": toggles.Now()})
	expect := func(stage, want string) {
		t.Helper()
		var names []string
		_, _, text := a.Serve(ctx, operation.Request{Operation: "search", Query: "sortBy=name&stage=IS:" + stage})
		for _, match := range regexp.MustCompile(`{"name":"(\w+)","type":"endless"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		assert.Equal(t, want, strings.Join(names, " "))
	}
	expect("complete", "complete")
	expect("rolling-out", "part")
	expect("new", "child late")
	if text := a.Call(ctx, "count", "", ""); !strings.Contains(text, `"complete":1,"new":2,"overdue":0,"rolling-out":1`) {
		t.Error(text)
	}

	a.ExpectStatus(ctx, t, "update", "default/complete", `{"description":"The new checkout"}`, 200)
	expect("complete", "complete")
	addProduction("live-eu")
	expect("complete", "")
}

// The favorites of the caller are first, each part in the order of the search, on all pages.
func TestFavoritesFirst(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a","type":"endless"}`, `{"name":"b","type":"endless"}`, `{"name":"c"}`, `{"name":"d"}`)
	h, viewer := db.Searches(db.Client), operation.Viewer(t.Context())
	favorites := favorite.NewStore(db.Client, db.Tables)
	for _, name := range []string{"b", "d"} {
		assert.OK(t, favorites.Add(viewer, favorite.Feature(db.Toggle(t, name))))
	}
	for query, want := range map[string]string{
		"favoritesFirst=true&sortBy=name":                            "b:true d:true a:false c:false",
		"favoritesFirst=true&sortBy=name&sortOrder=desc":             "d:true b:true c:false a:false",
		"favoritesFirst=true&sortBy=name&limit=2&offset=1":           "d:true a:false",
		"favoritesFirst=true&sortBy=name&state=IS:potentially-stale": "d:true c:false", // by the staleness index
		"favoritesFirst=false&sortBy=name":                           "a:false b:true c:false d:true",
	} {
		_, _, text := h.Serve(viewer, operation.Request{Operation: "search", Query: query})
		var body struct {
			Features []struct {
				Name     string
				Favorite bool
			}
		}
		assert.OK(t, json.Unmarshal([]byte(text), &body))
		var got []string
		for _, f := range body.Features {
			got = append(got, fmt.Sprintf("%s:%t", f.Name, f.Favorite))
		}
		assert.Equal(t, want, strings.Join(got, " "))
	}
}
