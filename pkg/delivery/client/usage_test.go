package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// tally returns what was counted in production in an hour, without the times.
func (f *fixture) tally(hour time.Time) usage.Tally {
	f.Helper()
	sum := usage.NewTally()
	err := usagetable.WalkTallies(f.Context(), f.db.Client, f.db.Tables[usagetable.Table], usage.HourOf(hour),
		func(part usagetable.Part, tally usage.Tally) {
			if part.Environment != "production" {
				return
			}
			for feature, by := range tally.Features {
				for application, counts := range by {
					sum.Add(feature, application, counts)
				}
			}
			for name, by := range tally.Unknown {
				for application, reports := range by {
					sum.AddUnknown(name, application, reports)
				}
			}
		})
	assert.OK(f, err)
	return sum
}

func (f *fixture) presence() usage.Presence {
	f.Helper()
	sum := usage.Presence{}
	err := usagetable.WalkPresences(f.Context(), f.db.Client, f.db.Tables[usagetable.Table], usage.HourOf(f.now),
		func(_ usagetable.Part, presence usage.Presence) { sum.Merge(presence) })
	assert.OK(f, err)
	return sum
}

func (f *fixture) requests() usage.Requests {
	f.Helper()
	all, err := usagetable.ReadRequests(f.Context(), f.db.Client, f.db.Tables[usagetable.Table], usage.HourOf(f.now))
	assert.OK(f, err)
	return all
}

// A report is counted as far as it makes sense, in whatever form SDKs send it.
func TestCountedReports(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{Variants: []toggle.Variant{{Name: "red", Weight: 1000}, {Name: "x"}}})
	f.compile()
	token := f.token(clienttokentable.Backend)
	bucket := func(toggles string) string {
		return `{"bucket":{"start":"2026-11-22T09:59:00Z","stop":"2026-11-22T10:00:00Z","toggles":` + toggles + `}}`
	}
	for name, test := range map[string]struct {
		body string
		want usage.Counts // of the toggle banner
	}{
		"numbers":              {bucket(`{"banner":{"yes":2,"no":1,"variants":{"red":2}}}`), counts(2, 1, "red", 2)},
		"numbers as texts":     {bucket(`{"banner":{"yes":"2","no":null,"variants":{"red":"2"}}}`), counts(2, 0, "red", 2)},
		"a fraction of zero":   {bucket(`{"banner":{"yes":2.0,"no":1}}`), counts(2, 1)},
		"no variants":          {bucket(`{"banner":{"yes":2,"no":1,"variants":null}}`), counts(2, 1)},
		"wrong variants":       {bucket(`{"banner":{"yes":2,"variants":{"red":-1,"blue":[],"x":1}}}`), counts(2, 0, "x", 1)},
		"unknown properties":   {bucket(`{"banner":{"yes":2,"x":{}}},"x":[1]`), counts(2, 0)},
		"a negative number":    {bucket(`{"banner":{"yes":-2,"no":1}}`), usage.Counts{}},
		"a fraction":           {bucket(`{"banner":{"yes":1.5,"no":1}}`), usage.Counts{}},
		"a large number":       {bucket(`{"banner":{"yes":1000000000001}}`), usage.Counts{}},
		"the largest number":   {bucket(`{"banner":{"yes":1000000000000}}`), counts(1_000_000_000_000, 0)},
		"zeros":                {bucket(`{"banner":{"yes":0,"no":0}}`), usage.Counts{}},
		"nothing":              {bucket(`{"banner":{}}`), usage.Counts{}},
		"an entry of its kind": {bucket(`{"other":7,"banner":{"yes":1}}`), counts(1, 0)},
		"no toggles":           {bucket(`null`), usage.Counts{}},
		"a list of toggles":    {bucket(`[]`), usage.Counts{}},
		"a null bucket":        {`{"bucket":null}`, usage.Counts{}},
		"an empty bucket":      {`{"bucket":{}}`, usage.Counts{}},
		"no bucket":            {`{}`, usage.Counts{}},
		"null properties":      {`{"instanceId":null,"strategies":null,"sdkVersion":null}`, usage.Counts{}},
		"other types":          {`{"instanceId":1,"strategies":{"a":1},"sdkVersion":[]}`, usage.Counts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := fmt.Sprintf(`{"appName":%q,%s`, name, strings.TrimPrefix(test.body, "{"))
			got := call(f.process(), "POST", "/api/client/metrics", token, strings.Replace(body, ",}", "}", 1))
			assert.Equal(t, http.StatusAccepted, got.status)
			assert.Equal(t, "", got.body)
			assert.Equal(t, test.want, f.tally(f.now).Features["banner"][name])
			assert.Equal(t, []string{"*"}, f.presence()[name].Projects)
		})
	}
}

