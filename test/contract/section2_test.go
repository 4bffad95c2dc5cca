package contract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

func TestSection2Bearer(t *testing.T) {
	t.Parallel()
	s := shared
	for _, token := range []string{s.viewer(t), s.APIToken} {
		for _, scheme := range []string{"", "Bearer ", "bearer ", "BEARER "} {
			s.send(t, get(typesPath).as(scheme+token)).want(t, 200)
		}
	}
}

func TestSection2ContentType(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, op := range operations(t) {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			c := op.call.as(admin)
			want := s.repeatable(t, c)
			for _, contentType := range []string{"Application/JSON", "application/json; charset=utf-8", "-", "text/plain"} {
				for _, body := range []string{"", c.body} {
					r := s.send(t, c.typed(contentType).with(body))
					switch {
					case op.hasBody && !strings.EqualFold(contentType[:min(16, len(contentType))], "application/json"):
						r.message(t, 415, "The Content-Type must be application/json.")
					case op.hasBody && body == "":
						r.names(t, 400, "`/body`")
					default:
						want(t, r)
					}
				}
			}
			if !op.hasBody {
				want(t, s.send(t, c.typed("text/plain").with("{"+strings.Repeat(" ", 102_400))))
			}
		})
	}
}

// repeatable makes a request and returns a function that requires the same result of another one. A creation is a conflict from then on.
func (s *service) repeatable(t *testing.T, c call) func(*testing.T, *response) {
	t.Helper()
	s.send(t, c)
	result := func(r *response) (status int, message string) {
		if r.status >= 400 {
			message = r.error(t, r.status).Message
		}
		return r.status, message
	}
	wantStatus, wantMessage := result(s.send(t, c))
	return func(t *testing.T, r *response) {
		t.Helper()
		if status, message := result(r); status != wantStatus || message != wantMessage {
			t.Errorf("%s: %d %s, want %d %s", r, status, message, wantStatus, wantMessage)
		}
	}
}

func TestSection2Bodies(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, tt := range []struct {
		name, body, pointer string // no pointer: 200
	}{
		{"string for an integer", `{"userId":"7"}`, "/body/userId"},
		{"1 for a boolean", `{"neverShow":1}`, "/body/neverShow"},
		{"unknown member", `{"feedbackId":7,"x":null}`, ""},
		{"empty", "", "/body"},
		{"null", "null", "/body"},
		{"array", "[]", "/body"},
		{"scalar", "7", "/body"},
		{"lone surrogate", `{"x":"\ud800"}`, "/body"},
		{"duplicate member", `{"x":1,"x":1}`, "/body/x"},
		{"trailing data", `{}{}`, "/body"},
		{"101 levels", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}", "/body"},
		{"100 levels", `{"x":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + "}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := s.send(t, putFeedback("bodies", tt.body).as(admin))
			if tt.pointer == "" {
				r.want(t, 200)
			} else {
				r.names(t, 400, "`"+tt.pointer+"`")
			}
		})
	}
	for _, tt := range []struct{ sent, want string }{{"1.0", "1"}, {"1e2", "100"}} {
		s.send(t, putLifetime(s.featureType(t), tt.sent).as(admin)).body200(t, `"lifetimeDays":`+tt.want+`}`)
	}
	t.Run("invalid UTF-8", func(t *testing.T) {
		t.Parallel()
		account := text(s.account(t, user.ServiceAccount, auth.RoleViewer))
		if got := s.create(t, admin, account, newToken("\"a\xffb\"")).Description; got != "a\ufffdb" {
			t.Errorf("description %q", got)
		}
	})
}

// body200 requires a success whose body contains a text.
func (r *response) body200(t *testing.T, part string) {
	t.Helper()
	if r.want(t, 200); !strings.Contains(r.body, part) {
		t.Errorf("%s: %s does not contain %s", r, r.body, part)
	}
}

func TestSection2DateTimes(t *testing.T) {
	t.Parallel()
	s := shared
	viewer := s.viewer(t)
	for _, tt := range []struct{ name, sent, want string }{
		{"lower case", "2026-11-20t05:39:00z", "2026-11-20T05:39:00.000Z"},
		{"offset and fine fraction", "2026-11-20T06:39:00.1239+01:00", "2026-11-20T05:39:00.123Z"},
		{"no offset", "2026-11-20T05:39:00", ""},
		{"date", "2026-11-20", ""},
		{"30 February", "2026-02-30T00:00:00Z", ""},
		{"24:00", "2026-11-20T24:00:00Z", ""},
		{"second 60", "2026-12-31T23:59:60Z", ""},
		{"comma", "2026-11-20T05:39:00,5Z", ""},
		{"one-digit hour", "2026-11-20T5:39:00Z", ""},
		{"year 10000 in UTC", "9999-12-31T23:59:59-00:01", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := s.send(t, putFeedback("dates", `{"given":"`+tt.sent+`"}`).as(viewer))
			if tt.want != "" {
				r.body200(t, `"given":"`+tt.want+`"`)
			} else {
				r.names(t, 400, "`/body/given`")
			}
		})
	}
}

func TestSection2PathParameters(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, tt := range []struct{ name, sent, want string }{
		{"encoded", "a%2Fb%20%C3%A9", "a/b é"}, {"encoded twice, decoded once", "%2541", "%41"}, {"plus", "a+b", "a+b"},
		{"255 characters", strings.Repeat("x", 255), strings.Repeat("x", 255)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var record feedbackRecord
			s.send(t, putFeedback(tt.sent, `{}`).as(admin)).want(t, 200).decode(t, &record)
			if diff := cmp.Diff(tt.want, record.FeedbackID); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, sent := range map[string]string{"invalid UTF-8": "%FF", "256 characters": strings.Repeat("x", 256)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.send(t, putFeedback(sent, `{}`).as(admin)).names(t, 400, "`/params/id`")
			s.send(t, get(trafficPath+sent).as(admin)).names(t, 400, "`/params/period`")
			for _, c := range []call{putLifetime(sent, "1"), postToken(sent, anyToken()), deleteToken(sent), get(contextPath + "/" + sent)} {
				s.send(t, c.as(admin)).error(t, 404)
			}
		})
	}
}

func TestSection2QueryAndSlashes(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, op := range operations(t) {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			c := op.call.as(admin)
			want := s.repeatable(t, c)
			for _, suffix := range []string{"?id=none&period=x", "?%zz", "/", "/?x=y"} {
				want(t, s.send(t, c.at(c.target+suffix)))
			}
			for _, doubled := range []string{"/" + c.target, c.target + "//", strings.Replace(c.target, "/admin", "//admin", 1)} {
				s.send(t, c.at(doubled)).message(t, 404, textNoPath)
			}
		})
	}
}
