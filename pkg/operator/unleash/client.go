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
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/operator/exitstatus"
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

	base *url.URL
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

const (
	maxBody = 200 << 20
	// limitWindow is the time after which a limit of Unleash allows requests again, unless the response says otherwise.
	limitWindow = time.Minute
	// longestWait is more than any limit of Unleash.
	longestWait = 10 * time.Minute
)

// get calls an operation and decodes its response. path has escaped segments. A request that exceeds a limit is
// repeated when Unleash allows it.
func (r *client) get(ctx context.Context, path string, query url.Values, into any) error {
	address := r.base.JoinPath(path)
	address.RawQuery = query.Encode()
	for {
		again, err := r.once(ctx, address, into)
		if err != nil || again == 0 {
			return err
		}
		r.Progress(fmt.Sprintf("waiting %d s for a limit of Unleash", int(again.Seconds())), 0, 0)
		if err := r.Wait(ctx, again); err != nil {
			return err
		}
	}
}

// once is one request. It returns after which time to repeat it, or 0.
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
		return 0, unreachable(address, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, unreachable(address, err)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		return retryAfter(response.Header), nil
	}
	if err := r.check(address, response, body); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return 0, fmt.Errorf("read the response of %s: %w", address, err)
	}
	return 0, nil
}

func unreachable(address *url.URL, err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	return exitstatus.Errorf(exitstatus.Unreachable, "Unleash cannot be reached: get %s: %v", address, err)
}

// check returns an error unless a response is 200 and JSON. A wrong path of Unleash is 200 and a page.
func (r *client) check(address *url.URL, response *http.Response, body []byte) error {
	isJSON := strings.HasPrefix(response.Header.Get("Content-Type"), "application/json")
	switch response.StatusCode {
	case http.StatusOK:
		if isJSON {
			return nil
		}
		return exitstatus.Errorf(exitstatus.Unreachable,
			"%s does not respond with JSON: --url must be the URL of an Unleash, without /api/admin", address)
	case http.StatusUnauthorized:
		return exitstatus.Errorf(exitstatus.Rejected, "Unleash rejects the token")
	case http.StatusForbidden:
		return exitstatus.Errorf(exitstatus.Rejected,
			"Unleash does not permit this with the token: use a personal access token or an admin API token: %s%s",
			address, message(body))
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return exitstatus.Errorf(exitstatus.Unreachable,
			"%s redirects to %s: use that as --url", address, response.Header.Get("Location"))
	}
	return exitstatus.Errorf(exitstatus.Failure, "%s responds with %s%s", address, response.Status, message(body))
}

// message returns the message of an error of Unleash.
func message(body []byte) string {
	var e struct{ Message string }
	if json.Unmarshal(body, &e) != nil || e.Message == "" {
		return ""
	}
	return ": " + e.Message
}

// retryAfter returns how long to wait after a status 429.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return limitWindow
	}
	return min(max(time.Duration(seconds)*time.Second, time.Second), longestWait)
}
