package contract_test

import (
	"fmt"
	"testing"
	"time"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/local"
)

func TestSection6Counted(t *testing.T) {
	t.Parallel()
	s := start(t, local.Config{Now: func() time.Time { return time.Date(2026, 11, 20, 23, 59, 59, 0, time.UTC) }})
	requests := int64(0)
	for _, tt := range []struct {
		times  int
		call   call
		status int
	}{
		{3, get(typesPath).as(s.APIToken), 200},
		{2, get(typesPath), 401},
		{1, call{method: "POST", target: typesPath}, 404},
		{2, putLifetime("release", "7").as(s.APIToken), 200},
		{2, putLifetime("none", "7").as(s.APIToken), 404},
		{1, deleteToken("1").as(s.APIToken), 403},
		{5, get("/api/admin/nothing"), 404},
	} {
		for range tt.times {
			s.send(t, tt.call).want(t, tt.status)
		}
		if tt.call.target != "/api/admin/nothing" {
			requests += int64(tt.times)
		}
	}
	eventually(t, fmt.Sprint(requests, " requests are counted"), func() bool {
		usage, err := traffic.NewStore(s.db, s.tables).Report(t.Context(), "2026-11")
		must(t, err)
		counted := int64(0)
		for _, u := range usage {
			counted += u.Counts.Successful + u.Counts.ClientErrors + u.Counts.ServerErrors
		}
		return counted == requests
	})
	path := func(name, groups string) string {
		return `{"apiPath":"/api/admin/` + name + `","days":[{"day":"2026-11-20T00:00:00.000Z","trafficTypes":[` + groups +
			`]}]}`
	}
	s.send(t, get(trafficPath+"2026-11").as(s.APIToken)).body200(t, `{"period":"2026-11","apiData":[`+
		path("feature-types", `{"group":"successful-requests","count":3},{"group":"client-errors","count":3}`)+","+
		path("feature-types/{id}/lifetime",
			`{"group":"successful-requests","count":2},{"group":"client-errors","count":2}`)+","+
		path("user/tokens/{id}", `{"group":"client-errors","count":1}`)+`]}`)
}
