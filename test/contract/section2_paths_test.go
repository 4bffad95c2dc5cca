package contract_test

import (
	"strings"
	"testing"
)

// TestSection2_PathParameters: "Path parameters are percent-decoded exactly once. A value with a broken escape, not valid UTF-8 after
// decoding, or longer than 255 characters is 400 naming /params/… in 4.1 and 4.6, and 404 in 4.3, 4.5 and 4.7." (A broken escape over this
// wire is the platform's own 400: TestSection1_RefusedByThePlatform.)
func TestSection2_PathParameters(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, tt := range []struct{ name, sent, want string }{
		{"plain text", "survey", "survey"},
		{"a slash", "a%2Fb", "a/b"},
		{"a slash, escaped in lower case", "a%2fb", "a/b"},
		{"an escaped percent sign, decoded once", "%2541", "%41"},
		{"an escaped escape of a slash", "a%252Fb", "a%2Fb"},
		{"a space", "a%20b", "a b"},
		{"a plus sign stays one", "a+b", "a+b"},
		{"a question mark", "a%3Fb=c", "a?b=c"},
		{"a hash", "a%23b", "a#b"},
		{"a semicolon", "a;b=c", "a;b=c"},
		{"dots", "%2E%2E", ".."},
		{"dots as they are", "..", ".."},
		{"the byte 0", "%00", "\x00"},
		{"letters that need no escape", "%41%7a", "Az"},
		{"UTF-8", "%C3%A9%F0%9F%98%80", "é😀"},
		{"U+FFFD itself", "%EF%BF%BD", "\ufffd"},
		{"white space alone", "%20", " "},
		{"255 characters", strings.Repeat("x", 255), strings.Repeat("x", 255)},
		{"255 characters, not bytes", strings.Repeat("%C3%A9", 200) + strings.Repeat("x", 55), strings.Repeat("é", 200) + strings.Repeat("x", 55)},
		{"a number", "4711", "4711"},
		{"braces", "%7Bid%7D", "{id}"},
	} {
		t.Run("200 in 4.1 for "+tt.name, func(t *testing.T) {
			t.Parallel()
			var record feedbackRecord
			s.send(t, putFeedback(tt.sent, `{}`).as(admin)).want(t, 200).decode(t, &record)
			if record.FeedbackID != tt.want {
				t.Errorf("feedbackId %q, want %q", record.FeedbackID, tt.want)
			}
		})
	}
	for name, sent := range map[string]string{
		"no UTF-8": "%FF", "half a character": "a%C3", "an overlong slash": "%C0%AF", "a surrogate": "%ED%A0%80", "256 characters": strings.Repeat("x", 256),
		"256 characters in escapes": strings.Repeat("%78", 256),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m := s.send(t, putFeedback(sent, `{}`).as(admin)).wantError(t, 400).Message; !strings.Contains(m, "`/params/id`") {
				t.Errorf("4.1: %s", m)
			}
			if m := s.send(t, get(trafficPath(sent)).as(admin)).wantError(t, 400).Message; !strings.Contains(m, "`/params/period`") {
				t.Errorf("4.6: %s", m)
			}
			s.send(t, putLifetime(sent, `{"lifetimeDays":1}`).as(admin)).wantError(t, 404)
			s.send(t, call{method: "POST", target: tokenPath(sent), body: newToken(), token: admin}).wantError(t, 404)
			s.send(t, deleteToken(sent).as(admin)).wantError(t, 404)
		})
	}
	t.Run("decoded once in 4.3", func(t *testing.T) {
		t.Parallel()
		id := s.featureType(t, nil)
		s.send(t, putLifetime(everyByte(id), `{"lifetimeDays":1}`).as(admin)).want(t, 200)
		s.send(t, putLifetime(escape(everyByte(id)), `{"lifetimeDays":1}`).as(admin)).want(t, 404)
	})
	t.Run("decoded once in 4.5", func(t *testing.T) {
		t.Parallel()
		id := text(s.serviceAccount(t))
		c := call{method: "POST", body: newToken(), token: admin, target: tokenPath(everyByte(id))}
		s.send(t, c).want(t, 201)
		c.target = tokenPath(escape(everyByte(id)))
		s.send(t, c).want(t, 404)
	})
	t.Run("decoded once in 4.6", func(t *testing.T) {
		t.Parallel()
		s.send(t, get(trafficPath(everyByte("2026-11"))).as(admin)).want(t, 200)
		s.send(t, get(trafficPath(escape(everyByte("2026-11")))).as(admin)).want(t, 400)
	})
	t.Run("decoded once in 4.7", func(t *testing.T) {
		t.Parallel()
		op := operations()[6]
		token, caller := op.allowed(t, s)
		id := strings.TrimPrefix(op.valid(t, s, caller).target, ownTokenPath(""))
		s.send(t, deleteToken(escape(everyByte(id))).as(token)).want(t, 404)
		s.send(t, deleteToken(everyByte(id)).as(token)).want(t, 200)
	})
}

// TestSection2_QueryAndSlashes: "Query parameters are ignored. A trailing slash is ignored, as API Gateway does; a doubled slash is an
// unknown path."
func TestSection2_QueryAndSlashes(t *testing.T) {
	t.Parallel()
	s := shared
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			token, caller := op.allowed(t, s)
			valid := func() call { return op.valid(t, s, caller).as(token) }
			for _, query := range []string{"?", "?x=y", "?id=none&period=x", "?x=1&x=2", "?;", "?%zz", "?a=%ff", "?userId=1&lifetimeDays=5"} {
				c := valid()
				c.target += query
				s.send(t, c).want(t, op.success)
			}
			c := valid()
			c.target += "/"
			s.send(t, c).want(t, op.success)
			c = valid()
			c.target += "/?x=y"
			s.send(t, c).want(t, op.success)
			right := valid()
			for _, doubled := range []string{
				"/" + right.target, right.target + "//", strings.Replace(right.target, "/api/", "/api//", 1), strings.Replace(right.target, "/admin/", "/admin//", 1),
			} {
				c := right
				c.target = doubled
				s.send(t, c).wantMessage(t, 404, textNoPath)
			}
			s.send(t, right).want(t, op.success) // which nothing above has done
		})
	}
}