// counts returns counts with at most one variant.
func counts(yes, no int64, variant ...any) usage.Counts {
	c := usage.Counts{Yes: yes, No: no}
	if len(variant) > 0 {
		name, _ := variant[0].(string)
		n, _ := variant[1].(int)
		c.Variants = map[string]int64{name: int64(n)}
	}
	return c
}

// Counts fall in the hour in which the SDK's interval ended, if it is one of the last 24 hours. Otherwise they fall in
// the hour of the service.
func TestHourOfReport(t *testing.T) {
	t.Parallel()
	f := newFixture(t) // at 10:00
	f.put("web", "banner", toggle.Strategy{})
	f.compile()
	hour := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		assert.OK(t, err)
		return at
	}
	for i, test := range []struct{ stop, want string }{
		{`"2026-11-22T09:59:59.999Z"`, "2026-11-22T09:00:00Z"},
		{`"2026-11-22T07:30:00.123456789+00:00"`, "2026-11-22T07:00:00Z"},
		{`"2026-11-22T09:30:00+01:00"`, "2026-11-22T08:00:00Z"},
		{`1795341500000`, "2026-11-22T09:00:00Z"},
		{`"2026-11-21T10:00:00Z"`, "2026-11-21T10:00:00Z"},
		{`"2026-11-21T09:59:59Z"`, "2026-11-22T10:00:00Z"},
		{`"1970-01-01T00:00:00.000Z"`, "2026-11-22T10:00:00Z"},
		{`0`, "2026-11-22T10:00:00Z"},
		{`"2026-11-22T10:00:01Z"`, "2026-11-22T10:00:00Z"},
		{`null`, "2026-11-22T10:00:00Z"},
		{`"yesterday"`, "2026-11-22T10:00:00Z"},
	} {
		application := fmt.Sprint("app-", i)
		body := fmt.Sprintf(`{"appName":%q,"bucket":{"start":0,"stop":%s,"toggles":{"banner":{"yes":1}}}}`,
			application, test.stop)
		assert.Equal(t, 202, call(f.process(), "POST", "/api/client/metrics", f.token(clienttokentable.Backend), body).status)
		if got := f.tally(hour(test.want)).Features["banner"][application]; got.Yes != 1 {
			t.Errorf("stop %s: not counted at %s", test.stop, test.want)
		}
	}
}

// Names that the token does not see are counted apart, at most 100 in a day.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{})
	f.put("app", "checkout", toggle.Strategy{})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Backend, "web")
	report := func(names ...string) {
		body := `{"appName":"shop","bucket":{"toggles":{"` + strings.Join(names, `":{"no":3},"`) + `":{"no":3}}}}`
		assert.Equal(t, 202, call(h, "POST", "/api/client/metrics", token, body).status)
		f.now = f.now.Add(10 * time.Second)
	}
	report("banner", "checkout", "removed", "")
	report("removed")
	tally := f.tally(f.now)
	assert.Equal(t, map[string]usage.ByApplication{"banner": {"shop": {No: 3}}}, tally.Features)
	assert.Equal(t, map[string]map[string]int64{"checkout": {"shop": 1}, "removed": {"shop": 2}}, tally.Unknown)

	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprint("unknown-", i))
	}
	report(many...)
	assert.Equal(t, 100, len(f.tally(f.now).Unknown))
	f.now = f.now.Add(24 * time.Hour)
	report("another", strings.Repeat("é", 201))
	assert.Equal(t, map[string]map[string]int64{
		"another": {"shop": 1}, strings.Repeat("é", 200): {"shop": 1},
	}, f.tally(f.now).Unknown)
}

