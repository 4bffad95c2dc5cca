package usagetable_test

import (
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

var hour = time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)

// put stores a part.
func put(t *testing.T, db *database.Database, p usagetable.Part, content any) {
	t.Helper()
	item, err := usagetable.MarshalPart(p, content)
	assert.OK(t, err)
	db.Put(t, db.Tables[usagetable.Table], item)
}

// sumsOf adds up the tallies of the hour.
func sumsOf(t *testing.T, db *database.Database) usagetable.Sums {
	t.Helper()
	sums := usagetable.Sums{}
	err := usagetable.WalkTallies(t.Context(), db.Client, db.Tables[usagetable.Table], hour,
		func(p usagetable.Part, tally usage.Tally) { sums.Add(p, tally, nil) })
	assert.OK(t, err)
	return sums
}

func tally(feature, application string, yes int64) usage.Tally {
	t := usage.NewTally()
	t.Add(feature, application, usage.Counts{Yes: yes})
	return t
}

// An hour that is not merged is the sum of its parts. A part that is written again replaces itself.
func TestReadOpenHour(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	for _, part := range []struct {
		environment, id string
		hour            time.Time
		tally           usage.Tally
	}{
		{"production", "a", hour, tally("banner", "shop", 1)},
		{"production", "a", hour, tally("banner", "shop", 2)},
		{"production", "b", hour, tally("banner", "shop", 4)},
		{"production", "c", hour, tally("other", "shop", 8)},
		{"development", "a", hour, tally("banner", "blog", 16)},
		{"production", "a", hour.Add(time.Hour), tally("banner", "shop", 32)},
	} {
		put(t, db, usagetable.Part{
			Kind: usagetable.KindTally, Hour: part.hour, Environment: part.environment, ID: part.id,
		}, part.tally)
	}
	got, err := usagetable.ReadFeatures(t.Context(), db.Client, db.Tables[usagetable.Table], []string{"banner"},
		hour.Add(time.Minute), hour.Add(59*time.Minute))
	assert.OK(t, err)
	assert.Equal(t, []usagetable.Record{
		{Feature: "banner", Environment: "development", Hour: hour, Applications: usage.ByApplication{"blog": {Yes: 16}}},
		{Feature: "banner", Environment: "production", Hour: hour, Applications: usage.ByApplication{"shop": {Yes: 6}}},
	}, got)
}

// A merged hour is read from its records alone, and an hour without a marker from its parts alone.
func TestReadMergedHour(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables[usagetable.Table]
	later := hour.Add(time.Hour)
	for _, h := range []time.Time{hour, later} {
		put(t, db, usagetable.Part{Kind: usagetable.KindTally, Hour: h, Environment: "production", ID: "a"},
			tally("banner", "shop", 1))
		record, err := usagetable.MarshalRecord(usagetable.Record{
			Feature: "banner", Environment: "production", Hour: h, Applications: usage.ByApplication{"shop": {Yes: 5}},
		})
		assert.OK(t, err)
		db.Put(t, table, record)
	}
	db.Put(t, table, usagetable.MarshalMarker(hour, "x"))
	got, err := usagetable.ReadFeatures(t.Context(), db.Client, table, []string{"banner"}, hour.Add(-time.Hour), later)
	assert.OK(t, err)
	assert.Equal(t, []usagetable.Record{
		{Feature: "banner", Environment: "production", Hour: hour, Applications: usage.ByApplication{"shop": {Yes: 5}}},
		{Feature: "banner", Environment: "production", Hour: later, Applications: usage.ByApplication{"shop": {Yes: 1}}},
	}, got)

	merged, err := usagetable.Merged(t.Context(), db.Client, table)
	assert.OK(t, err)
	assert.Equal(t, map[time.Time]string{hour: "x"}, merged)
}

// What an application used, and the names without a toggle, are read from records of merged hours, and from the
// parts of others.
func TestReadUseAndUnknown(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables[usagetable.Table]
	later := hour.Add(time.Hour)
	written := hour.Add(30 * time.Minute)
	for _, h := range []time.Time{hour, later} {
		content := usage.NewTally()
		content.Add("banner", "shop", usage.Counts{Yes: 1})
		content.Add("banner", "blog", usage.Counts{Yes: 1})
		content.AddUnknown("removed", "shop", 1)
		put(t, db, usagetable.Part{
			Kind: usagetable.KindTally, Hour: h, Environment: "production", ID: "a", WrittenAt: written,
		}, content)
	}
	sums := sumsOf(t, db)
	for _, r := range sums.UseRecords(hour) {
		r.Features = append(r.Features, "stored")
		item, err := usagetable.MarshalUse(r)
		assert.OK(t, err)
		db.Put(t, table, item)
	}
	for _, r := range sums.UnknownRecords(hour) {
		r.Frontend["stored"] = map[string]time.Time{"shop": written}
		item, err := usagetable.MarshalUnknown(r)
		assert.OK(t, err)
		db.Put(t, table, item)
	}
	db.Put(t, table, usagetable.MarshalMarker(hour, "x"))

	use, err := usagetable.ReadUse(t.Context(), db.Client, table, []string{"shop"}, hour, later)
	assert.OK(t, err)
	assert.Equal(t, []usagetable.UseRecord{
		{Application: "shop", Environment: "production", Hour: hour, Features: []string{"banner", "removed", "stored"}},
		{Application: "shop", Environment: "production", Hour: later, Features: []string{"banner", "removed"}},
	}, use)
	unknown, err := usagetable.ReadUnknown(t.Context(), db.Client, table, hour, later)
	assert.OK(t, err)
	byShop := map[string]time.Time{"shop": written}
	assert.Equal(t, []usagetable.UnknownRecord{
		{
			Environment: "production", Hour: hour,
			Names: usagetable.Unknown{"removed": byShop}, Frontend: usagetable.Unknown{"stored": byShop},
		},
		{Environment: "production", Hour: later, Names: usagetable.Unknown{"removed": byShop}, Frontend: usagetable.Unknown{}},
	}, unknown)
}

