package feature_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/operation"
	"toggleadmin/test/table"
)

// searchable creates toggles for searches:
//
//	name      project  type     created             state
//	checkout  default  release  2026-11-20          potentially stale, uses a
//	banner    default  short    2026-11-21 05:39    potentially stale, description "The Checkout's banner"
//	login     shop     long     2026-11-20          active
//	stop      shop     endless  2026-12-01 00:00    active, uses a and b
//	old       default  release  2026-10-01          marked as stale
//	gone      default  release  2026-10-02          archived
func searchable(tb testing.TB) (tables, context.Context) {
	tb.Helper()
	db, ctx := newTyped(tb)
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	for _, f := range []feature.Feature{
		toggle("checkout", "a"),
		{Name: "banner", Project: "default", Type: "short", CreatedAt: created().AddDate(0, 0, 1),
			Description: new("The Checkout's banner")},
		{Name: "login", Project: "shop", Type: "long", CreatedAt: created()},
		{Name: "stop", Project: "shop", Type: "endless", CreatedAt: day(12, 1), ContextFields: []string{"a", "b"}},
		{Name: "old", Project: "default", Type: "release", CreatedAt: day(10, 1), Stale: true},
		{Name: "gone", Project: "default", Type: "release", CreatedAt: day(10, 2), Archived: true},
	} {
		assert.OK(tb, db.store.Create(ctx, f))
	}
	return db, ctx
}

func TestSearch(t *testing.T) {
	t.Parallel()
	db, ctx := searchable(t)
	client, tap := db.Through(t, nil)
	search := handlers(feature.NewStore(client, db.Tables, nil))
	for _, row := range table.Rows(t, 3, `
		# query | names | total; 0: their number
		| old checkout login banner stop | 0
		unknown=1&unknown=2 | old checkout login banner stop | 0
		query=CHECKOUT | checkout banner | 0
		query= | old checkout login banner stop | 0
		project=IS:shop | login stop | 0
		project=IS_NOT:shop | old checkout banner | 0
		project=IS:shop,default |  | 0
		project=IS_ANY_OF:shop,x | login stop | 0
		type=IS_ANY_OF:short,long | login banner | 0
		type=IS_NONE_OF:short,release | login stop | 0
		state=IS:active | login stop | 0
		state=IS:stale | old | 0
		state=IS:potentially-stale | checkout banner | 0
		state=IS_NOT:potentially-stale | old login stop | 0
		state=IS_NONE_OF:active,stale | checkout banner | 0
		state=IS_ANY_OF:active,potentially-stale | checkout login banner stop | 0
		state=IS:potentially-stale&query=checkout%27 | banner | 0
		state=IS:potentially-stale&contextField=IS:a | checkout | 0
		state=IS:potentially-stale&type=IS:short | banner | 0
		state=IS:potentially-stale&archived=IS:true |  | 0
		state=IS:potentially-stale&limit=1&sortOrder=desc | banner | 2
		createdAt=IS_BEFORE:2026-11-21 | old checkout login | 0
		createdAt=IS_ON_OR_AFTER:2026-12-01 | stop | 0
		createdBefore=2026-11-21T06:39:00.124%2B01:00 | old checkout login banner | 0
		createdBefore=2026-11-21T05:39:00.123Z | old checkout login | 0
		createdBefore=2026-11-21T05:39:00.123Z&createdAt=IS_BEFORE:2026-11-20 | old | 0
		archived=IS:true | gone | 0
		archived=IS:false&project=IS:default | old checkout banner | 0
		contextField=IS:a | checkout stop | 0
		contextField=IS:x |  | 0
		limit=2 | old checkout | 5
		limit=2&offset=4 | stop | 5
		offset=2147483647 |  | 5
		sortBy=name | banner checkout login old stop | 0
		sortBy=type&sortOrder=asc | stop login checkout old banner | 0
		sortBy=type&sortOrder=desc | banner checkout old login stop | 0
		sortBy=project | banner checkout old login stop | 0
		sortBy=stale&sortOrder=desc | old banner checkout login stop | 0
		sortBy=potentiallyStaleAt | banner checkout login old stop | 0
		sortBy=potentiallyStaleAt&sortOrder=desc | login checkout banner old stop | 0
	`) {
		before := len(tap.Calls())
		status, _, text := search.Serve(ctx, operation.Request{Operation: "search", Query: row[0]})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"(\w+)"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		total := row[2]
		if total == "0" {
			total = fmt.Sprint(len(names))
		}
		if status != 200 || strings.Join(names, " ") != row[1] || !strings.HasSuffix(text, `"total":`+total+`}`) {
			t.Errorf("%s: %d %s", row, status, text)
		}
		scans := strings.Count(tap.Calls()[before:], "Scan")
		if onlyIndex := strings.HasPrefix(row[0], "state=IS:potentially-stale") ||
			strings.Contains(row[0], "NONE_OF:active,stale"); onlyIndex != (scans == 1) {
			t.Errorf("%s: %d scans, of which one reads the types", row[0], scans)
		}
	}
}

// The index is behind: a toggle whose flag was cleared is neither returned nor counted.
func TestSearchReadsTheTogglesOfTheIndex(t *testing.T) {
	t.Parallel()
	db, ctx := searchable(t)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "BatchGetItem" {
			_, err := db.store.Update(context.WithoutCancel(ctx), "banner", marked(true))
			assert.OK(t, err)
		}
		return c.Pass()
	})
	search := handlers(feature.NewStore(client, db.Tables, nil))
	if _, _, text := search.Serve(ctx,
		operation.Request{Operation: "search", Query: "state=IS:potentially-stale"}); !strings.HasSuffix(text,
		`"total":1}`) || strings.Contains(text, "banner") {
		t.Error(text)
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	search := handlers(nil)
	for _, row := range table.Rows(t, 2, strings.ReplaceAll(`
		# query | what the error begins with
		type=release | type~ parameter must begin with IS: or IS_NOT: or IS_ANY_OF: or IS_NONE_OF: and have a value…
		project=IS: | project~…
		state=IS:new | state~ parameter must have the states active, stale or potentially-stale…
		createdAt=IS:2026-11-20 | createdAt~ parameter must begin with IS_BEFORE: or IS_ON_OR_AFTER:…
		createdBefore=2026-11-20 | createdBefore~ parameter must be an RFC 3339 date-time…
		archived=true | archived~ parameter must be IS:false or IS:true; you sent "true".
		contextField=IS_NOT:a | contextField~…
		limit=101 | limit~ parameter must be an integer from 1 to 100…
		offset=-1 | offset~…
		sortBy=age | sortBy~ parameter must be createdAt or name or type…
		query=1001x | query~ parameter must have at most 1000 characters…
		tag=IS:a | tag~ parameter is not supported; you sent "IS:a".
		favoritesFirst=true | favoritesFirst~…
		segment= | segment~…
		status=a | status~…
		lifecycle=a | lifecycle~…
		favorite=a | favorite~…
		createdBy=a | createdBy~…
		lastSeenAt=a | lastSeenAt~…
		sortOrder=x&limit=0 | sortOrder~ parameter must be asc or desc; you sent "x". The ~/query/limit~…
	`, "1001x", strings.Repeat("x", 1001))) {
		search.Want(t.Context(), t, operation.Request{Operation: "search", Query: row[0]},
			strings.ReplaceAll("400 ValidationError: The ~/query/"+row[1], "~", "`"))
	}
}
