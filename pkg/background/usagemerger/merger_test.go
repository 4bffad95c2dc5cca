package usagemerger_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/background/usagemerger"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// hour is the hour that the sweeps of the tests merge.
var hour = time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)

// settled is the time from which the hour is merged.
var settled = hour.Add(time.Hour + 2*time.Minute)

// fixture contains the tables, and what sweeps log.
type fixture struct {
	*database.Database
	logged strings.Builder
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{Database: database.New(t)}
}

// merger returns a new process.
func (f *fixture) merger(client *dynamodb.Client, at time.Time) *usagemerger.Merger {
	return usagemerger.New(client, f.Tables, func() time.Time { return at }, slog.New(slog.NewTextHandler(&f.logged, nil)))
}

// sweep runs a new process at a time.
func (f *fixture) sweep(t *testing.T, at time.Time) {
	t.Helper()
	_, err := f.merger(f.Client, at).Sweep(t.Context(), nil)
	assert.OK(t, err)
}

// put stores the part with an id. writes is how often its process has written it.
func (f *fixture) put(t *testing.T, kind usagetable.Kind, at time.Time, id string, writes int64, content any) {
	t.Helper()
	environment := "production"
	if kind == usagetable.KindRequests {
		environment = ""
	}
	item, err := usagetable.MarshalPart(usagetable.Part{
		Kind: kind, Hour: at, Environment: environment, ID: id, Writes: writes, WrittenAt: at.Add(time.Minute),
	}, content)
	assert.OK(t, err)
	f.Put(t, f.Tables[usagetable.Table], item)
}

// putTally stores a tally: how often an application had each toggle on.
func (f *fixture) putTally(t *testing.T, at time.Time, id string, writes int64, yes map[string]int64) {
	t.Helper()
	tally := usage.NewTally()
	for feature, n := range yes {
		tally.Add(feature, "shop", usage.Counts{Yes: n})
		tally.See(feature, at.Add(time.Minute))
	}
	f.put(t, usagetable.KindTally, at, id, writes, tally)
}

// damage replaces the content of a part.
func (f *fixture) damage(t *testing.T, kind usagetable.Kind, at time.Time, id string) {
	t.Helper()
	f.put(t, kind, at, id, 1, "damaged")
}

// records returns how often a toggle was on in each hour that is merged.
func (f *fixture) records(t *testing.T, feature string) map[time.Time]int64 {
	t.Helper()
	table := f.Tables[usagetable.Table]
	merged, err := usagetable.Merged(t.Context(), f.Client, table)
	assert.OK(t, err)
	records, err := usagetable.ReadFeatures(t.Context(), f.Client, table, []string{feature}, hour.Add(-48*time.Hour), settled)
	assert.OK(t, err)
	got := map[time.Time]int64{}
	for _, r := range records {
		if _, ok := merged[r.Hour]; ok {
			got[r.Hour] = r.Applications.Total().Yes
		}
	}
	return got
}

// isMerged reports whether an hour is marked, and whether it is complete.
func (f *fixture) isMerged(t *testing.T, at time.Time) (marked, complete bool) {
	t.Helper()
	merged, err := usagetable.Merged(t.Context(), f.Client, f.Tables[usagetable.Table])
	assert.OK(t, err)
	fingerprint, ok := merged[at]
	return ok, fingerprint != ""
}

// The usage of a toggle in an hour is the sum of all tallies, two minutes after the end of the hour.
func TestMerge(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1, "menu": 2})
	f.putTally(t, hour, "b", 1, map[string]int64{"banner": 4})
	f.putTally(t, hour.Add(time.Hour), "c", 1, map[string]int64{"banner": 8})
	f.sweep(t, settled.Add(-time.Second))
	marked, _ := f.isMerged(t, hour)
	assert.Equal(t, false, marked)
	f.sweep(t, settled)
	assert.Equal(t, map[time.Time]int64{hour: 5}, f.records(t, "banner"))
	assert.Equal(t, map[time.Time]int64{hour: 2}, f.records(t, "menu"))
}

