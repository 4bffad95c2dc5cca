package traffic_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/database"
)

func get(t *testing.T, store *traffic.Store, period string) (string, error) {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet,
		"/api/admin/metrics/traffic/x", nil)
	r.SetPathValue("period", period)
	err := traffic.Get(store)(w, r)
	return w.Body.String(), err
}

// Only groups that were counted are named, and a path or day without any is left out.
func TestGet(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := traffic.NewStore(db.Client, db.Tables)
	b := &traffic.Batch{ID: "b", Usage: []traffic.Usage{
		{APIPath: "/a", Day: day(2026, 11, 1), Counts: traffic.Counts{Successful: 3, ClientErrors: 2, ServerErrors: 1}},
		{APIPath: "/a", Day: day(2026, 11, 2)},
		{APIPath: "/a", Day: day(2026, 11, 3), Counts: traffic.Counts{ServerErrors: 1}},
		{APIPath: "/b", Day: day(2026, 11, 3), Counts: traffic.Counts{ClientErrors: 1}},
	}}
	if _, err := store.Record(t.Context(), b, noon()); err != nil {
		t.Fatal(err)
	}
	for period, want := range map[string]string{
		"2026-11": `{"period":"2026-11","apiData":[{"apiPath":"/a","days":[{"day":"2026-11-01T00:00:00.000Z","trafficTypes":[` +
			`{"group":"successful-requests","count":3},{"group":"client-errors","count":2},{"group":"server-errors","count":1}]},` +
			`{"day":"2026-11-03T00:00:00.000Z","trafficTypes":[{"group":"server-errors","count":1}]}]},` +
			`{"apiPath":"/b","days":[{"day":"2026-11-03T00:00:00.000Z","trafficTypes":[{"group":"client-errors","count":1}]}]}]}`,
		"0001-01": `{"period":"0001-01","apiData":[]}`,
		"9999-12": `{"period":"9999-12","apiData":[]}`,
	} {
		if got, err := get(t, store, period); err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s: %v, %s\nwant %s", period, err, got, want)
		}
	}
}

func TestGetRejectsPeriods(t *testing.T) {
	t.Parallel()
	for _, period := range []string{"", "2026", "2026-1", "2026-13", "2026-00", "0000-12", "2026-11-01", "+026-11",
		"2026-11 ", "nonsense"} {
		_, err := get(t, nil, period) // the store is not called
		if e, ok := errors.AsType[*apierror.Error](err); !ok || e.Kind != apierror.Validation ||
			!strings.Contains(e.Error(), "/params/period") {
			t.Errorf("%q: %v", period, err)
		}
	}
}

func TestGetFails(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	client, _ := db.Through(t, func(c *database.Call) (*http.Response, error) { return c.Refuse("AccessDeniedException") })
	if body, err := get(t, traffic.NewStore(client, db.Tables), "2026-11"); err == nil || body != "" {
		t.Errorf("%q, %v", body, err)
	}
}

func TestGetFunction(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile("../../../events/get-traffic-usage.json")
	if err != nil {
		t.Fatal(err)
	}
	env := environment(t, database.New(t))
	get, err := traffic.NewGetFunction(env)
	if err != nil {
		t.Fatal(err)
	}
	got, err := get.Invoke(t.Context(), sample)
	if err != nil || !strings.Contains(string(got), `"statusCode":200`) {
		t.Errorf("%s, %v", got, err)
	}
	database.RequireVariables(t, env, traffic.NewGetFunction, "TRAFFIC_TABLE")
}
