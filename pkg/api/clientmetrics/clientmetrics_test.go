package clientmetrics_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// hour is the running hour. The clock is at 08:30.
var hour = time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)

func now() time.Time { return hour.Add(30 * time.Minute) }

// operations returns the operations on a table. parameter names the path parameter.
func operations(db *database.Database, parameter string) operation.Set {
	metrics := clientmetrics.NewReader(db.Client, db.Tables, now)
	return operation.Set{Parameters: []string{parameter}, Handlers: map[string]lambdahttp.HandlerFunc{
		"get":          clientmetrics.Get(metrics),
		"list":         clientmetrics.List(metrics),
		"recent":       clientmetrics.ListRecent(metrics),
		"applications": clientmetrics.ListApplications(metrics),
		"application":  clientmetrics.GetApplication(metrics),
		"unknown":      clientmetrics.ListUnknown(metrics),
	}}
}

// put stores a part of an hour that began a number of hours ago.
func put(t *testing.T, db *database.Database, kind usagetable.Kind, hoursAgo int, environment string, content any) {
	t.Helper()
	at := hour.Add(-time.Duration(hoursAgo) * time.Hour)
	item, err := usagetable.MarshalPart(usagetable.Part{
		Kind: kind, Hour: at, Environment: environment, ID: t.Name(), WrittenAt: at.Add(20 * time.Minute),
	}, content)
	assert.OK(t, err)
	db.Put(t, db.Tables[usagetable.Table], item)
}

// tally returns the usage of the toggle banner.
func tally(byApplication usage.ByApplication) usage.Tally {
	return usage.Tally{Features: map[string]usage.ByApplication{"banner": byApplication}}
}

func TestFeature(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	put(t, db, usagetable.KindTally, 0, "production", tally(usage.ByApplication{"shop": {Yes: 1, No: 2}, "blog": {Yes: 4}}))
	put(t, db, usagetable.KindTally, 0, "development", tally(usage.ByApplication{"shop": {No: 8}}))
	put(t, db, usagetable.KindTally, 23, "production", tally(usage.ByApplication{"yesterday": {Yes: 16}}))
	put(t, db, usagetable.KindTally, 24, "production", tally(usage.ByApplication{"earlier": {Yes: 32}}))
	h := operations(db, "name")
	h.Expect(t.Context(), t, "get", "banner", "", `200 {"version":1,"maturity":"stable","featureName":"banner",`+
		`"lastHourUsage":[{"environment":"development","timestamp":"2026-11-27T08:00:00.000Z","yes":0,"no":8},`+
		`{"environment":"production","timestamp":"2026-11-27T08:00:00.000Z","yes":5,"no":2}],`+
		`"seenApplications":["blog","shop","yesterday"]}`)
	h.Expect(t.Context(), t, "get", "unknown", "", `200 {"version":1,"maturity":"stable","featureName":"unknown",`+
		`"lastHourUsage":[],"seenApplications":[]}`)
	h.Expect(t.Context(), t, "get", "%FF", "", "400 ValidationError: The `/params/name` property must be UTF-8, "+
		"percent-encoded and at most 255 characters long; you sent \"%FF\".")
}

