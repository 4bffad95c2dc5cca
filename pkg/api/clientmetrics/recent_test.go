package clientmetrics_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// The usage of several toggles is the sum of all environments and applications, in each of the last 24 hours.
func TestRecent(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	two := func(a, b usage.Counts) usage.Tally {
		return usage.Tally{Features: map[string]usage.ByApplication{
			"banner": {"shop": a, "blog": {No: 1}}, "dark": {"shop": b}, "other": {"shop": {Yes: 9}},
		}}
	}
	put(t, db, usagetable.KindTally, 0, "production", two(usage.Counts{Yes: 1, No: 2}, usage.Counts{Yes: 7}))
	put(t, db, usagetable.KindTally, 0, "development", two(usage.Counts{Yes: 4}, usage.Counts{}))
	put(t, db, usagetable.KindTally, 24, "production", tally(usage.ByApplication{"shop": {Yes: 32}})) // earlier
	record23 := hour.Add(-23 * time.Hour)
	record, err := usagetable.MarshalRecord(usagetable.Record{
		Feature: "banner", Environment: "production", Hour: record23,
		Applications: usage.ByApplication{"shop": {No: 16}},
	})
	assert.OK(t, err)
	table := db.Tables[usagetable.Table]
	db.Put(t, table, record)
	db.Put(t, table, usagetable.MarshalMarker(record23, "f"))
	h := operations(db, "")
	hours := func(first, last string) string { return "[" + first + strings.Repeat(",0", 22) + "," + last + "]" }
	const head = `200 {"version":1,"maturity":"stable","from":"2026-11-26T09:00:00.000Z","features":[`
	banner := `{"name":"banner","yes":` + hours("0", "5") + `,"no":` + hours("16", "4") + `}`
	dark := `{"name":"dark","yes":` + hours("0", "7") + `,"no":` + hours("0", "0") + `}`
	h.ExpectQuery(t.Context(), t, "recent", "feature=IS_ANY_OF:dark,banner,unknown,dark", head+banner+","+dark+"]}")
	h.ExpectQuery(t.Context(), t, "recent", "feature=IS:dark", head+dark+"]}")
	h.ExpectQuery(t.Context(), t, "recent", "feature=IS:unknown", head+"]}")
	for query, want := range map[string]string{
		"": "must name toggles, as in IS_ANY_OF:new-checkout,dark-mode",
		"feature=IS_ANY_OF:a" + strings.Repeat(",a", 50): "must have at most 50 values",
		"feature=dark": "must begin with IS: or IS_ANY_OF: and have a value",
	} {
		_, _, got := h.Serve(t.Context(), operation.Request{Operation: "recent", Query: query})
		assert.Equal(t, true, strings.HasPrefix(got, "ValidationError: The `/query/feature` parameter "+want+"; you sent"))
	}
}
