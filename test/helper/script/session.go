package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/helper/openapi"
)

type sessionKey struct{}

// session is the state of one script. One goroutine uses it.
type session struct {
	ctx         context.Context //nolint:containedctx // commands get no context; this is the test's
	ts          *testscript.TestScript
	environment Environment
	base        *url.URL
	client      *http.Client
	// Of requests to the URL for applications, which api/openapi.yaml does not describe.
	applications *url.URL // without a host if there is none
	application  *http.Client
	violations   []error // deviations of the current exchange from api/openapi.yaml
	last         *response
	tokens       []token           // created by the script
	lifetimes    map[string]string // to restore: lifetimeDays as JSON by type
}

// token is a personal access token that the script created.
type token struct {
	ID     json.Number `json:"id"`
	Secret string      `json:"secret"`
}

func newSession(
	ctx context.Context, e Environment, base, applications *url.URL, validator *openapi.Validator,
) *session {
	s := &session{
		ctx: ctx, environment: e, base: base, applications: applications, application: &http.Client{Timeout: time.Minute},
		last: &response{}, lifetimes: map[string]string{},
	}
	s.client = &http.Client{
		Timeout: time.Minute, // the first start of a function in sam local takes seconds
		Transport: validator.Transport(http.DefaultTransport, base.EscapedPath(),
			func(err error) { s.violations = append(s.violations, err) }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// cleanUp deletes the tokens that the script created and restores lifetimes.
func (s *session) cleanUp() error {
	var errs []error
	for _, t := range s.tokens {
		err := s.request(http.MethodDelete, []string{"/api/admin/user/tokens/" + t.ID.String(), "as", t.Secret})
		// A token that is deleted already, or has expired, is no valid credential.
		if err == nil && s.last.status != http.StatusOK && s.environment.unauthenticated(s.last) != nil {
			err = fmt.Errorf("delete token %s: %s", t.ID, s.last)
		}
		errs = append(errs, err)
	}
	for id, days := range s.lifetimes {
		err := s.request(http.MethodPut, []string{"/api/admin/feature-types/" + id + "/lifetime", "as", "admin",
			`{"lifetimeDays":` + days + `}`})
		if err == nil && s.last.status != http.StatusOK {
			err = fmt.Errorf("restore the lifetime of %s: %s", id, s.last)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *session) keepLifetime(types []string) error {
	if err := s.request(http.MethodGet, []string{"/api/admin/feature-types", "as", "admin"}); err != nil {
		return err
	}
	body, err := s.last.json()
	if err != nil {
		return err
	}
	for _, id := range types {
		days, exists := lookup(body, "types[id="+id+"].lifetimeDays")
		if !exists {
			return fmt.Errorf("feature type %s does not exist", id)
		}
		s.lifetimes[id] = show(days)
	}
	return nil
}

// until repeats a request: STATUS within TIMEOUT METHOD /path … {n} is the number of the repetition.
func (s *session) until(args []string) error {
	if len(args) < 5 || args[1] != "within" || !slices.Contains(methods, args[3]) {
		return errUsage
	}
	timeout, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	deadline := time.Now().Add(timeout)
	for n := 0; ; n++ {
		request := slices.Clone(args[4:])
		for i := range request {
			request[i] = strings.ReplaceAll(request[i], "{n}", strconv.Itoa(n))
		}
		if err := s.request(args[3], request); err != nil {
			return err
		}
		err := s.status(args[:1])
		if args[0] == "401" {
			err = s.environment.unauthenticated(s.last)
		}
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not %s within %s: %w", args[0], timeout, err)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-s.ctx.Done():
		}
	}
}

func (s *session) clock(args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	offset, err := time.ParseDuration(args[1])
	s.ts.Setenv(args[0], time.Now().Add(offset).UTC().Format(time.RFC3339Nano))
	return err
}