// Each environment and application has an entry for each hour. One without reports has no variants.
func TestFeaturePerHour(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	put(t, db, usagetable.KindTally, 0, "production",
		tally(usage.ByApplication{"shop": {Yes: 3, Variants: map[string]int64{"blue": 3}}}))
	put(t, db, usagetable.KindTally, 1, "production", tally(usage.ByApplication{"blog": {No: 1}}))
	put(t, db, usagetable.KindTally, 2, "production", tally(usage.ByApplication{"blog": {No: 9}}))
	h := operations(db, "name")
	entry := func(application, at, counts string) string {
		return fmt.Sprintf(`{"featureName":"banner","appName":%q,"environment":"production","timestamp":"2026-11-27T%s:00.000Z",%s}`,
			application, at, counts)
	}
	for query, want := range map[string]string{
		"hoursBack=2": strings.Join([]string{
			entry("blog", "07:00", `"yes":0,"no":1,"variants":{}`),
			entry("shop", "07:00", `"yes":0,"no":0`),
			entry("blog", "08:00", `"yes":0,"no":0`),
			entry("shop", "08:00", `"yes":3,"no":0,"variants":{"blue":3}`),
		}, ","),
		"hoursBack=1": entry("shop", "08:00", `"yes":3,"no":0,"variants":{"blue":3}`),
	} {
		_, _, got := h.Serve(t.Context(), operation.Request{Operation: "list", Path: "banner", Query: query})
		assert.Equal(t, `{"version":1,"maturity":"stable","data":[`+want+`]}`, got)
	}
	for query, entries := range map[string]int{"": 48, "hoursBack=2160": 4320} {
		_, _, got := h.Serve(t.Context(), operation.Request{Operation: "list", Path: "banner", Query: query})
		assert.Equal(t, entries, strings.Count(got, "featureName"))
	}
	h.Expect(t.Context(), t, "list", "unknown", "", `200 {"version":1,"maturity":"stable","data":[]}`)
}

func TestInvalidHours(t *testing.T) {
	t.Parallel()
	h := operations(database.New(t), "name")
	for _, sent := range []string{"0", "2161", "-1", "1.5", "x", ""} {
		status, _, got := h.Serve(t.Context(), operation.Request{
			Operation: "list", Path: "banner", Query: "hoursBack=" + sent,
		})
		assert.Equal(t, 400, status)
		assert.Equal(t, fmt.Sprintf("ValidationError: The `/query/hoursBack` parameter must be an integer from 1 to 2160; "+
			"you sent %q.", sent), got)
	}
}

// A list that does not fit into a response names how many hours do.
func TestTooManyHours(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	applications := usage.ByApplication{}
	for i := range 50 {
		applications[fmt.Sprint("application-", i)] = usage.Counts{Yes: 1}
	}
	put(t, db, usagetable.KindTally, 0, "production", tally(applications))
	h := operations(db, "name")
	status, _, got := h.Serve(t.Context(), operation.Request{Operation: "list", Path: "banner", Query: "hoursBack=2160"})
	assert.Equal(t, 400, status)
	assert.Equal(t, "ValidationError: The `/query/hoursBack` parameter must be about 654 or less, because 50 applications "+
		"and environments used the toggle, and the list would be too large; you sent \"2160\".", got)
	status, _, _ = h.Serve(t.Context(), operation.Request{Operation: "list", Path: "banner", Query: "hoursBack=654"})
	assert.Equal(t, 200, status)
}

// A list that is too large is not built: it can be larger than the memory.
func TestTooManyHoursBuildNoList(t *testing.T) { //nolint:paralleltest // it measures memory
	db := database.New(t)
	applications := usage.ByApplication{}
	for i := range 300 {
		applications[fmt.Sprint("application-", i)] = usage.Counts{Yes: 1}
	}
	put(t, db, usagetable.KindTally, 0, "production", tally(applications))
	h := operations(db, "name")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, _, _ := h.Serve(t.Context(), operation.Request{Operation: "list", Path: "banner", Query: "hoursBack=2160"})
	runtime.ReadMemStats(&after)
	assert.Equal(t, 400, status)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 20_000_000 {
		t.Errorf("%d bytes were allocated", allocated)
	}
}

// stored returns an application whose last report was a number of minutes ago.
func stored(name string, createdDaysAgo, seenMinutesAgo int) usagetable.Application {
	seen := now().Add(-time.Duration(seenMinutesAgo) * time.Minute)
	return usagetable.Application{
		Name: name, CreatedAt: now().AddDate(0, 0, -createdDaysAgo), SeenAt: seen, Projects: []string{"*"},
		Environments: map[string]usagetable.ApplicationInstance{
			"production": {SeenAt: seen, Instances: 2, SDKs: []string{"sdk:1"}},
		},
	}
}

