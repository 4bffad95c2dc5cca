package contract_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSection6_Delivered: what was sent over HTTP, in known numbers of each kind, is what 4.6 reports, delivered by the gateway's own access
// log. "401s and 404s count too"; "requests that matched no resource are no API's usage"; "a wrong method on a resource that has an operation
// is a client error of it".
func TestSection6_Delivered(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := start(t, options{events: true, now: func() time.Time { return noon }})
	admin, viewer, api := s.admin(t), s.Users[2].PAT, s.APIToken
	const types, lifetime, context = "/api/admin/feature-types", "/api/admin/feature-types/{id}/lifetime", "/api/admin/context"
	const feedback, create, remove = "/api/admin/feedback/{id}", "/api/admin/service-account/{id}/token", "/api/admin/user/tokens/{id}"
	change := call{method: "PUT", target: "/api/admin/feature-types/release/lifetime"}.with(`{"lifetimeDays":7}`)
	record := call{method: "PUT", target: "/api/admin/feedback/delivered"}.with(`{"neverShow":true}`)
	token := call{method: "POST", target: "/api/admin/service-account/4/token"}
	sent := map[string]counts{}
	for round := range 2 { // once, and once more
		described := fmt.Sprintf(`{"description":"delivered %d","expiresAt":"2026-12-01T00:00:00Z"}`, round)
		for _, kind := range []struct {
			times  int
			call   call
			status int
			path   string // empty: nobody's usage
		}{
			{7, get(types).as(api), 200, types},
			{3, get(types), 401, types},
			{2, get(types).as("Bearer " + api), 200, types},
			{4, call{method: "POST", target: types}.with("{}").as(admin), 404, types},
			{1, get(context).as(viewer), 200, context},
			{3, call{method: "DELETE", target: context}, 404, context},
			{5, change.as(admin), 200, lifetime},
			{4, change.as(viewer), 403, lifetime},
			{6, call{method: "PUT", target: "/api/admin/feature-types/none/lifetime"}.with(`{"lifetimeDays":7}`).as(admin), 404, lifetime},
			{2, change.typed("text/plain").as(admin), 415, lifetime},
			{2, record.as(viewer), 200, feedback},
			{5, record.with(`{"neverShow":1}`).as(viewer), 400, feedback},
			{1, record.as(api), 401, feedback},
			{1, token.with(described).as(admin), 201, create},
			{2, token.with(described).as(admin), 409, create},
			{3, call{method: "DELETE", target: "/api/admin/user/tokens/999999"}.as(viewer), 404, remove},
			{2, get(trafficPath("2026-13")).as(admin), 400, trafficResource},
			{1, get(trafficPath("2026-11")).as(viewer), 403, trafficResource},
			{8, get("/api/admin/nothing").as(admin), 404, ""},
			{2, get("/api/admin/feedback"), 404, ""},
			{1, get("/"), 404, ""},
		} {
			for range kind.times {
				s.send(t, kind.call).want(t, kind.status)
			}
			if kind.path == "" {
				continue
			}
			sum := sent[kind.path]
			if kind.status < 400 {
				sum.successful += kind.times
			} else {
				sum.clientErrors += kind.times
			}
			sent[kind.path] = sum
		}
		s.awaitUsage(t, fmt.Sprint("round ", round+1), "2026-11", sent)
	}
}

const trafficResource = "/api/admin/metrics/traffic/{period}"

// counts are what is counted of a path on the day.
type counts struct{ successful, clientErrors int }

// awaitUsage asks until the report says exactly what was sent, each time having waited longer than before: asking counts, too, and is added
// to what was sent.
func (s *service) awaitUsage(t *testing.T, when, period string, sent map[string]counts) {
	t.Helper()
	var diff string
	for pause := 300 * time.Millisecond; pause < 30*time.Second; pause *= 2 {
		want := map[string][]string{}
		for path, sum := range sent {
			for _, group := range []struct {
				name  string
				count int
			}{{"successful-requests", sum.successful}, {"client-errors", sum.clientErrors}} {
				if group.count > 0 {
					want[path] = append(want[path], fmt.Sprint("2026-11-20 ", group.name, " ", group.count))
				}
			}
		}
		diff = cmp.Diff(want, s.usage(t, period))
		asked := sent[trafficResource]
		asked.successful++
		sent[trafficResource] = asked
		if diff == "" {
			return
		}
		<-time.After(pause)
	}
	t.Fatalf("%s, by path: %s", when, diff)
}
