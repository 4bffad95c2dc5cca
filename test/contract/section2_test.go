package contract_test

import (
	"strings"
	"testing"
)

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

// repeatable makes a request and returns a function that requires the same result of another one. A creation is a
// conflict from then on.
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

// body200 requires a success whose body contains a text.
func (r *response) body200(t *testing.T, part string) {
	t.Helper()
	if r.want(t, 200); !strings.Contains(r.body, part) {
		t.Errorf("%s: %s does not contain %s", r, r.body, part)
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
			for _, suffix := range []string{"?none=1&period=x", "?%zz", "/", "/?x=y"} {
				want(t, s.send(t, c.at(c.target+suffix)))
			}
			for _, doubled := range []string{"/" + c.target, c.target + "//", strings.Replace(c.target, "/admin", "//admin",
				1)} {
				s.send(t, c.at(doubled)).message(t, 404, textNoPath)
			}
		})
	}
}