// The fingerprint of an hour changes with each write of a part.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables[usagetable.Table]
	fingerprint := func() string {
		parts, err := usagetable.TallyParts(t.Context(), db.Client, table, hour)
		assert.OK(t, err)
		return usagetable.Fingerprint(parts)
	}
	part := usagetable.Part{Kind: usagetable.KindTally, Hour: hour, Environment: "production", ID: "a", Writes: 1}
	seen := map[string]bool{fingerprint(): true}
	for _, change := range []func(){
		func() { put(t, db, part, usage.NewTally()) },
		func() { part.Writes++; put(t, db, part, usage.NewTally()) },
		func() { part.ID = "b"; put(t, db, part, usage.NewTally()) },
		func() { part.Environment = "development"; put(t, db, part, usage.NewTally()) },
	} {
		change()
		f := fingerprint()
		assert.Equal(t, false, seen[f])
		assert.Equal(t, f, fingerprint())
		seen[f] = true
	}
	var parts []usagetable.Part
	assert.OK(t, usagetable.WalkTallies(t.Context(), db.Client, table, hour, func(p usagetable.Part, _ usage.Tally) {
		parts = append(parts, p)
	}))
	assert.Equal(t, true, seen[usagetable.Fingerprint(parts)])
}

func TestPresenceAndRequests(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables[usagetable.Table]
	instance := func(id string) usage.Presence {
		return usage.Presence{"shop": {Instances: map[string]usage.Instance{id: {SDK: "sdk:1", SeenAt: hour}}}}
	}
	put(t, db, usagetable.Part{Kind: usagetable.KindPresence, Hour: hour, Environment: "production", ID: "a"}, instance("1"))
	put(t, db, usagetable.Part{Kind: usagetable.KindPresence, Hour: hour, Environment: "production", ID: "b"}, instance("2"))
	put(t, db, usagetable.Part{Kind: usagetable.KindRequests, Hour: hour, ID: "a"}, usage.Requests{"/edge": {Successful: 1}})
	put(t, db, usagetable.Part{Kind: usagetable.KindRequests, Hour: hour, ID: "b"}, usage.Requests{"/edge": {Successful: 2}})

	instances, err := usagetable.ReadInstances(t.Context(), db.Client, table, "shop", hour, hour)
	assert.OK(t, err)
	assert.Equal(t, map[string]map[string]usage.Instance{"production": {
		"1": {SDK: "sdk:1", SeenAt: hour}, "2": {SDK: "sdk:1", SeenAt: hour},
	}}, instances)
	requests, err := usagetable.ReadRequests(t.Context(), db.Client, table, hour)
	assert.OK(t, err)
	assert.Equal(t, usage.Requests{"/edge": {Successful: 3}}, requests)
}

func TestApplications(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	table := db.Tables[usagetable.Table]
	shop := usagetable.Application{
		Name: "shop", CreatedAt: hour, SeenAt: hour.Add(time.Minute), Projects: []string{"*"}, Strategies: []string{"default"},
		Environments: map[string]usagetable.ApplicationInstance{
			"production": {SeenAt: hour.Add(time.Minute), Instances: 3, SDKs: []string{"sdk:1"}},
		},
	}
	blog := usagetable.Application{
		Name: "blog #1", CreatedAt: hour, SeenAt: hour, Projects: []string{}, Strategies: []string{},
		Environments: map[string]usagetable.ApplicationInstance{},
	}
	for _, a := range []usagetable.Application{shop, blog} {
		db.Put(t, table, usagetable.MarshalApplication(a))
	}
	all, err := usagetable.Applications(t.Context(), db.Client, table)
	assert.OK(t, err)
	assert.Equal(t, []usagetable.Application{blog, shop}, all)
	got, ok, err := usagetable.ReadApplication(t.Context(), db.Client, table, "shop")
	assert.OK(t, err)
	assert.Equal(t, true, ok)
	assert.Equal(t, shop, got)
	_, ok, err = usagetable.ReadApplication(t.Context(), db.Client, table, "unknown")
	assert.OK(t, err)
	assert.Equal(t, false, ok)
}

// Of an environment, a limited number of parts is read. The others have theirs.
func TestTooManyParts(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	for i := range 202 {
		put(t, db, usagetable.Part{
			Kind: usagetable.KindFrontendTally, Hour: hour, Environment: "development", ID: fmt.Sprintf("%03d", i),
		}, tally("banner", "page", 1))
	}
	for _, kind := range []usagetable.Kind{usagetable.KindTally, usagetable.KindFrontendTally} {
		put(t, db, usagetable.Part{Kind: kind, Hour: hour, Environment: "production"}, tally("banner", "shop", 1))
	}
	var read []usagetable.Part
	var sum int64
	err := usagetable.WalkTallies(t.Context(), db.Client, db.Tables[usagetable.Table], hour,
		func(p usagetable.Part, tally usage.Tally) {
			read = append(read, p)
			sum += tally.Features["banner"].Total().Yes
		})
	assert.Equal(t, "development has more than 200 parts of the kind tally-frontend in the hour 2026-11-27T08", err.Error())
	assert.Equal(t, int64(200+2), sum)
	parts, err := usagetable.TallyParts(t.Context(), db.Client, db.Tables[usagetable.Table], hour)
	assert.Equal(t, true, err != nil)
	assert.Equal(t, usagetable.Fingerprint(read), usagetable.Fingerprint(parts))
}