// What an application used in an hour, and the names without a toggle, are stored with the usage of toggles.
func TestMergedApplications(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1, "menu": 2})
	unknown := usage.NewTally()
	unknown.AddUnknown("removed", "shop", 1)
	f.put(t, usagetable.KindTally, hour, "b", 1, unknown)
	f.sweep(t, settled)
	for _, id := range []string{"a", "b"} { // the parts are not read any more
		f.damage(t, usagetable.KindTally, hour, id)
	}
	table := f.Tables[usagetable.Table]
	use, err := usagetable.ReadUse(t.Context(), f.Client, table, []string{"shop"}, hour, hour)
	assert.OK(t, err)
	assert.Equal(t, []usagetable.UseRecord{
		{Application: "shop", Environment: "production", Hour: hour, Features: []string{"banner", "menu", "removed"}},
	}, use)
	names, err := usagetable.ReadUnknown(t.Context(), f.Client, table, hour, hour)
	assert.OK(t, err)
	assert.Equal(t, []usagetable.UnknownRecord{{
		Environment: "production",
		Hour:        hour,
		Names:       usagetable.Unknown{"removed": {"shop": hour.Add(time.Minute)}},
	}}, names)
}

// A repeated sweep reads one page of markers, and writes nothing. An hour without parts is marked, too.
func TestRepeat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	f.sweep(t, settled)
	before := f.Scan(t, f.Tables[usagetable.Table])
	client, tap := f.Through(t, nil)
	m := f.merger(client, settled.Add(10*time.Minute))
	for range 2 {
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
	}
	// The markers and the applications once, and the requests, presence and tallies of the hour and the late hours
	// twice.
	assert.Equal(t, strings.TrimSpace(strings.Repeat("Query ", 10)), tap.Calls())
	assert.Equal(t, len(before), len(f.Scan(t, f.Tables[usagetable.Table])))
	for _, at := range []time.Time{hour, hour.Add(-24 * time.Hour)} {
		marked, complete := f.isMerged(t, at)
		assert.Equal(t, true, marked && complete)
	}
	marked, _ := f.isMerged(t, hour.Add(-25*time.Hour))
	assert.Equal(t, false, marked)
}

// A part that comes after its hour was merged, or is written again, is in the records after the end of the next hour.
func TestLatePart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	f.sweep(t, settled)
	f.putTally(t, hour, "a", 2, map[string]int64{"banner": 2})
	f.putTally(t, hour.Add(-20*time.Hour), "b", 1, map[string]int64{"banner": 4})
	f.sweep(t, settled.Add(time.Hour))
	assert.Equal(t, map[time.Time]int64{hour: 2, hour.Add(-20 * time.Hour): 4}, f.records(t, "banner"))
}

// An hour that got a part after it was merged is merged again by the next sweep, one hour in each sweep. A part that
// comes meanwhile is not forgotten.
func TestLateHours(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	late := func(at time.Time, writes int64) {
		f.putTally(t, at, "late", writes, map[string]int64{"banner": writes})
		f.Put(t, f.Tables[usagetable.Table], usagetable.MarshalLate(usagetable.Part{
			Kind: usagetable.KindTally, Hour: at, ID: "late", Writes: writes, WrittenAt: settled,
		}))
	}
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	late(hour, 1) // before it is merged for the first time
	f.sweep(t, settled)
	assert.Equal(t, map[time.Time]int64{hour: 2}, f.records(t, "banner"))

	early, earlier := hour.Add(-3*time.Hour), hour.Add(-20*time.Hour)
	late(early, 2)
	late(earlier, 4)
	client, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "DeleteItem" && c.N == 1 {
			late(earlier, 8)
		}
		return c.Pass()
	})
	m := f.merger(client, settled.Add(time.Minute))
	for range 4 {
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
	}
	assert.Equal(t, map[time.Time]int64{hour: 2, early: 2, earlier: 8}, f.records(t, "banner"))
	left, err := usagetable.ReadLate(t.Context(), f.Client, f.Tables[usagetable.Table])
	assert.OK(t, err)
	assert.Equal(t, 0, len(left))
}

