package traffic_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func get(store *traffic.Store) operation.Set {
	return operation.Set{Parameters: []string{"period"}, Handlers: map[string]lambdahttp.HandlerFunc{"get": traffic.Get(store)}}
}

// Only groups that were counted are named, and a path or day without any is left out.
func TestGet(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := traffic.NewStore(db.Client, db.Tables)
	b := &traffic.Batch{ID: "b", Usage: []traffic.Usage{
		usage("/a", "2026-11-01", 3, 2, 1),
		usage("/a", "2026-11-02", 0, 0, 0),
		usage("/a", "2026-11-03", 0, 0, 1),
		usage("/b", "2026-11-03", 0, 1, 0),
	}}
	_, err := store.Record(t.Context(), b, noon())
	assert.OK(t, err)
	h := get(store)
	for period, want := range map[string]string{
		"2026-11": `200 {"period":"2026-11","apiData":[` +
			`{"apiPath":"/a","days":[` +
			`{"day":"2026-11-01T00:00:00.000Z","trafficTypes":[{"group":"successful-requests","count":3},` +
			`{"group":"client-errors","count":2},{"group":"server-errors","count":1}]},` +
			`{"day":"2026-11-03T00:00:00.000Z","trafficTypes":[{"group":"server-errors","count":1}]}]},` +
			`{"apiPath":"/b","days":[` +
			`{"day":"2026-11-03T00:00:00.000Z","trafficTypes":[{"group":"client-errors","count":1}]}]}]}`,
		"0001-01": `200 {"period":"0001-01","apiData":[]}`,
		"9999-12": `200 {"period":"9999-12","apiData":[]}`,
	} {
		h.Expect(t.Context(), t, "get", period, "", want)
	}
	for _, period := range []string{"", "2026", "2026-1", "2026-13", "2026-00", "0000-12", "2026-11-01", "+026-11",
		"2026-11 "} {
		if got := h.Call(t.Context(), "get", period, ""); !strings.HasPrefix(got,
			"400 ValidationError: The `/params/period` ") {
			t.Errorf("%q: %s", period, got)
		}
	}
	get(traffic.NewStore(db.Refusing(t, "Query"), db.Tables)).ExpectStatus(t.Context(), t, "get", "2026-11", "", 500)
}
