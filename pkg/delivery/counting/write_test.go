package counting_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// A new application is written within ten seconds, a new instance within a minute, and what is known within ten
// minutes.
func TestPresenceIsWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client, tap := f.db.Through(t, nil)
	r := f.through(client)
	register := func(application, id string) {
		t.Helper()
		assert.OK(t, r.CountReport(f.backend(), []byte(`{"appName":"`+application+`","instanceId":"`+id+`"}`), ""))
	}
	for _, step := range []struct {
		after           time.Duration
		application, id string
		writes          int
	}{
		{0, "shop", "1", 1},
		{9 * time.Second, "blog", "1", 0},
		{time.Second, "blog", "1", 1},
		{50 * time.Second, "blog", "2", 0},
		{10 * time.Second, "blog", "2", 1},
		{9 * time.Minute, "blog", "2", 0},
		{time.Minute, "blog", "2", 1},
	} {
		f.now = f.now.Add(step.after)
		register(step.application, step.id)
		before := strings.Count(tap.Calls(), "PutItem")
		f.write(r)
		assert.Equal(t, step.writes, strings.Count(tap.Calls(), "PutItem")-before)
	}
	assert.Equal(t, 2, len(f.presence()["blog"].Instances))
}

// What could not be written is written at the next chance, and a metric counts the failures.
func TestFailedWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	refuses := true
	client, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) {
		if refuses {
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
	r := f.through(client)
	f.report(r, f.backend(), "shop", `"banner":{"yes":1}`)
	f.write(r)
	for _, text := range []string{"usageFailed=2", "AccessDenied", `Name:usageFailed`} {
		if !strings.Contains(f.logged.String(), text) {
			t.Errorf("the log has no %s: %s", text, f.logged.String())
		}
	}
	refuses = false
	f.now = f.now.Add(10 * time.Second)
	f.write(r)
	assert.Equal(t, map[string]int64{"shop": 1}, f.counted(usagetable.KindTally, f.now))
	assert.Equal(t, 1, len(f.presence()))
}

// Counts that could not be written for more than a day are dropped, and a metric counts them.
func TestDroppedCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Refuse("AccessDeniedException") })
	r := f.through(client)
	f.report(r, f.backend(), "shop", `"banner":{"yes":1}`)
	f.write(r)
	f.now = f.now.Add(26 * time.Hour)
	f.write(r)
	if !strings.Contains(f.logged.String(), "usageDropped=2") {
		t.Error(f.logged.String())
	}
}

// A process that cannot write keeps a limited amount. Frontend tokens use up a quarter of it, which is no loss that an
// operator must know of.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts 60,000 names")
	}
	t.Parallel()
	f := newFixture(t)
	client, _ := f.db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Refuse("AccessDeniedException") })
	r := f.through(client)
	var toggles []string
	for _, name := range invented("toggle", 300) {
		f.toggles[name] = counting.Toggle{Project: "web"}
		toggles = append(toggles, fmt.Sprintf(`%q:{"yes":1}`, name))
	}
	all := strings.Join(toggles, ",")
	fill := func(from counting.Reporter) {
		for range 20 { // hours
			for _, application := range []string{"a", "b", "c", "d", "e"} {
				f.report(r, from, application, all)
			}
			r.Log(t.Context(), f.now)
			f.now = f.now.Add(time.Hour)
		}
	}
	fill(f.page(1))
	assert.Equal(t, false, strings.Contains(f.logged.String(), "Name:usageDropped"))
	assert.Equal(t, true, strings.Contains(f.logged.String(), "usageLimited="))
	fill(f.backend())
	assert.Equal(t, true, strings.Contains(f.logged.String(), "Name:usageDropped"))
}

// A part that is written after its hour has ended lets the hour be merged again.
func TestLateParts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.process()
	late := func() []time.Time {
		t.Helper()
		all, err := usagetable.ReadLate(t.Context(), f.db.Client, f.db.Tables[usagetable.Table])
		assert.OK(t, err)
		var hours []time.Time
		for _, l := range all {
			hours = append(hours, l.Hour)
		}
		return hours
	}
	f.report(r, f.backend(), "shop", `"banner":{"yes":1}`)
	f.write(r)
	assert.Equal(t, 0, len(late()))
	earlier := f.now.Add(-3 * time.Hour)
	for range 3 {
		f.now = f.now.Add(10 * time.Second)
		f.reportAt(r, f.backend(), earlier, "shop", `"banner":{"yes":1}`)
		f.write(r)
		assert.Equal(t, []time.Time{earlier}, late())
	}
	assert.Equal(t, 1, len(f.parts(usagetable.KindTally, earlier)))
	assert.Equal(t, map[string]int64{"shop": 3}, f.counted(usagetable.KindTally, earlier))
}