// After an outage of the sweeps, hours are merged for which processes count nothing any more.
func TestOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sweep(t, settled.Add(-time.Hour))
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 2})
	f.sweep(t, settled.Add(48*time.Hour))
	assert.Equal(t, map[time.Time]int64{hour: 2}, f.records(t, "banner"))
}

// A sweep that ends at any of its calls, whether or not the call is carried out, leaves nothing that the next sweep
// does not complete.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	instance := usage.Instance{SDK: "sdk:1", SeenAt: hour.Add(30 * time.Minute)}
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1, "menu": 1})
	f.putTally(t, hour, "b", 1, map[string]int64{"banner": 4})
	f.put(t, usagetable.KindRequests, hour, "a", 1, usage.Requests{"/edge": {Successful: 3}})
	f.put(t, usagetable.KindPresence, hour, "a", 1,
		usage.Presence{"shop": {Instances: map[string]usage.Instance{"1": instance}}})
	parts := f.Scan(t, f.Tables[usagetable.Table])
	n := 1
	for done := false; !done; n += 3 {
		for _, carriedOut := range []bool{false, true} {
			for _, item := range f.Scan(t, f.Tables[usagetable.Table]) {
				f.Delete(t, f.Tables[usagetable.Table], dynamo.Item{"partition": item["partition"], "item": item["item"]})
			}
			for _, item := range f.Scan(t, f.Tables[traffic.Table]) {
				f.Delete(t, f.Tables[traffic.Table], dynamo.Item{"period": item["period"], "pathDayShard": item["pathDayShard"]})
			}
			for _, item := range parts {
				f.Put(t, f.Tables[usagetable.Table], item)
			}
			ctx, client, ended := f.InterruptedAtWrite(t.Context(), t, n, carriedOut)
			_, err := f.merger(client, settled).Sweep(ctx, nil)
			assert.Equal(t, ended(), err != nil)
			done = !ended()

			f.sweep(t, settled.Add(time.Minute))
			assert.Equal(t, map[time.Time]int64{hour: 5}, f.records(t, "banner"))
			assert.Equal(t, map[time.Time]int64{hour: 1}, f.records(t, "menu"))
			assert.Equal(t, int64(3), f.successful(t, "/edge"))
			_, known, err := usagetable.ReadApplication(t.Context(), f.Client, f.Tables[usagetable.Table], "shop")
			assert.OK(t, err)
			assert.Equal(t, true, known)
		}
	}
	if n < 20 {
		t.Errorf("a sweep makes fewer than %d writes", n)
	}
}

// A sweep that read the parts before another one does not replace what the other one has stored, even if it ends before
// it marks the hour.
func TestTwoSweeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	f.put(t, usagetable.KindRequests, hour, "a", 1, usage.Requests{"/edge": {Successful: 1}})
	ctx, end := context.WithCancel(t.Context())
	slow, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "PutItem" && strings.Contains(c.Body, "feature#banner") {
			f.putTally(t, hour, "a", 2, map[string]int64{"banner": 2})
			f.put(t, usagetable.KindRequests, hour, "a", 2, usage.Requests{"/edge": {Successful: 2}})
			f.sweep(t, settled)
			defer end()
		}
		return c.Pass()
	})
	_, err := f.merger(slow, settled).Sweep(ctx, nil)
	assert.Equal(t, true, err != nil)
	assert.Equal(t, map[time.Time]int64{hour: 2}, f.records(t, "banner"))
	assert.Equal(t, int64(2), f.successful(t, "/edge"))
}

