// Package apiclient calls the API of an installation with a token.
package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/loopback"
)

// Parallel is the number of requests that a client makes well at the same time.
const Parallel = 8

// timeout limits one request.
const timeout = time.Minute

// maxResponse is the maximum number of bytes of a response.
const maxResponse = 20 << 20

// Client calls the API of an installation. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// New returns a client of the API at a URL. The token must not be empty. A URL over which the token would be sent
// in plain text is an error.
func New(address, token string) (*Client, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "https" && (base.Scheme != "http" || !loopback.IsHost(base.Hostname())) {
		return nil, exitstatus.Errorf(exitstatus.Usage, "%q is not the URL of an installation: use one such as "+
			"https://toggles.example.com", address)
	}
	return &Client{base, token, &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: Parallel, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // keeps the token here
	}}, nil
}

// Error is the error of a response.
type Error struct {
	Status  int    `json:"-"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Details []struct {
		Path string `json:"path"`
	} `json:"details"`
}

func (e *Error) Error() string { return e.Message }

// Explain returns an error of Call with the exit status of a command. It returns others, and nil, unchanged.
func Explain(err error) error {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	status := exitstatus.Failure
	switch refused.Status {
	case http.StatusBadRequest:
		status = exitstatus.Usage
	case http.StatusUnauthorized, http.StatusForbidden:
		status = exitstatus.Denied
	case http.StatusNotFound:
		status = exitstatus.NotFound
	case http.StatusConflict:
		status = exitstatus.Rejected
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		status = exitstatus.Unreachable // it passes
	}
	return exitstatus.Errorf(status, "%s", refused.Message)
}

// Toggles calls visit with each whole toggle of a project, ordered by name, archived or not. nameOf returns its name. One
// request returns up to 5 MB of them. It stops with the first error of visit.
func Toggles[T any](
	ctx context.Context, c *Client, project string, archived bool, nameOf func(T) string, visit func(T) error,
) error {
	path := []string{"projects", project, "features"}
	query := url.Values{"full": {"true"}, "archived": {strconv.FormatBool(archived)}}
	for {
		var list struct {
			Features []T  `json:"features"`
			More     bool `json:"more"`
		}
		if _, err := c.Call(ctx, http.MethodGet, path, query, nil, nil, &list); err != nil {
			return err
		}
		for _, f := range list.Features {
			if err := visit(f); err != nil {
				return err
			}
			query.Set("after", nameOf(f))
		}
		if !list.More {
			return nil
		}
	}
}

// PageSize is the maximum number of results of a search in a response.
const PageSize = 100

// Search yields the results of a search, of which list is the name in the responses. It reads them in pages, of at most
// size results if that is less than 100, until there are no more.
func Search[T any](
	ctx context.Context, c *Client, list string, query url.Values, size int, path ...string,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query, size, offset := maps.Clone(query), min(size, PageSize), 0
		for more := true; more; {
			query.Set("offset", strconv.Itoa(offset))
			query.Set("limit", strconv.Itoa(size))
			var response map[string]json.RawMessage
			var page []T
			_, err := c.Call(ctx, http.MethodGet, path, query, nil, nil, &response)
			if err == nil {
				err = c.decode(response[list], &page)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
			}
			offset, more = offset+len(page), len(page) == size
		}
	}
}

// AnyOf returns the value of a filter that selects what has one of some values.
func AnyOf[T ~string](values ...T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return "IS_ANY_OF:" + strings.Join(texts, ",")
}

// Caller returns the account of the token. An API token has none: the API refuses that with the status 403.
func (c *Client) Caller(ctx context.Context) (user.Response, error) {
	var own struct {
		User user.Response `json:"user"`
	}
	err := c.Get(ctx, &own, "user")
	return own.User, err
}

// IDs returns ids in the form of a parameter that is a list.
func IDs(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}

// Each returns what read returns for each element of a list. It calls read for several elements at the same time.
func Each[T, U any](ctx context.Context, list []T, read func(context.Context, T) (U, error)) ([]U, error) {
	all := make([]U, len(list))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Parallel)
	for i, one := range list {
		group.Go(func() (err error) {
			all[i], err = read(ctx, one)
			return err
		})
	}
	return all, group.Wait()
}

// Call calls an operation. The segments of the path are escaped by it. body is nil if the operation has none; into is nil
// if the response is not read. It returns the headers of the response. Its error is an *Error if the API refuses the
// request.
func (c *Client) Call(
	ctx context.Context, method string, path []string, query url.Values, header map[string]string, body, into any,
) (http.Header, error) {
	segments := make([]string, len(path))
	for i, segment := range path {
		segments[i] = url.PathEscape(segment)
	}
	address := c.base.JoinPath("/api/admin/" + strings.Join(segments, "/"))
	address.RawQuery = query.Encode()
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode a request: %w", err)
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), content)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("Authorization", c.token)
	request.Header.Set("Prefer", "error-details")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Unreachable, "%s cannot be reached: %v", c.base.Host, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Unreachable, "the response of %s broke off: %v", c.base.Host, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		refused := Error{Status: response.StatusCode}
		if json.Unmarshal(text, &refused) != nil || refused.Message == "" {
			refused.Message = fmt.Sprintf("%s responds with %s to %s %s", c.base.Host, response.Status, method, address.Path)
		}
		return nil, &refused
	}
	if into == nil {
		return response.Header, nil
	}
	if err := c.decode(text, into); err != nil {
		return nil, err
	}
	return response.Header, nil
}

// decode reads the text of a response, or of a part of it.
func (c *Client) decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return exitstatus.Errorf(exitstatus.Failure, "%s does not respond as this service does: %v", c.base.Host, err)
	}
	return nil
}

// Get reads a resource.
func (c *Client) Get(ctx context.Context, into any, path ...string) error {
	_, err := c.Call(ctx, http.MethodGet, path, nil, nil, nil, into)
	return err
}
