package contract_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// TestSection1_ErrorObject: "Every error response of every operation, whoever produces it (a function, the authorizer, the gateway itself),
// is application/json with exactly three members, all strings: id, name, message." send and wantError look at each answer; here is one for
// each status, and for each operation whatever it refuses. Faults have a file of their own.
func TestSection1_ErrorObject(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	full := s.serviceAccount(t)
	for range 10 {
		s.pat(t, full, user.ServiceAccount)
	}
	taken := s.serviceAccount(t)
	body := newToken()
	s.send(t, postToken(taken, body).as(admin)).want(t, 201)
	for _, tt := range []struct {
		name   string
		call   call
		status int
	}{
		{"400 by a function", putFeedback("x", `{"given":1}`).as(admin), 400},
		{"401 by the gateway", get(typesPath), 401},
		{"401 by the authorizer", get(typesPath).as("nonsense"), 401},
		{"401 by a function", putFeedback("x", `{}`).as(s.apiToken(t)), 401},
		{"403 for a permission", get(trafficPath("2026-01")).as(s.viewer(t)), 403},
		{"403 for a kind of credential", deleteToken("1").as(s.apiToken(t)), 403},
		{"403 for a limit", postToken(full, newToken()).as(admin), 403},
		{"404 of a resource", putLifetime("none", `{"lifetimeDays":1}`).as(admin), 404},
		{"404 of a path", get("/nowhere").as(admin), 404},
		{"409 by a function", postToken(taken, body).as(admin), 409},
		{"413 by a function", putFeedback("x", strings.Repeat(" ", 102_401)).as(admin), 413},
		{"415 by a function", putFeedback("x", `{}`).as(admin).typed("text/plain"), 415},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s.send(t, tt.call).wantError(t, tt.status)
		})
	}
	for _, op := range operations() {
		t.Run("of "+op.name, func(t *testing.T) {
			t.Parallel()
			token, caller := op.allowed(t, s)
			c := op.valid(t, s, caller)
			s.send(t, c).wantError(t, 401)
			other := c
			other.method = http.MethodPatch
			s.send(t, other.as(token)).wantError(t, 404)
			if op.needs == adminPermission {
				s.send(t, c.as(s.viewer(t))).wantError(t, 403)
			}
			if op.hasBody() {
				s.send(t, c.as(token).with(op.bad)).wantError(t, 400)
			}
			if op.unknown != "" {
				c.target = op.unknown
				s.send(t, c.as(token)).wantError(t, 404)
			}
		})
	}
}

// TestSection1_IDs: "id is a UUID, new for each error instance; the log line of that error carries the same id and the request id. (In an
// error that the gateway makes by itself the id is $context.requestId.)"
func TestSection1_IDs(t *testing.T) {
	t.Parallel()
	s := shared
	viewer := s.viewer(t)
	seen := map[string]bool{}
	for range 5 {
		for _, c := range []call{get(typesPath), get("/nowhere"), get(trafficPath("x")).as(viewer), putFeedback("x", "").as(viewer)} {
			e := s.send(t, c)
			id := e.wantError(t, e.status).ID
			if seen[id] {
				t.Errorf("%s: the id %s is there twice", e.what(), id)
			}
			seen[id] = true
		}
	}
	t.Run("of a function's error", func(t *testing.T) {
		t.Parallel()
		for _, c := range []call{
			get("/nowhere"), putFeedback("x", "").as(viewer), get(trafficPath("x")).as(viewer), deleteToken("x").as(viewer),
		} {
			a := s.send(t, c)
			id := a.wantError(t, a.status).ID
			line := s.log.wait(t, "the error "+id, func(l logLine) bool { return l.ErrorID == id })
			if got := a.header.Get("X-Request-Id"); line.APIRequestID != got || got == "" {
				t.Errorf("%s: request id %q, log line %s", a.what(), got, line.raw)
			}
		}
	})
	t.Run("of the gateway's own", func(t *testing.T) {
		t.Parallel()
		for _, token := range []string{"", "nonsense"} {
			a := s.send(t, get(typesPath).as(token))
			id := a.wantError(t, 401).ID
			if got := a.header.Get("X-Request-Id"); got != id {
				t.Errorf("request id %q, error id %q", got, id)
			}
			s.log.wait(t, "the request "+id, func(l logLine) bool { return l.Line.RequestID == id && l.Line.Status == "401" })
		}
	})
}