// A part that cannot be read keeps nothing else from being merged. Its hour is merged again until the part can be read.
func TestUnreadablePart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	for _, kind := range []usagetable.Kind{usagetable.KindTally, usagetable.KindRequests, usagetable.KindPresence} {
		f.damage(t, kind, hour, "damaged")
	}
	f.put(t, usagetable.KindRequests, hour, "a", 1, usage.Requests{"/edge": {Successful: 1}})
	_, err := f.merger(f.Client, settled).Sweep(t.Context(), nil)
	assert.Equal(t, true, err != nil)
	assert.Equal(t, map[time.Time]int64{hour: 1}, f.records(t, "banner"))
	assert.Equal(t, int64(1), f.successful(t, "/edge"))
	marked, complete := f.isMerged(t, hour)
	assert.Equal(t, true, marked)
	assert.Equal(t, false, complete)
	for _, text := range []string{"level=ERROR", "tally#production#damaged", "leftOut=3"} {
		if !strings.Contains(f.logged.String(), text) {
			t.Errorf("the log has no %s:\n%s", text, &f.logged)
		}
	}

	f.putTally(t, hour, "damaged", 1, map[string]int64{"banner": 4})
	_, err = f.merger(f.Client, settled.Add(time.Hour)).Sweep(t.Context(), nil) // the requests cannot be read
	assert.Equal(t, true, err != nil)
	assert.Equal(t, map[time.Time]int64{hour: 5}, f.records(t, "banner"))
	_, complete = f.isMerged(t, hour)
	assert.Equal(t, true, complete)
}

// A call that fails keeps the sweep from nothing else.
func TestFailedCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	f.putTally(t, hour.Add(-time.Hour), "a", 1, map[string]int64{"banner": 1})
	failing, _ := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "Query" && strings.Contains(c.Body, "2026-11-27T07") {
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	_, err := f.merger(failing, settled).Sweep(t.Context(), nil)
	assert.Equal(t, "the sweep failed, see its log for the cause; the next sweep continues", err.Error())
	assert.Equal(t, map[time.Time]int64{hour: 1}, f.records(t, "banner"))
	f.sweep(t, settled.Add(time.Hour))
	assert.Equal(t, map[time.Time]int64{hour: 1, hour.Add(-time.Hour): 1}, f.records(t, "banner"))
}

// successful returns the successful requests of a path in the month of the tests.
func (f *fixture) successful(t *testing.T, path string) int64 {
	t.Helper()
	report, err := traffic.NewStore(f.Client, f.Tables).Report(t.Context(), "2026-11")
	assert.OK(t, err)
	var n int64
	for _, u := range report {
		if u.APIPath == path {
			n += u.Counts.Successful
		}
	}
	return n
}

// Requests are counted from the parts of each hour, each time anew.
func TestRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.merger(f.Client, hour.Add(5*time.Minute))
	for writes, requests := range []usage.Requests{
		{"/edge": {Successful: 1}},
		{"/edge": {Successful: 2, ClientErrors: 1}, "/ofrep": {Successful: 5}},
	} {
		f.put(t, usagetable.KindRequests, hour, "a", int64(writes), requests)
		f.put(t, usagetable.KindRequests, hour.Add(-time.Hour), "b", int64(writes), requests)
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
	}
	report, err := traffic.NewStore(f.Client, f.Tables).Report(t.Context(), "2026-11")
	assert.OK(t, err)
	day := hour.Truncate(24 * time.Hour)
	assert.Equal(t, []traffic.Usage{
		{APIPath: "/edge", Day: day, Counts: traffic.Counts{Successful: 4, ClientErrors: 2}},
		{APIPath: "/ofrep", Day: day, Counts: traffic.Counts{Successful: 10}},
	}, report)
	// A process that was suspended writes the requests of an earlier hour late.
	f.put(t, usagetable.KindRequests, hour.Add(-10*time.Hour), "c", 1, usage.Requests{"/ofrep": {Successful: 7}})
	f.sweep(t, settled)
	assert.Equal(t, int64(17), f.successful(t, "/ofrep"))
}