func TestApplications(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	for _, a := range []usagetable.Application{stored("Shop", 1, 2), stored("blog", 3, 1), stored("shop-2", 2, 3)} {
		db.Put(t, db.Tables[usagetable.Table], usagetable.MarshalApplication(a))
	}
	h := operations(db, "")
	h.ExpectQuery(t.Context(), t, "applications", "limit=1", `200 {"applications":[{"appName":"Shop",`+
		`"createdAt":"2026-11-26T08:30:00.000Z","lastSeenAt":"2026-11-27T08:28:00.000Z","projects":["*"],"strategies":[],`+
		`"environments":[{"name":"production","instanceCount":2,"sdks":["sdk:1"],"lastSeenAt":"2026-11-27T08:28:00.000Z"}]}],`+
		`"total":3}`)
	for _, test := range []struct{ query, names, total string }{
		{"", "Shop blog shop-2", "3"},
		{"sortOrder=desc", "shop-2 blog Shop", "3"},
		{"sortBy=createdAt", "blog shop-2 Shop", "3"},
		{"sortBy=lastSeenAt&sortOrder=desc", "blog Shop shop-2", "3"},
		{"query=sHOP", "Shop shop-2", "2"},
		{"query=none", "", "0"},
		{"offset=1&limit=1", "blog", "3"},
		{"offset=9", "", "3"},
	} {
		_, _, got := h.Serve(t.Context(), operation.Request{Operation: "applications", Query: test.query})
		var names []string
		for _, part := range strings.Split(got, `"appName":"`)[1:] {
			name, _, _ := strings.Cut(part, `"`)
			names = append(names, name)
		}
		assert.Equal(t, test.names, strings.Join(names, " "))
		assert.Equal(t, true, strings.HasSuffix(got, `"total":`+test.total+"}"))
	}
	for parameter, expected := range map[string]string{
		"sortBy=name": "must be appName or createdAt or lastSeenAt", "sortOrder=up": "must be asc or desc",
		"limit=101": "must be an integer from 1 to 100", "offset=-1": "must be an integer from 0 to 2147483647",
	} {
		name, value, _ := strings.Cut(parameter, "=")
		h.ExpectQuery(t.Context(), t, "applications", parameter,
			fmt.Sprintf("400 ValidationError: The `/query/%s` parameter %s; you sent %q.", name, expected, value))
	}
}

// create creates a toggle.
func create(t *testing.T, db *database.Database, name string, archived bool) {
	t.Helper()
	f := toggle.Feature{Name: name, Project: "default", Type: "release", Archived: archived}
	db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f))
}