// The reports of all kinds say which applications there are.
func TestPresence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{})
	f.compile()
	backend, browser := f.token(clienttokentable.Backend, "web"), f.token(clienttokentable.Frontend)
	long := strings.Repeat("x", 250)
	h := f.process()
	for _, report := range []struct{ path, token, body string }{
		{"/api/client/register", backend,
			`{"appName":"shop","instanceId":"1","sdkVersion":"node:1","strategies":["default",7]}`},
		{"/api/client/metrics", backend, `{"appName":"` + long + `","instanceId":"` + long + `"}`},
		{"/api/frontend/client/metrics", browser,
			`{"appName":"page","instanceId":"browser","bucket":{"toggles":{"banner":{"yes":1}}}}`},
		{"/api/frontend/client/register", browser, `{"appName":"page"}`},
		{"/api/client/metrics/bulk", backend, `{"metrics":[],"applications":[
			{"appName":"edge","environment":"production","instanceId":"2","sdkVersion":"java:3","sdkType":"frontend"},
			{"appName":"other","environment":"development","instanceId":"3"}, {"appName":null}, 7]}`},
		{"/ofrep/v1/evaluate/flags/banner", browser, `{"context":{"appName":"mobile"}}`},
		{"/ofrep/v1/evaluate/flags/banner", browser, `{"context":{"appName":".."}}`}, // no path contains this name
		{"/ofrep/v1/evaluate/flags/banner", browser, `{}`},
	} {
		got := call(h, "POST", report.path, report.token, report.body, "Unleash-Sdk", "js:2")
		assert.Equal(t, true, got.status == 200 || got.status == 202)
	}
	f.now = f.now.Add(10 * time.Minute)
	poll(h, backend, "")
	at := f.now.Add(-10 * time.Minute)
	instances := func(id, sdk string, frontend bool) map[string]usage.Instance {
		return map[string]usage.Instance{id: {SDK: sdk, Frontend: frontend, SeenAt: at}}
	}
	page := instances("browser", "js:2", true)
	page["default"] = usage.Instance{SDK: "js:2", Frontend: true, SeenAt: at}
	assert.Equal(t, usage.Presence{
		"shop":     {Projects: []string{"web"}, Strategies: []string{"default"}, Instances: instances("1", "node:1", false)},
		long[:200]: {Projects: []string{"web"}, Instances: instances(long[:200], "js:2", false)},
		"page":     {Projects: []string{"*"}, Instances: page},
		"edge":     {Projects: []string{"web"}, Instances: instances("2", "java:3", true)},
		"mobile":   {Projects: []string{"*"}, Instances: instances("default", "", true)},
		"__":       {Projects: []string{"*"}, Instances: instances("default", "", true)},
		"ofrep":    {Projects: []string{"*"}, Instances: instances("default", "", true)},
	}, f.presence())
}

// Edge sends what its clients have counted, one batch for each environment.
func TestBulkMetrics(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{})
	f.compile()
	body := `{"applications":[],"metrics":[
		{"featureName":"banner","appName":"shop","environment":"production","timestamp":"2026-11-22T08:30:00Z",
			"yes":2,"no":1,"variants":{"red":2}},
		{"featureName":"banner","appName":"shop","environment":"production","timestamp":"2026-11-22T08:59:00Z","yes":1},
		{"featureName":"banner","appName":"shop","environment":"development","timestamp":"2026-11-22T08:30:00Z","yes":9},
		{"featureName":"removed","appName":"shop","environment":"production","timestamp":"2026-11-22T08:30:00Z","no":9},
		{"featureName":"banner","environment":"production","yes":9}, {"featureName":7}, null]}`
	got := call(f.process(), "POST", "/api/client/metrics/bulk", f.token(clienttokentable.Backend), body)
	assert.Equal(t, 202, got.status)
	assert.Equal(t, usage.Tally{
		Features: map[string]usage.ByApplication{"banner": {"shop": counts(3, 1, usage.Other, 2)}},
		SeenAt:   map[string]int64{},
		Unknown:  map[string]map[string]int64{"removed": {"shop": 1}},
	}, f.tally(f.now.Add(-2*time.Hour)))
}