// An application has what all of its instances reported in 24 hours. It is written at most every ten minutes.
func TestApplications(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	table := f.Tables[usagetable.Table]
	now := hour
	m := usagemerger.New(f.Client, f.Tables, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	report := func(at time.Time, writes int64, instances map[string]usage.Instance) usagetable.Application {
		t.Helper()
		f.put(t, usagetable.KindPresence, usage.HourOf(at), "a", writes, usage.Presence{"shop": {
			Projects: []string{"*"}, Strategies: []string{"default"}, Instances: instances,
		}})
		now = at
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
		a, _, err := usagetable.ReadApplication(t.Context(), f.Client, table, "shop")
		assert.OK(t, err)
		return a
	}
	first := hour.Add(time.Minute)
	want := usagetable.Application{
		Name: "shop", CreatedAt: first, SeenAt: first, Projects: []string{"*"}, Strategies: []string{"default"},
		Environments: map[string]usagetable.ApplicationInstance{
			"production": {SeenAt: first, Instances: 1, SDKs: []string{"sdk:1"}},
		},
	}
	one := usage.Instance{SDK: "sdk:1", SeenAt: first}
	assert.Equal(t, want, report(first, 1, map[string]usage.Instance{"1": one}))

	soon := usage.Instance{SDK: "sdk:2", SeenAt: first.Add(9 * time.Minute)}
	assert.Equal(t, want, report(soon.SeenAt, 2, map[string]usage.Instance{"1": one, "2": soon}))

	next := usage.Instance{SDK: "sdk:2", SeenAt: first.Add(10 * time.Minute)}
	want.SeenAt = next.SeenAt
	want.Environments = map[string]usagetable.ApplicationInstance{
		"production": {SeenAt: next.SeenAt, Instances: 2, SDKs: []string{"sdk:1", "sdk:2"}},
	}
	assert.Equal(t, want, report(next.SeenAt, 3, map[string]usage.Instance{"1": one, "2": next}))

	dayAfter := usage.Instance{SDK: "sdk:2", SeenAt: first.Add(24 * time.Hour)}
	want.SeenAt = dayAfter.SeenAt
	want.Environments = map[string]usagetable.ApplicationInstance{
		"production": {SeenAt: dayAfter.SeenAt, Instances: 1, SDKs: []string{"sdk:2"}},
	}
	assert.Equal(t, want, report(dayAfter.SeenAt, 1, map[string]usage.Instance{"2": dayAfter}))
}

// Of more than 2,000 applications, those that have reported last are kept.
func TestTooManyApplications(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	others := names("other", 1_999)
	stored := []dynamo.Item{usagetable.MarshalApplication(usagetable.Application{Name: "first", SeenAt: hour})}
	for _, name := range others {
		stored = append(stored, usagetable.MarshalApplication(usagetable.Application{Name: name, SeenAt: hour.Add(time.Minute)}))
	}
	database.PutAll(t, f.Client, f.Tables[usagetable.Table], stored)
	at := hour.Add(20 * time.Minute)
	f.put(t, usagetable.KindPresence, hour, "a", 1, presence(at, "another"))
	f.sweep(t, at)
	assert.Equal(t, append([]string{"another"}, others...), f.applications(t))
}

// presence returns applications with an instance that was seen at a time.
func presence(at time.Time, names ...string) usage.Presence {
	all := usage.Presence{}
	for _, name := range names {
		all[name] = usage.Application{Instances: map[string]usage.Instance{"1": {SeenAt: at}}}
	}
	return all
}

// names returns a number of names.
func names(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%04d", prefix, i)
	}
	return all
}

// applications returns the names of the stored applications.
func (f *fixture) applications(t *testing.T) []string {
	t.Helper()
	all, err := usagetable.Applications(t.Context(), f.Client, f.Tables[usagetable.Table])
	assert.OK(t, err)
	stored := make([]string, len(all))
	for i, a := range all {
		stored[i] = a.Name
	}
	return stored
}