// An application has what it used in the last 24 hours. A name that was unknown can be a toggle now, and a toggle
// can be deleted.
func TestApplication(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	db.Put(t, db.Tables[usagetable.Table], usagetable.MarshalApplication(stored("shop", 1, 2)))
	create(t, db, "banner", false)
	create(t, db, "created-since", false)
	asked := tally(usage.ByApplication{"shop": {Yes: 1}, "blog": {Yes: 1}})
	asked.Features["deleted-since"] = usage.ByApplication{"shop": {No: 1}}
	asked.Features["of-blog"] = usage.ByApplication{"blog": {No: 1}}
	asked.Unknown = map[string]map[string]int64{"created-since": {"shop": 1}, "unknown-to-blog": {"blog": 1}}
	put(t, db, usagetable.KindTally, 0, "production", asked)
	put(t, db, usagetable.KindTally, 23, "development", tally(usage.ByApplication{"shop": {Yes: 1}}))
	put(t, db, usagetable.KindTally, 24, "earlier", tally(usage.ByApplication{"shop": {Yes: 1}}))
	seen := func(sdk string, frontend bool) usage.Instance {
		return usage.Instance{SDK: sdk, Frontend: frontend, SeenAt: hour}
	}
	put(t, db, usagetable.KindPresence, 0, "production", usage.Presence{
		"shop": {Instances: map[string]usage.Instance{"i-2": seen("", true), "i-1": seen("sdk:1", false)}},
		"blog": {Instances: map[string]usage.Instance{"i-3": seen("", false)}},
	})
	put(t, db, usagetable.KindPresence, 24, "production", usage.Presence{
		"shop": {Instances: map[string]usage.Instance{"i-4": seen("", false)}},
	})
	h := operations(db, "appName")
	got := h.Call(t.Context(), "application", "shop", "")
	_, got, _ = strings.Cut(got, `"instances":`)
	assert.Equal(t, `[`+
		`{"instanceId":"i-1","environment":"production","sdkVersion":"sdk:1","sdkType":"backend","lastSeenAt":"2026-11-27T08:00:00.000Z"},`+
		`{"instanceId":"i-2","environment":"production","sdkVersion":null,"sdkType":"frontend","lastSeenAt":"2026-11-27T08:00:00.000Z"}],`+
		`"seenToggles":[{"name":"banner","notFound":false,"project":"default","environments":["development","production"]},`+
		`{"name":"created-since","notFound":false,"project":"default","environments":["production"]},`+
		`{"name":"deleted-since","notFound":true,"project":null,"environments":["production"]}]}`, got)
	for _, name := range []string{"none", "%FF", strings.Repeat("x", 1025)} {
		h.Expect(t.Context(), t, "application", name, "", fmt.Sprintf("404 NotFoundError: No application with the name %q "+
			"has reported in the last 90 days.", name[:min(len(name), 100)]+strings.Repeat("…", len(name)/1025)))
	}
}

// Archived toggles are not delivered, so that their names are unknown to applications.
func TestUnknown(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	create(t, db, "created-since", false)
	create(t, db, "archived", true)
	unknown := func(names ...string) usage.Tally {
		asked := usage.NewTally()
		for _, name := range names {
			asked.AddUnknown(name, "shop", 1)
		}
		return asked
	}
	h := operations(db, "")
	h.Expect(t.Context(), t, "unknown", "", "", `200 {"unknownFlags":[]}`)
	put(t, db, usagetable.KindTally, 0, "production", unknown("archived", "created-since", strings.Repeat("long", 1000)))
	put(t, db, usagetable.KindTally, 1, "production", unknown("archived", "typo"))
	put(t, db, usagetable.KindTally, 23, "development", unknown("typo"))
	put(t, db, usagetable.KindTally, 24, "development", unknown("earlier"))
	const today, yesterday = `"2026-11-27T07:20:00.000Z"`, `"2026-11-26T09:20:00.000Z"`
	h.Expect(t.Context(), t, "unknown", "", "", `200 {"unknownFlags":[`+
		`{"name":"archived","lastSeenAt":"2026-11-27T08:20:00.000Z","reports":[{"appName":"shop",`+
		`"environments":[{"environment":"production","seenAt":"2026-11-27T08:20:00.000Z"}]}]},`+
		`{"name":"`+strings.Repeat("long", 1000)+`","lastSeenAt":"2026-11-27T08:20:00.000Z","reports":[{"appName":"shop",`+
		`"environments":[{"environment":"production","seenAt":"2026-11-27T08:20:00.000Z"}]}]},`+
		`{"name":"typo","lastSeenAt":`+today+`,"reports":[{"appName":"shop","environments":[`+
		`{"environment":"development","seenAt":`+yesterday+`},{"environment":"production","seenAt":`+today+`}]}]}]}`)
}