// A single evaluation through OFREP counts as use by the application of the context. That of all toggles does not.
func TestCountedEvaluations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{Variants: []toggle.Variant{
		{Name: "red", Weight: 1000, WeightType: "variable", Stickiness: "default"},
	}})
	f.put("web", "off", toggle.Strategy{Parameters: map[string]string{"rollout": "0", "stickiness": "default"}})
	f.compile()
	h, token := f.process(), f.token(clienttokentable.Frontend)
	for _, request := range []struct{ path, body string }{
		{"/banner", `{"context":{"appName":"shop"}}`},
		{"/banner", ``},
		{"/off", ``},
		{"/removed", ``},
		{"", `{"context":{"appName":"all"}}`},
	} {
		call(h, "POST", "/ofrep/v1/evaluate/flags"+request.path, token, request.body)
	}
	f.now = f.now.Add(10 * time.Second)
	poll(h, f.token(clienttokentable.Backend), "")
	assert.Equal(t, usage.Tally{
		Features: map[string]usage.ByApplication{
			"banner": {"shop": counts(1, 0, "red", 1), "ofrep": counts(1, 0, "red", 1)},
			"off":    {"ofrep": {No: 1}},
		},
		SeenAt:  map[string]int64{},
		Unknown: map[string]map[string]int64{"removed": {"ofrep": 1}},
	}, f.tally(f.now))
}

// Requests are counted by path and status, rejected ones too. Paths without an operation are not counted.
func TestCountedRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	h := f.process()
	backend, browser := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend)
	tag := poll(h, backend, "").header.Get("ETag")
	poll(h, backend, tag)
	poll(h, browser, tag)
	poll(h, "", tag)
	for _, request := range []struct{ method, path, token, body string }{
		{"GET", "//api//client/features/unknown", backend, ""},
		{"GET", "/api/client/unknown", backend, ""},
		{"GET", "/", "", ""},
		{"GET", "/edge/unknown", "", ""},
		{"OPTIONS", "/api/frontend", "", ""},
		{"GET", "/api/frontend", browser, ""},
		{"POST", "/api/frontend", browser, "["},
		{"POST", "/ofrep/v1/evaluate/flags", browser, ""},
		{"POST", "/edge/validate", "", `{"tokens":[]}`},
	} {
		call(h, request.method, request.path, request.token, request.body)
	}
	assert.Equal(t, usage.Requests{}, f.requests())
	f.now = f.now.Add(time.Minute)
	poll(h, "", "")
	poll(h, backend, tag)
	assert.Equal(t, usage.Requests{
		"/api/client":   {Successful: 2, ClientErrors: 4},
		"/api/frontend": {Successful: 2, ClientErrors: 1},
		"/ofrep":        {Successful: 1},
		"/edge":         {Successful: 1},
	}, f.requests())
}

// What is counted is written at most every ten seconds, by a report before it is answered or by any later request. A
// write that fails is repeated, and fails no request.
func TestWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{})
	f.compile()
	backend := f.token(clienttokentable.Backend)
	refuses := false
	through, tap := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if refuses && c.Operation == "PutItem" {
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	h := f.processThrough(through, time.Minute)
	sent := int64(0)
	report := func(want int) {
		t.Helper()
		before := strings.Count(tap.Calls(), "PutItem")
		got := call(h, "POST", "/api/client/metrics", backend, `{"appName":"shop","bucket":{"toggles":{"banner":{"yes":1}}}}`)
		assert.Equal(t, 202, got.status)
		assert.Equal(t, want, strings.Count(tap.Calls(), "PutItem")-before)
		sent++
	}
	download := func(want int) {
		t.Helper()
		before := strings.Count(tap.Calls(), "PutItem")
		assert.Equal(t, 200, poll(h, backend, "").status)
		assert.Equal(t, want, strings.Count(tap.Calls(), "PutItem")-before)
	}
	wait := func(d time.Duration) { f.now = f.now.Add(d) }
	written := func(hour time.Time) int64 { return f.tally(hour).Features["banner"]["shop"].Yes }

	download(0)
	report(3) // the tally, the presence, and the requests
	assert.Equal(t, sent, written(f.now))
	wait(9 * time.Second)
	report(0)
	download(0)
	wait(time.Second)
	download(2) // the tally and the requests
	assert.Equal(t, sent, written(f.now))
	wait(10 * time.Second)
	report(2)
	wait(59 * time.Second)
	download(0)
	wait(time.Second)
	download(1) // the requests
	wait(10 * time.Minute)
	report(3)

	refuses = true
	wait(10 * time.Second)
	report(2)
	report(0)
	refuses = false
	wait(10 * time.Second)
	download(2)
	assert.Equal(t, sent, written(f.now))

	hour := f.now
	report(0)
	wait(time.Hour)
	download(4) // of the hour that is over, and that it must be merged again
	assert.Equal(t, sent, written(hour))

	wait(10 * time.Second)
	hour = f.now
	report(3)
	before := written(hour)
	report(0)
	wait(26 * time.Hour) // too late to be merged
	download(1)          // its own request
	assert.Equal(t, before, written(hour))
}