// Of the applications that only frontend tokens report, the first 50 of a day are stored, whatever backend tokens
// report.
func TestNewFrontendApplications(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put(t, usagetable.KindFrontendPresence, hour, "a", 1, presence(hour, "real"))
	f.put(t, usagetable.KindFrontendPresence, hour, "b", 1, presence(hour.Add(time.Minute), names("junk", 100)...))
	f.put(t, usagetable.KindPresence, hour, "c", 1, presence(hour.Add(time.Minute), "shop"))
	f.sweep(t, hour.Add(2*time.Minute))
	assert.Equal(t, slices.Concat(names("junk", 49), []string{"real", "shop"}), f.applications(t))
	if !strings.Contains(f.logged.String(), "level=WARN") || !strings.Contains(f.logged.String(), "excess=51") {
		t.Error(f.logged.String())
	}
	day := hour.Add(25 * time.Hour)
	f.put(t, usagetable.KindFrontendPresence, day, "b", 1, presence(day, "next"))
	f.sweep(t, day.Add(time.Minute))
	assert.Equal(t, slices.Concat(names("junk", 49), []string{"next", "real", "shop"}), f.applications(t))
}

// Applications that only frontend tokens report take the place of no other one.
func TestTooManyFrontendApplications(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	early := hour.Add(-72 * time.Hour)
	stored := []dynamo.Item{
		usagetable.MarshalApplication(usagetable.Application{Name: "idle", CreatedAt: early, SeenAt: early}),
	}
	for _, name := range names("page", 1_001) {
		stored = append(stored, usagetable.MarshalApplication(usagetable.Application{
			Name: name, CreatedAt: early, SeenAt: early.Add(time.Minute), Frontend: true,
		}))
	}
	database.PutAll(t, f.Client, f.Tables[usagetable.Table], stored)
	f.put(t, usagetable.KindPresence, hour, "a", 1, presence(hour, "shop"))
	f.sweep(t, hour.Add(time.Minute))
	assert.Equal(t, slices.Concat([]string{"idle"}, names("page", 1_000), []string{"shop"}), f.applications(t))
}

// Whatever is reported about an application, it is stored.
func TestLargeApplication(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for process := range 7 {
		a := usage.Application{Instances: map[string]usage.Instance{}}
		for i := range 100 {
			name := fmt.Sprintf("%d-%02d-%s", process, i, strings.Repeat("名", 190))
			a.Strategies = append(a.Strategies, name)
			a.Instances[name] = usage.Instance{SDK: name, SeenAt: hour}
		}
		f.put(t, usagetable.KindPresence, hour, fmt.Sprint(process), 1, usage.Presence{"shop": a})
	}
	for i := range 49 { // other environments
		a := usage.Application{Instances: map[string]usage.Instance{}}
		for j := range 25 {
			id := fmt.Sprintf("%d-%s", j, strings.Repeat("名", 98))
			a.Instances[id] = usage.Instance{SDK: id, SeenAt: hour}
		}
		item, err := usagetable.MarshalPart(usagetable.Part{
			Kind: usagetable.KindPresence, Hour: hour, Environment: fmt.Sprint("environment-", i), Writes: 1,
		}, usage.Presence{"shop": a})
		assert.OK(t, err)
		f.Put(t, f.Tables[usagetable.Table], item)
	}
	f.sweep(t, hour.Add(time.Minute))
	a, _, err := usagetable.ReadApplication(t.Context(), f.Client, f.Tables[usagetable.Table], "shop")
	assert.OK(t, err)
	assert.Equal(t, 700, a.Environments["production"].Instances)
	if len(a.Strategies) == 0 || len(a.Environments["production"].SDKs) == 0 {
		t.Error(len(a.Strategies), len(a.Environments["production"].SDKs))
	}
}