// Names that frontend tokens invent hide neither what applications with backend tokens ask for nor archived toggles.
func TestTooManyUnknown(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	create(t, db, "z-archived", true)
	backend, browser := usage.NewTally(), usage.NewTally()
	backend.AddUnknown("z-removed", "shop", 1)
	browser.AddUnknown("z-archived", "page", 1)
	for i := range 999 {
		browser.AddUnknown(fmt.Sprintf("junk-%04d", i), "page", 1)
	}
	put(t, db, usagetable.KindTally, 0, "production", backend)
	put(t, db, usagetable.KindFrontendTally, 0, "production", browser)
	got := operations(db, "").Call(t.Context(), "unknown", "", "")
	assert.Equal(t, 1_000, strings.Count(got, `"lastSeenAt"`))
	for _, name := range []string{"z-archived", "z-removed", "junk-0000", "junk-0997"} {
		assert.Equal(t, true, strings.Contains(got, `"name":"`+name+`"`))
	}
}

// Of too many instances, those of backend tokens, and those that have reported last, are listed.
func TestTooManyInstances(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	db.Put(t, db.Tables[usagetable.Table], usagetable.MarshalApplication(stored("shop", 1, 2)))
	reported := func(frontend bool, n int) usage.Presence {
		instances := map[string]usage.Instance{}
		for i := range n {
			instances[fmt.Sprint(frontend, "-", i)] = usage.Instance{
				Frontend: frontend, SeenAt: hour.Add(time.Duration(i) * time.Second),
			}
		}
		return usage.Presence{"shop": {Instances: instances}}
	}
	put(t, db, usagetable.KindPresence, 0, "production", reported(false, 1))
	put(t, db, usagetable.KindFrontendPresence, 0, "production", reported(true, 1_001))
	got := operations(db, "appName").Call(t.Context(), "application", "shop", "")
	assert.Equal(t, 1_000, strings.Count(got, `"instanceId"`))
	for id, listed := range map[string]bool{"false-0": true, "true-1": false, "true-2": true} {
		assert.Equal(t, listed, strings.Contains(got, `"instanceId":"`+id+`"`))
	}
}

// Of a toggle and an application of a private project, others get what they get of one that does not exist.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	db.PutPrivateProject(t)
	for _, f := range []toggle.Feature{
		{Name: "hidden", Project: "secret"}, {Name: "archived", Project: "secret", Archived: true},
	} {
		db.Put(t, db.Tables[featuretable.Table], featuretable.Marshal(f.Normalized()))
	}
	put(t, db, usagetable.KindTally, 0, "production", usage.Tally{Features: map[string]usage.ByApplication{
		"hidden": {"shop": {Yes: 1}}, "archived": {"shop": {Yes: 1}}}})
	notRecorded := usage.NewTally() // its application can have a token of the private project
	notRecorded.AddUnknown("typo", "new", 1)
	put(t, db, usagetable.KindTally, 1, "production", notRecorded)
	h := operations(db, "name")
	h.Projects = db.ProjectReader()
	viewer := operation.Viewer(t.Context())
	for _, name := range []string{"hidden", "archived"} {
		h.Expect(viewer, t, "get", name, "", `200 {"version":1,"maturity":"stable","featureName":"`+name+
			`","lastHourUsage":[],"seenApplications":[]}`)
		h.Expect(viewer, t, "list", name, "", `200 {"version":1,"maturity":"stable","data":[]}`)
	}
	h.ExpectQuery(viewer, t, "applications", "", `200 {"applications":[],"total":0}`)
	h.Expect(viewer, t, "unknown", "", "", `200 {"unknownFlags":[]}`)
	metrics := clientmetrics.NewReader(db.Client, db.Tables, now)
	for account, want := range map[string]map[string]map[string]bool{
		"viewer": {}, "admin": {"shop": {"hidden": true, "archived": true}},
	} {
		ctx := access.WithProjects(map[string]context.Context{"viewer": viewer, "admin": access.AsOperator(t.Context())}[account], db.ProjectReader())
		uses, err := metrics.Uses(ctx, []string{"shop"})
		assert.OK(t, err)
		assert.Equal(t, want, uses)
	}
}
