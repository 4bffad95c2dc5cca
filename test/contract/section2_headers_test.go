package contract_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestSection2_Bearer: "Authorization: <token> and Authorization: Bearer <token> (scheme in any letter case) are the same."
func TestSection2_Bearer(t *testing.T) {
	t.Parallel()
	s := shared
	for kind, token := range map[string]string{"PAT": s.viewer(t), "API token": s.apiToken(t)} {
		for _, scheme := range []string{"", "Bearer ", "bearer ", "BEARER ", "bEaReR "} {
			t.Run(kind+" after "+scheme, func(t *testing.T) {
				t.Parallel()
				s.send(t, get(typesPath).as(scheme+token)).want(t, 200)
			})
		}
		t.Run(kind+" under the header's name in lower case", func(t *testing.T) {
			t.Parallel()
			request := "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nauthorization: bearer " + token + "\r\n\r\n"
			if status, body := s.raw(t, request); status != 200 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// TestSection2_ContentType: "4.1, 4.3 and 4.5 require Content-Type: application/json, in any letter case, with any parameters
// (charset=utf-8), also where the body is empty; a missing or another Content-Type is 415."
func TestSection2_ContentType(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	accepted := []string{
		"application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", "APPLICATION/JSON", "Application/Json; Charset=latin1",
		"application/json ; x=y; z=\"a;b\"", "application/json;", "application/json; boundary",
	}
	refused := []string{
		none, "", "text/plain", "text/json", "application/vnd.api+json", "application/json-patch+json", "application/jsonp", "application", "json",
		"application/json/x", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "*/*", "application/*", "application/json, text/plain",
		"text/plain; application/json", "text/plain, application/json",
	}
	for _, op := range operations() {
		if !op.hasBody() {
			continue
		}
		for _, contentType := range accepted {
			t.Run(op.name+" takes "+contentType, func(t *testing.T) {
				t.Parallel()
				s.send(t, op.valid(t, s, 0).as(admin).typed(contentType)).want(t, op.success)
				s.send(t, op.valid(t, s, 0).as(admin).typed(contentType).with("")).wantError(t, 400)
			})
		}
		for _, contentType := range refused {
			t.Run(op.name+" refuses "+contentType, func(t *testing.T) {
				t.Parallel()
				for _, body := range []string{op.valid(t, s, 0).body, ""} {
					c := op.valid(t, s, 0).as(admin).typed(contentType).with(body)
					if contentType == "" {
						c.contentType, c.header = none, http.Header{"Content-Type": {""}}
					}
					s.send(t, c).wantMessage(t, 415, "The Content-Type must be application/json.")
				}
			})
		}
		t.Run(op.name+" refuses two of them", func(t *testing.T) {
			t.Parallel()
			c := op.valid(t, s, 0).as(admin).typed(none)
			c.header = http.Header{"Content-Type": {"text/plain", "application/json"}}
			s.send(t, c).wantError(t, 415)
		})
	}
}

// TestSection2_IgnoredContentTypeAndBody: "GET and DELETE ignore Content-Type and body." The specification's 4.7: no Accept header needed.
func TestSection2_IgnoredContentTypeAndBody(t *testing.T) {
	t.Parallel()
	s := shared
	for _, op := range operations() {
		if op.hasBody() {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			token, caller := op.allowed(t, s)
			for _, contentType := range []string{none, "text/plain", "nonsense", "application/json"} {
				for _, body := range []string{"", "{", `{"a":1,"a":2}`, "null"} {
					s.send(t, op.valid(t, s, caller).as(token).typed(contentType).with(body)).want(t, op.success)
				}
			}
			c := op.valid(t, s, caller).as(token)
			c.header = http.Header{"Accept": {"text/html"}}
			s.send(t, c).want(t, op.success)
		})
	}
}

// TestSection2_ResponseHeaders: "Responses carry Cache-Control: no-store, X-Content-Type-Options: nosniff and X-Request-Id." Those with a
// body are application/json (specification, section 4).
func TestSection2_ResponseHeaders(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	check := func(t *testing.T, a answer) {
		t.Helper()
		for name, want := range map[string]string{
			"Cache-Control": `no-store`, "X-Content-Type-Options": `nosniff`, "Content-Type": `application/json`,
			"X-Request-Id": `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`,
		} {
			values := a.header.Values(name)
			if len(values) != 1 || !regexp.MustCompile("^"+want+"$").MatchString(values[0]) {
				t.Errorf("%s: %d with %s %q, want %s", a.what(), a.status, name, values, want)
			}
		}
	}
	for _, op := range operations() {
		t.Run("of "+op.name, func(t *testing.T) {
			t.Parallel()
			token, caller := op.allowed(t, s)
			check(t, s.send(t, op.valid(t, s, caller).as(token)).want(t, op.success))
			check(t, s.send(t, op.valid(t, s, caller)).want(t, 401))
			if op.hasBody() {
				check(t, s.send(t, op.valid(t, s, caller).as(token).with(op.bad)).want(t, 400))
				check(t, s.send(t, op.valid(t, s, caller).as(token).typed(none)).want(t, 415))
				check(t, s.send(t, op.valid(t, s, caller).as(token).with(strings.Repeat("x", 102_401))).want(t, 413))
			}
		})
	}
	t.Run("of an unknown path", func(t *testing.T) {
		t.Parallel()
		check(t, s.send(t, get("/")).want(t, 404))
		check(t, s.send(t, call{method: "PURGE", target: "/api", token: admin}).want(t, 404))
	})
	t.Run("X-Request-Id is new for each request", func(t *testing.T) {
		t.Parallel()
		first := s.send(t, get(typesPath).as(admin)).header.Get("X-Request-Id")
		if second := s.send(t, get(typesPath).as(admin)).header.Get("X-Request-Id"); first == second {
			t.Errorf("twice %q", first)
		}
	})
}