// Counts of applications that only frontend tokens report and that are not stored are merged as those of others.
func TestMergedFrontendTallies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	f.put(t, usagetable.KindFrontendPresence, hour, "a", 1, presence(hour, "page"))
	reported := usage.NewTally()
	for _, name := range append(names("junk", 100), "page") {
		reported.Add("banner", name, usage.Counts{Yes: 1})
	}
	f.put(t, usagetable.KindFrontendTally, hour, "a", 1, reported)
	f.sweep(t, hour.Add(time.Minute))
	f.sweep(t, settled)
	records, err := usagetable.ReadFeatures(t.Context(), f.Client, f.Tables[usagetable.Table], []string{"banner"}, hour, hour)
	assert.OK(t, err)
	assert.Equal(t, usage.ByApplication{"shop": {Yes: 1}, "page": {Yes: 1}, usage.Other: {Yes: 100}}, records[0].Applications)
}

// A sweep merges a limited number of parts, and the next one continues.
func TestManyParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	empty := usage.NewTally()
	var parts []dynamo.Item
	for i := range 2_001 {
		environment := []string{"a", "b", "c"}[i%3]
		item, err := usagetable.MarshalPart(usagetable.Part{
			Kind: usagetable.KindTally, Hour: hour.Add(-time.Hour), Environment: environment, ID: fmt.Sprint(i), Writes: 1,
		}, empty)
		assert.OK(t, err)
		parts = append(parts, item)
	}
	database.PutAll(t, f.Client, f.Tables[usagetable.Table], parts)
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	m := f.merger(f.Client, settled)
	for _, want := range []bool{false, true} {
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
		marked, _ := f.isMerged(t, hour)
		assert.Equal(t, want, marked)
	}
}

// putToggle creates a toggle that applications have never used.
func (f *fixture) putToggle(t *testing.T, name string) {
	t.Helper()
	f.Put(t, f.Tables[featuretable.Table], featuretable.Marshal(toggle.Feature{Name: name, Project: "default", Type: "release"}))
}

// lastSeen returns what is stored of a toggle, such as "production 08:01", or "no toggle".
func (f *fixture) lastSeen(t *testing.T, name string) string {
	t.Helper()
	return f.seen(t, name, featuretable.AttributeLastSeen)
}

// seen returns an attribute of a toggle, such as "production 08:01", or "no toggle".
func (f *fixture) seen(t *testing.T, name, attribute string) string {
	t.Helper()
	item := f.Get(t, f.Tables[featuretable.Table], featuretable.Key(name))
	if item == nil {
		return "no toggle"
	}
	var texts []string
	for environment, at := range featuretable.DecodeTimes(item.String(attribute)) {
		texts = append(texts, environment+at.Format(" 15:04"))
	}
	return strings.Join(texts, ", ")
}

