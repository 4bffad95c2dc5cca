// Package unleash reads feature types, context fields and toggles from a running Unleash, or from a file that it
// exported. It calls only operations that change nothing.
package unleash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/loopback"
)

// Config is how to call an Unleash.
type Config struct {
	URL      string // of the server, without /api/admin
	Token    string // a personal access token or an admin API token
	HTTP     *http.Client
	Wait     func(context.Context, time.Duration) error
	Progress func(what string, done, total int) // is called often and concurrently
}

// client is safe for concurrent use.
type client struct {
	Config

	base      *url.URL
	responded atomic.Bool // at least once

	readsLinks bool // of toggles: each toggle is read alone
}

// CheckURL returns an error unless a text can be the URL of an Unleash.
func CheckURL(text string) error {
	_, err := parseURL(text)
	return err
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, exitstatus.Errorf(exitstatus.Usage,
			"%q is not the URL of an Unleash: use one such as https://unleash.example.com", text)
	}
	return u, nil
}

// IsPlain reports whether the token would be sent in plain text over a network.
func IsPlain(text string) bool {
	u, err := parseURL(text)
	return err == nil && u.Scheme == "http" && !loopback.IsHost(u.Hostname())
}

const (
	// maxBody is the maximum number of bytes of a response, after decompression.
	maxBody = 20 << 20
	// limitWindow is the time after which a limit of Unleash allows requests again, unless the response says otherwise.
	limitWindow = time.Minute
	// longestWait is more than any limit of Unleash.
	longestWait = 10 * time.Minute
	// maxFaults is how often a call is repeated after errors that can pass.
	maxFaults = 5
)

// get calls an operation and decodes its response. path has escaped segments. A request that exceeds a limit is
// repeated when Unleash allows it, and one that fails for a passing reason after 1, 2, 4, 8 and 16 seconds.
func (r *client) get(ctx context.Context, path string, query url.Values, into any) error {
	address := r.base.JoinPath(path)
	address.RawQuery = query.Encode()
	for faults := 0; ; {
		again, err := r.once(ctx, address, into)
		reason := "for a limit"
		if fault, ok := errors.AsType[*requestError](err); ok && fault.passing && faults < maxFaults {
			again, reason = max(again, time.Second<<faults), "after an error"
			faults++
		} else if err != nil || again == 0 {
			return err
		}
		r.Progress(fmt.Sprintf("waiting %d s %s of Unleash", int(again.Seconds()), reason), 0, 0)
		if err := r.Wait(ctx, again); err != nil {
			return err
		}
	}
}

// requestError is an error of one request.
type requestError struct {
	error

	status  int  // of the response; 0: there is none
	passing bool // the request can succeed if it is repeated
}

// Unwrap returns the error, which has an exit status.
func (e *requestError) Unwrap() error { return e.error }

// once is one request. It returns the time after which Unleash asks for a repetition, or 0.
func (r *client) once(ctx context.Context, address *url.URL, into any) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", r.Token)
	request.Header.Set("Accept", "application/json")
	response, err := r.HTTP.Do(request)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, r.unreachable(address, err)
	}
	r.responded.Store(true)
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, r.unreachable(address, err)
	}
	if len(body) > maxBody {
		return 0, fmt.Errorf("the response of %s has more than %d MB", address, maxBody>>20)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		return retryAfter(response.Header, limitWindow), nil
	}
	if err := r.check(address, response, body); err != nil {
		return retryAfter(response.Header, 0), err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return 0, fmt.Errorf("read the response of %s: %w", address, err)
	}
	return 0, nil
}

// unreachable returns the error of a request without a complete response. It can pass if Unleash has responded before:
// otherwise the URL can be wrong.
func (r *client) unreachable(address *url.URL, err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	err = exitstatus.Errorf(exitstatus.Unreachable, "Unleash cannot be reached: get %s: %v", address, err)
	return &requestError{err, 0, r.responded.Load()}
}

// check returns an error unless a response is 200 and JSON. A wrong path of Unleash is 200 and a page.
func (r *client) check(address *url.URL, response *http.Response, body []byte) error {
	isJSON := strings.HasPrefix(response.Header.Get("Content-Type"), "application/json")
	switch response.StatusCode {
	case http.StatusOK:
		if isJSON {
			return nil
		}
		return &requestError{exitstatus.Errorf(exitstatus.Unreachable,
			"%s does not respond with JSON: --url must be the URL of an Unleash, without /api/admin", address),
			http.StatusOK, false}
	case http.StatusUnauthorized:
		return exitstatus.Errorf(exitstatus.Rejected, "Unleash rejects the token")
	case http.StatusForbidden:
		return &requestError{exitstatus.Errorf(exitstatus.Rejected,
			"Unleash does not permit this with the token: use a personal access token or an admin API token: %s%s",
			address, message(body)), http.StatusForbidden, false}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return exitstatus.Errorf(exitstatus.Unreachable,
			"%s redirects to %s: use that as --url", address, response.Header.Get("Location"))
	}
	return &requestError{
		exitstatus.Errorf(exitstatus.Failure, "%s responds with %s%s", address, response.Status, message(body)),
		response.StatusCode, slices.Contains(passing, response.StatusCode),
	}
}

// passing are the statuses of errors that can pass, such as those of a proxy while Unleash restarts.
var passing = []int{
	http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// hasStatus reports whether the error is that of a response with one of the statuses.
func hasStatus(err error, statuses ...int) bool {
	e, ok := errors.AsType[*requestError](err)
	return ok && slices.Contains(statuses, e.status)
}

// message returns the message of an error of Unleash.
func message(body []byte) string {
	var e struct{ Message string }
	if json.Unmarshal(body, &e) != nil || e.Message == "" {
		return ""
	}
	return ": " + e.Message
}

// retryAfter returns how long to wait before a request is repeated: what the response asks for, or otherwise the
// standard time.
func retryAfter(h http.Header, standard time.Duration) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return standard
	}
	return min(max(time.Duration(seconds)*time.Second, time.Second), longestWait)
}
