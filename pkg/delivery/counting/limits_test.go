package counting_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/test/helper/assert"
)

// A frontend token can invent any names, in any of the last 24 hours: what a process writes stays small, and everything
// that others report, and the sum of a toggle, is complete.
func TestFrontendTokenInventsNames(t *testing.T) {
	if testing.Short() {
		t.Skip("it counts 60,000 names")
	}
	t.Parallel()
	f := newFixture(t)
	for i := range 5 {
		f.toggles[fmt.Sprint("toggle-", i)] = counting.Toggle{Project: "web"}
	}
	r := f.process()
	variants := `"yes":1,"variants":{"red":1,"` + strings.Join(invented("variant", 30), `":1,"`) + `":1}`
	var toggles []string
	for name := range f.toggles {
		toggles = append(toggles, fmt.Sprintf(`%q:{%s}`, name, variants))
	}
	for _, application := range invented("app", 100) {
		for _, hoursAgo := range []int{0, 1, 5, 20} {
			f.reportAt(r, f.page(1), f.now.Add(-time.Duration(hoursAgo)*time.Hour), application, strings.Join(toggles, ","))
		}
	}
	f.report(r, f.page(2), "real-page", `"banner":{"yes":1000}`)
	f.report(r, f.backend(), "shop", `"banner":{"yes":1000}`)
	f.write(r)

	assert.Equal(t, map[string]int64{"shop": 1000}, f.counted(usagetable.KindTally, f.now))
	for hoursAgo, want := range map[int]int64{0: 1100, 1: 100} {
		yes, sum := f.counted(usagetable.KindFrontendTally, f.now.Add(-time.Duration(hoursAgo)*time.Hour)), int64(0)
		for _, n := range yes {
			sum += n
		}
		assert.Equal(t, want, sum)
		assert.Equal(t, true, yes[usage.Other] >= 50 && len(yes) <= 52)
	}
	assert.Equal(t, int64(1000), f.counted(usagetable.KindFrontendTally, f.now)["real-page"])
	size := 0
	for _, item := range f.db.Scan(t, f.db.Tables[usagetable.Table]) {
		size += len(item.Bytes("content"))
	}
	assert.Equal(t, true, size < 1_000_000)
	for _, tally := range f.parts(usagetable.KindFrontendTally, f.now) {
		for _, counts := range tally.Features["banner"] {
			assert.Equal(t, true, len(counts.Variants) <= 2)
		}
	}
	if !strings.Contains(f.logged.String(), "usageLimited=") {
		t.Error(f.logged.String())
	}
}

// A process counts a limited number of applications and instances on their own. The others are counted together.
func TestLimitsOfCounting(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.process()
	report := func(application, id string) {
		body := fmt.Sprintf(`{"appName":%q,"instanceId":%q,"bucket":{"toggles":{"banner":{"yes":1}}}}`, application, id)
		assert.OK(t, r.CountReport(f.backend(), []byte(body), ""))
	}
	for i := range 505 {
		report(fmt.Sprint("app-", i), "1")
	}
	for i := range 4_600 {
		report("app-1", fmt.Sprint("i-", i))
	}
	f.write(r)
	banner := f.counted(usagetable.KindTally, f.now)
	assert.Equal(t, 501, len(banner))
	assert.Equal(t, int64(5), banner[usage.Other])
	assert.Equal(t, int64(4_601), banner["app-1"])
	assert.Equal(t, 500, len(f.presence()))
	assert.Equal(t, 4_501, len(f.presence()["app-1"].Instances))
}

// Tallies that become too large for an item are continued in another item. What is counted again stays where it is.
func TestLargeTallies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var toggles []string
	for i := range 40 {
		name := fmt.Sprintf("%050d", i)
		f.toggles[name] = counting.Toggle{Project: "web"}
		toggles = append(toggles, fmt.Sprintf(`%q:{"yes":1}`, name))
	}
	r := f.process()
	for range 3 {
		for application := range 300 {
			f.report(r, f.backend(), fmt.Sprintf("%030d", application), strings.Join(toggles, ","))
		}
		f.write(r)
		f.now = f.now.Add(10 * time.Second)
	}
	parts := f.parts(usagetable.KindTally, f.now)
	assert.Equal(t, 6, len(parts))
	total := int64(0)
	for _, tally := range parts {
		for _, by := range tally.Features {
			total += by.Total().Yes
		}
	}
	assert.Equal(t, int64(3*300*40), total)
}

// Variants that the toggle does not have are counted together. SDKs report a variant of toggles without one.
func TestVariants(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.process()
	f.report(r, f.backend(), "shop", `"banner":{"yes":9,"variants":{"red":1,"disabled":2,"removed":3,"invented":3}}`)
	f.write(r)
	assert.Equal(t, map[string]int64{"red": 1, "disabled": 2, usage.Other: 6},
		f.parts(usagetable.KindTally, f.now)[0].Features["banner"]["shop"].Variants)
}

// Names that one frontend token invents hide neither those that backend tokens report nor those of another token.
func TestInventedUnknownNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.process()
	var junk []string
	for i := range 200 {
		junk = append(junk, fmt.Sprintf(`"junk-%d":{"no":1}`, i))
	}
	f.report(r, f.page(1), "junk", strings.Join(junk, ","))
	f.report(r, f.page(2), "page", `"archived-page":{"no":5}`)
	f.report(r, f.backend(), "shop", `"archived-but-used":{"yes":500}`)
	f.write(r)
	assert.Equal(t, map[string]bool{"archived-but-used": true}, f.unknown(usagetable.KindTally))
	frontend := f.unknown(usagetable.KindFrontendTally)
	assert.Equal(t, 101, len(frontend))
	assert.Equal(t, true, frontend["archived-page"])
}

// The strategies of an application are bounded in sum, and frontend tokens report none.
func TestStrategies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := f.process()
	for _, from := range []counting.Reporter{f.backend(), f.page(1)} {
		for i := range 3 {
			body := fmt.Sprintf(`{"appName":"shop-%s","strategies":["%s"]}`, from.Token.Type,
				strings.Join(invented(fmt.Sprint(i), 60), `","`))
			assert.OK(t, r.CountReport(from, []byte(body), ""))
		}
	}
	f.write(r)
	assert.Equal(t, 60, len(f.presence()["shop-backend"].Strategies))
	assert.Equal(t, 0, len(f.presence()["shop-frontend"].Strategies))
}