// A toggle is written when it is seen for the first time, and then at most once an hour. The process that has written
// it does not read it again. A toggle that does not exist is not created.
func TestLastSeen(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putToggle(t, "banner")
	now := hour
	client, tap := f.Through(t, nil)
	m := usagemerger.New(client, f.Tables, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	for _, test := range []struct {
		at    time.Duration // after the hour
		parts func(hour time.Time)
		want  string
		calls int // that read or write toggles
	}{
		{5 * time.Minute, func(time.Time) {}, "", 0},
		{6 * time.Minute, func(h time.Time) { f.putTally(t, h, "a", 1, map[string]int64{"banner": 1}) }, "production 08:01", 2},
		{7 * time.Minute, func(time.Time) {}, "production 08:01", 0},
		{60 * time.Minute, func(h time.Time) { f.putTally(t, h, "b", 1, map[string]int64{"banner": 1}) }, "production 08:01", 0},
		{61 * time.Minute, func(time.Time) {}, "production 09:01", 1},
		{90 * time.Minute, func(time.Time) {}, "production 09:01", 0},
	} {
		now = hour.Add(test.at)
		test.parts(usage.HourOf(now))
		before := tap.Calls()
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
		assert.Equal(t, test.want, f.lastSeen(t, "banner"))
		calls := strings.TrimPrefix(tap.Calls(), before)
		assert.Equal(t, test.calls, strings.Count(calls, "BatchGetItem")+strings.Count(calls, "UpdateItem"))
	}
	assert.Equal(t, "production 08:01", f.seen(t, "banner", featuretable.AttributeFirstSeen))
	f.putTally(t, usage.HourOf(now), "c", 1, map[string]int64{"deleted": 1})
	_, err := m.Sweep(t.Context(), nil)
	assert.OK(t, err)
	assert.Equal(t, "no toggle", f.lastSeen(t, "deleted"))
}

// A time in the future, which an import has stored by a fast clock, is replaced when an application uses the
// toggle.
func TestLastSeenInTheFuture(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putToggle(t, "banner")
	store := feature.NewStore(f.Client, f.Tables, f.Log())
	assert.OK(t, store.AddLastSeen(t.Context(), "banner", map[string]time.Time{"production": hour.Add(23 * time.Hour)}))
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	f.sweep(t, hour.Add(5*time.Minute))
	assert.Equal(t, "production 08:01", f.lastSeen(t, "banner"))
	assert.Equal(t, "production 08:01", f.seen(t, "banner", featuretable.AttributeFirstSeen))
}

// A toggle that was created again with its name was not used before it was created.
func TestLastSeenOfAToggleThatIsCreatedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	create := func(at time.Time) {
		f.Put(t, f.Tables[featuretable.Table], featuretable.Marshal(toggle.Feature{
			Name: "banner", Project: "default", Type: "release", CreatedAt: at,
		}))
	}
	create(hour.Add(-time.Hour))
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1}) // at 08:01
	m := f.merger(f.Before(t, "UpdateItem", 1, func() { create(hour.Add(30 * time.Minute)) }), hour.Add(40*time.Minute))
	for range 2 { // the first sweep reads the toggle that had the name
		_, err := m.Sweep(t.Context(), nil)
		assert.OK(t, err)
		assert.Equal(t, "", f.lastSeen(t, "banner"))
	}
	f.sweep(t, settled)
	assert.Equal(t, "", f.lastSeen(t, "banner"))
}

// A change of a person and the sweep leave each other's attributes as they are, in both orders, and neither fails.
func TestLastSeenWhileATogglesChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.putToggle(t, "banner")
	f.putTally(t, hour, "a", 1, map[string]int64{"banner": 1})
	change := func(client *dynamodb.Client, description string) {
		t.Helper()
		store := feature.NewStore(client, f.Tables, f.LogThrough(client))
		_, err := store.Update(t.Context(), "banner", func(old toggle.Feature) (toggle.Feature, error) {
			old.Description = &description
			return old, nil
		})
		assert.OK(t, err)
	}
	// The person's change comes between the read and the write of the sweep.
	client := f.Before(t, "UpdateItem", 1, func() { change(f.Client, "first") })
	_, err := f.merger(client, hour.Add(5*time.Minute)).Sweep(t.Context(), nil)
	assert.OK(t, err)
	assert.Equal(t, "production 08:01", f.lastSeen(t, "banner"))
	item := f.Get(t, f.Tables[featuretable.Table], featuretable.Key("banner"))
	assert.Equal(t, "first", item.String(featuretable.AttributeDescription))

	// The sweep comes between the read and the write of the change.
	f.putTally(t, hour.Add(2*time.Hour), "a", 1, map[string]int64{"banner": 1})
	tapped, tap := f.Through(t, func(c *database.Call) (*http.Response, error) {
		if c.Operation == "TransactWriteItems" && c.N == 1 {
			f.sweep(t, hour.Add(2*time.Hour+5*time.Minute))
		}
		return c.Pass()
	})
	change(tapped, "second")
	assert.Equal(t, 1, strings.Count(tap.Calls(), "TransactWriteItems"))
	assert.Equal(t, "production 10:01", f.lastSeen(t, "banner"))
	item = f.Get(t, f.Tables[featuretable.Table], featuretable.Key("banner"))
	assert.Equal(t, "second", item.String(featuretable.AttributeDescription))
}
