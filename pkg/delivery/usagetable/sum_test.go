package usagetable_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/test/helper/assert"
)

// tallyOf returns a tally in which applications, and no others, had a toggle on once with a variant of their own.
func tallyOf(feature string, applications ...string) usage.Tally {
	t := usage.NewTally()
	for _, a := range applications {
		t.Add(feature, a, usage.Counts{Yes: 1, Variants: map[string]int64{"of " + a: 1}})
	}
	return t
}

// names returns names that differ, of 600 bytes each, which cannot be compressed well.
func names(seed uint64, n int) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	all := make([]string, n)
	for i := range all {
		name := make([]rune, 200)
		for j := range name {
			name[j] = '一' + rune(random.IntN(20_000))
		}
		all[i] = string(name)
	}
	return all
}

func add(sums usagetable.Sums, kind usagetable.Kind, tally usage.Tally, named func(string) bool) {
	sums.Add(usagetable.Part{Kind: kind, Environment: "production", Hour: hour, WrittenAt: hour}, tally, named)
}

// The usage of an hour is the sum of the tallies of all processes, by environment.
func TestSums(t *testing.T) {
	t.Parallel()
	sums := usagetable.Sums{}
	a, b := tallyOf("banner", "shop"), tallyOf("banner", "shop", "blog")
	a.See("banner", hour.Add(time.Minute))
	b.See("banner", hour)
	a.AddUnknown("removed", "shop", 1)
	b.AddUnknown("removed", "page", 1)
	add(sums, usagetable.KindTally, a, nil)
	add(sums, usagetable.KindFrontendTally, b, nil)
	assert.Equal(t, []usagetable.Record{{"banner", "production", hour, usage.ByApplication{
		"shop": {Yes: 2, Variants: map[string]int64{"of shop": 2}},
		"blog": {Yes: 1, Variants: map[string]int64{"of blog": 1}},
	}}}, sums.Records(hour))
	assert.Equal(t, map[string]time.Time{"banner": hour.Add(time.Minute)}, sums["production"].SeenAt)
	assert.Equal(t, []usagetable.UnknownRecord{{"production", hour,
		usagetable.Unknown{"removed": {"shop": hour}}, usagetable.Unknown{"removed": {"page": hour}},
	}}, sums.UnknownRecords(hour))
	assert.Equal(t, 0, sums.Excess())
}

// Whatever was reported, a record fits into an item, its total is complete, and what was reported with frontend tokens
// takes the place of no application with a backend token.
func TestLimitsOfRecords(t *testing.T) {
	t.Parallel()
	sums := usagetable.Sums{}
	add(sums, usagetable.KindTally, tallyOf("banner", "shop"), nil)
	variants := names(0, 2_000)
	for i := range 2 {
		tally := usage.NewTally()
		for j, application := range names(uint64(i+1), 400) {
			counts := usage.Counts{Yes: 1, Variants: map[string]int64{}}
			for _, name := range variants[j%400*5:][:5] {
				counts.Variants[name] = 1
			}
			tally.Add("banner", application, counts)
		}
		for _, toggle := range names(uint64(i+10), 1_000) {
			tally.Add(toggle, "shop", usage.Counts{Yes: 1})
		}
		add(sums, usagetable.KindTally, tally, nil)
		add(sums, usagetable.KindFrontendTally, tally, nil)
	}
	unknown := usage.NewTally()
	for _, name := range names(3, 900) {
		unknown.AddUnknown(name, "shop", 1)
	}
	unknown.AddUnknown("archived", "shop", 1)
	add(sums, usagetable.KindTally, unknown, nil)
	add(sums, usagetable.KindFrontendTally, unknown, nil)

	records := sums.Records(hour)
	banner := slices.IndexFunc(records, func(r usagetable.Record) bool { return r.Feature == "banner" })
	by := records[banner].Applications
	assert.Equal(t, int64(1+4*400), by.Total().Yes)
	assert.Equal(t, usage.Counts{Yes: 1, Variants: map[string]int64{"of shop": 1}}, by["shop"])
	if others := by[usage.Other]; others.Yes < 400 || len(by) < 100 {
		t.Errorf("%d applications on their own, and %d uses of others", len(by), others.Yes)
	}
	_, ok := sums.UnknownRecords(hour)[0].Names["archived"]
	assert.Equal(t, true, ok)
	assert.Equal(t, true, sums.Excess() > 0)

	record, err := usagetable.MarshalRecord(records[banner])
	assert.OK(t, err)
	names, err := usagetable.MarshalUnknown(sums.UnknownRecords(hour)[0])
	assert.OK(t, err)
	for _, use := range sums.UseRecords(hour) {
		item, err := usagetable.MarshalUse(use)
		assert.OK(t, err)
		assert.Equal(t, true, len(item.Bytes("content")) < 390_000)
	}
	assert.Equal(t, true, len(record.Bytes("content")) < 390_000)
	assert.Equal(t, true, len(names.Bytes("content")) < 390_000)
}

// Of applications that only frontend tokens reported, at most 100 of a toggle are counted on their own, and none that
// is not named.
func TestFrontendApplications(t *testing.T) {
	t.Parallel()
	var pages, applications []string
	for i := range 150 {
		pages = append(pages, fmt.Sprint("page-", i))
		applications = append(applications, fmt.Sprint("app-", i))
	}
	sums := usagetable.Sums{}
	add(sums, usagetable.KindTally, tallyOf("banner", applications...), nil)
	add(sums, usagetable.KindFrontendTally, tallyOf("banner", pages...), nil)
	add(sums, usagetable.KindFrontendTally, tallyOf("menu", "page-1", "invented"), func(application string) bool {
		return application == "page-1"
	})
	banner, menu := sums["production"].Features["banner"], sums["production"].Features["menu"]
	assert.Equal(t, 150+100+1, len(banner))
	assert.Equal(t, int64(50), banner[usage.Other].Yes)
	assert.Equal(t, int64(1), menu["page-1"].Yes)
	assert.Equal(t, int64(1), menu[usage.Other].Yes)
	assert.Equal(t, 2, len(menu))
}