// Processes that count the same write parts of their own.
func TestProcessesAddUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("web", "banner", toggle.Strategy{})
	f.compile()
	backend := f.token(clienttokentable.Backend)
	for range 3 {
		h := f.process()
		call(h, "POST", "/api/client/metrics", backend, `{"appName":"shop","bucket":{"toggles":{"banner":{"yes":2}}}}`)
	}
	assert.Equal(t, usage.ByApplication{"shop": {Yes: 6}}, f.tally(f.now).Features["banner"])
}

// 50 instances send 10,000 reports to two processes, whose writes sometimes fail or are carried out although the process
// receives no response. One process ends without a last write, and another one takes its place. Nothing is counted
// twice, and only what the process received in its last ten seconds can be lost.
func TestSumsAreExact(t *testing.T) {
	t.Parallel()
	const instances, rounds, ends = 10, 130, 97
	f := newFixture(t)
	for _, name := range []string{"process-0", "process-1", "process-2"} {
		f.put("web", name, toggle.Strategy{})
	}
	f.compile()
	backend := f.token(clienttokentable.Backend)
	loses, refuses := false, false
	through, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		switch {
		case c.Operation == "PutItem" && loses:
			return c.Lose()
		case c.Operation == "PutItem" && refuses:
			return c.Refuse("AccessDeniedException")
		default:
			return c.Pass()
		}
	})
	first, second := 0, 1 // of the processes behind the address
	var processes []*client.Handler
	for range 3 {
		processes = append(processes, f.processThrough(through, 0))
	}
	sent := map[int]int64{}    // by process
	lastTen := map[int]int64{} // of these, in the last ten seconds of the first process
	for round := range rounds {
		if round == ends {
			first = 2
		}
		loses, refuses = round/15%4 == 1, round/15%4 == 3
		var reports sync.WaitGroup
		for i := range instances {
			to := []int{first, second}[(round+i)%2]
			sent[to]++
			if round > ends-10 && round <= ends {
				lastTen[to]++
			}
			reports.Go(func() {
				body := fmt.Sprintf(`{"appName":"app-%d","instanceId":"%d","bucket":{"toggles":{"process-%d":{"yes":1}}}}`,
					i%5, i, to)
				if got := call(processes[to], "POST", "/api/client/metrics", backend, body); got.status != 202 {
					t.Error(got.status, got.body)
				}
			})
		}
		reports.Wait()
		f.now = f.now.Add(time.Second)
	}
	for range 3 { // the last writes, which can fail
		f.now = f.now.Add(10 * time.Minute)
		poll(processes[1], backend, "")
		poll(processes[2], backend, "")
	}
	counted := func(process int) int64 {
		return f.tally(f.now).Features[fmt.Sprint("process-", process)].Total().Yes
	}
	assert.Equal(t, sent[1], counted(1))
	assert.Equal(t, sent[2], counted(2))
	if lost := sent[0] - counted(0); lost <= 0 || lost > lastTen[0] {
		t.Errorf("%d of %d reports were lost; want 1 to %d", lost, sent[0], lastTen[0])
	}
	assert.Equal(t, instances, len(f.presence()["app-0"].Instances)*5)
}