// TestSection1_Unauthorized: "401 has one static text for missing, malformed, unknown, expired and revoked credentials alike (4.1 has a
// second one, for a valid credential without a user); the gateway's 401 carries WWW-Authenticate: Bearer."
func TestSection1_Unauthorized(t *testing.T) {
	t.Parallel()
	s := shared
	for _, bad := range invalidCredentials(t, s) {
		t.Run("the one text for "+bad.name, func(t *testing.T) {
			t.Parallel()
			for _, op := range operations() {
				c := op.valid(t, s, 0).as(bad.token)
				c.header = bad.header
				a := s.send(t, c)
				a.wantMessage(t, 401, textUnauthorized)
				if got := a.header.Values("WWW-Authenticate"); len(got) != 1 || got[0] != "Bearer" {
					t.Errorf("%s: WWW-Authenticate %q", op.name, got)
				}
			}
		})
	}
	t.Run("the second text of 4.1", func(t *testing.T) {
		t.Parallel()
		s.send(t, putFeedback("x", `{}`).as(s.apiToken(t))).wantMessage(t, 401, "This operation requires a token that identifies a user.")
	})
}

const (
	textUnauthorized = "You need a valid credential in the Authorization header."
	textAdmin        = `You need the "ADMIN" permission to perform this operation.`
	textNoPath       = "The path you were looking for is not available."
)

// TestSection1_Forbidden: "A 403 message names the missing permission. (Where no permission but a kind of credential or a limit is the
// reason, it names that.)"
func TestSection1_Forbidden(t *testing.T) {
	t.Parallel()
	s := shared
	for _, role := range []auth.Role{auth.RoleEditor, auth.RoleViewer} {
		t.Run(fmt.Sprintf("the missing permission of %s", role), func(t *testing.T) {
			t.Parallel()
			_, token := s.person(t, role)
			for _, op := range operations() {
				if op.needs == adminPermission {
					s.send(t, op.valid(t, s, 0).as(token)).wantMessage(t, 403, textAdmin)
				}
			}
		})
	}
	t.Run("the kind of credential", func(t *testing.T) {
		t.Parallel()
		s.send(t, deleteToken("1").as(s.apiToken(t))).wantMessage(t, 403, "You need a token that identifies a user to perform this operation.")
	})
	t.Run("the limit", func(t *testing.T) {
		t.Parallel()
		account := s.serviceAccount(t)
		for range 10 {
			s.pat(t, account, user.ServiceAccount)
		}
		s.send(t, postToken(account, newToken()).as(s.admin(t))).
			wantMessage(t, 403, "The service account already has 10 tokens, the most that it may have.")
	})
}

// TestSection1_NotFound: "404 for an unknown path or a wrong method, with or without a credential. No 405. (No template echoes anything that
// the caller sent.)" The specification has no HEAD and no OPTIONS.
func TestSection1_NotFound(t *testing.T) {
	t.Parallel()
	s := shared
	credentials := map[string]string{"without a credential": "", "with one": s.admin(t), "with a bad one": "Basic bm86bm8=", "with a signature": "AWS4-HMAC-SHA256 Credential=x"}
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "Foo"}
	paths := []string{
		"/", "/api", "/api/admin", "/api/admin/", "/api/admin/x", "/api/client/features", "/favicon.ico", "/%00", "/ü", "/..", "/api/admin/../admin/context",
		"/api/admin/feedback", "/api/admin/feedback/", "/api/admin/feedback/a/b", "/api/admin/feature-types/release", "/api/admin/feature-types/release/lifetime/x",
		"/api/admin/service-account", "/api/admin/service-account/4", "/api/admin/service-account/4/token/1", "/api/admin/metrics", "/api/admin/metrics/traffic",
		"/api/admin/user", "/api/admin/user/tokens", "/api/admin/Context", "/API/admin/context", "/api/admin/%63ontext", "/api/admin/context/x", "/dev/api/admin/context",
	}
	for with, token := range credentials {
		t.Run("an unknown path "+with, func(t *testing.T) {
			t.Parallel()
			for _, path := range paths {
				s.send(t, get(path).as(token)).wantMessage(t, 404, textNoPath)
			}
			for _, method := range methods {
				c := call{method: method, target: "/api/admin/nothing", token: token, contentType: none}
				wantNoPath(t, s.send(t, c))
			}
		})
		t.Run("a wrong method "+with, func(t *testing.T) {
			t.Parallel()
			for _, op := range operations() {
				right := op.valid(t, s, 0)
				for _, method := range methods {
					if c := (call{method: method, target: right.target, token: token, contentType: none}); method != right.method {
						wantNoPath(t, s.send(t, c))
					}
				}
			}
		})
	}
}

// wantNoPath demands the 404 of an unknown path; HEAD has no body.
func wantNoPath(t *testing.T, a answer) {
	t.Helper()
	if a.header.Get("Allow") != "" {
		t.Errorf("%s: Allow %q", a.what(), a.header.Get("Allow"))
	}
	if a.call.method != http.MethodHead {
		a.wantMessage(t, 404, textNoPath)
		return
	}
	if a.want(t, 404); a.body != "" {
		t.Errorf("%s: the body %q", a.what(), a.body)
	}
}
