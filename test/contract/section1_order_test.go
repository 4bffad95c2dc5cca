package contract_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

// violation is one thing that is wrong with a request.
type violation struct {
	name   string
	status int
	apply  func(*request)
}

// request is what the violations are put together from.
type request struct {
	token, contentType  string
	target              string
	fields              string // of the body; empty: those of a token that is not there yet
	padding             int
	brokenJSON, badPath bool
}

func (r request) call(method, badTarget string) call {
	if r.fields == "" {
		r.fields = fmt.Sprintf(`"description":%q,"expiresAt":"2199-01-01T00:00:00Z"`, rand.Text())
	}
	body := "{" + r.fields + "}"
	if r.brokenJSON {
		body = "{" + r.fields
	}
	if r.padding > len(body) {
		body += strings.Repeat(" ", r.padding-len(body))
	}
	target := r.target
	if r.badPath {
		target = badTarget
	}
	return call{method: method, target: target, token: r.token, contentType: r.contentType, body: body}
}

// TestSection1_OrderOfChecks: "401, then 403, then 415, then 413, then 400 (path, JSON syntax, schema), then 404, then a limit's 403, then
// 409. Nothing is written before all of them passed." For each operation every set of violations gets the first one's status.
func TestSection1_OrderOfChecks(t *testing.T) {
	t.Parallel()
	s := shared
	admin, viewer := s.admin(t), s.viewer(t)
	unauthorized := violation{"401", 401, func(r *request) { r.token = "" }}
	forbidden := violation{"403", 403, func(r *request) { r.token = viewer }}
	unsupported := violation{"415", 415, func(r *request) { r.contentType = "text/plain" }}
	large := violation{"413", 413, func(r *request) { r.padding = 102_401 }}
	syntax := violation{"400 of syntax", 400, func(r *request) { r.brokenJSON = true }}
	schema := func(fields string) violation {
		return violation{"400 of schema", 400, func(r *request) { r.fields = fields }}
	}
	path := violation{"400 of the path", 400, func(r *request) { r.badPath = true }}
	unknown := violation{"404", 404, func(r *request) { r.badPath = true }}

	t.Run("4.1", func(t *testing.T) {
		t.Parallel()
		caller, token := s.person(t, "Viewer")
		s.walk(t, "PUT", feedbackPath("%ff"),
			request{token: token, target: feedbackPath("order"), fields: `"neverShow":true`},
			[]violation{unauthorized, unsupported, large, path, syntax, schema(`"neverShow":1`)})
		if item := s.feedback(t, caller, "order"); item != nil {
			t.Errorf("written: %v", item)
		}
	})
	t.Run("4.1 with an API token's 401", func(t *testing.T) {
		t.Parallel()
		noUser := violation{"401", 401, func(r *request) { r.token = s.APIToken }}
		s.walk(t, "PUT", feedbackPath("%ff"), request{token: admin, target: feedbackPath("order"), fields: `"neverShow":true`},
			[]violation{noUser, unsupported, large, path, syntax, schema(`"neverShow":1`)})
	})
	t.Run("4.3", func(t *testing.T) {
		t.Parallel()
		days := int64(5)
		id := s.featureType(t, &days)
		s.walk(t, "PUT", lifetimePath("no-such-type"),
			request{token: admin, target: lifetimePath(id), fields: `"lifetimeDays":3`},
			[]violation{unauthorized, forbidden, unsupported, large, syntax, schema(`"lifetimeDays":-1`), unknown})
		if got := s.item(t, "FeatureTypes", dynamo.Item{"id": dynamo.S(id)}).Int("lifetimeDays"); got != days {
			t.Errorf("written: %d", got)
		}
	})
	t.Run("4.5", func(t *testing.T) {
		t.Parallel()
		account := s.serviceAccount(t)
		const taken = `{"description":"taken","expiresAt":"2199-01-01T00:00:00Z"}`
		s.send(t, postToken(account, taken).as(admin)).want(t, 201)
		reserved, stored := s.tokensOf(t, account)
		full := s.serviceAccount(t)
		s.send(t, postToken(full, taken).as(admin)).want(t, 201)
		for range 9 {
			s.pat(t, full, user.ServiceAccount)
		}
		past := schema(`"description":"taken","expiresAt":"2001-01-01T00:00:00Z"`)
		duplicate := violation{"409", 409, func(r *request) {
			if r.fields == "" {
				r.fields = `"description":"taken","expiresAt":"2199-01-01T00:00:00Z"`
			}
		}}
		limit := violation{"403 of the limit", 403, func(r *request) { r.target = tokenPath(text(full)) }}
		fresh := request{token: admin, target: tokenPath(text(account))}
		s.walk(t, "POST", tokenPath("2147483646"), fresh, []violation{unauthorized, forbidden, unsupported, large, syntax, past, unknown, limit, duplicate})
		afterReserved, afterStored := s.tokensOf(t, account)
		if diff := cmp.Diff(reserved, afterReserved) + cmp.Diff(len(stored), len(afterStored)); diff != "" {
			t.Errorf("written: %s", diff)
		}
		if reserved, stored := s.tokensOf(t, full); len(reserved) != 10 || len(stored) != 10 {
			t.Errorf("written: %d and %d tokens", len(reserved), len(stored))
		}
	})
	t.Run("4.6", func(t *testing.T) {
		t.Parallel()
		s.walk(t, "GET", trafficPath("nonsense"), request{token: admin, target: trafficPath("2026-01")}, []violation{unauthorized, forbidden, path})
	})
	t.Run("4.7", func(t *testing.T) {
		t.Parallel()
		noUser := violation{"403", 403, func(r *request) { r.token = s.APIToken }}
		s.walk(t, "DELETE", ownTokenPath("nonsense"), request{token: admin, target: ownTokenPath("2147483647")}, []violation{unauthorized, noUser, unknown})
	})
}

// walk sends a request for every set of violations but the empty one.
func (s *service) walk(t *testing.T, method, badTarget string, right request, all []violation) {
	t.Helper()
	for set := 1; set < 1<<len(all); set++ {
		r := right
		var names []string
		status := 0
		for i, v := range slices.Backward(all) { // the first has the last word on what it shares with others
			if set&(1<<i) != 0 {
				v.apply(&r)
				names = append(names, v.name)
				status = v.status
			}
		}
		if len(names) > 2 && len(names) < len(all) { // pairs show the order; single ones and all at once besides
			continue
		}
		slices.Reverse(names)
		a := s.send(t, r.call(method, badTarget))
		if a.status != status {
			t.Errorf("%s: %d %s, want %d", strings.Join(names, " beats "), a.status, a.body, status)
			continue
		}
		a.wantError(t, status)
	}
}
