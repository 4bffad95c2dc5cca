package contract_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// call is a request.
type call struct {
	method, target string // target: the escaped path, and the query
	token          string // value of Authorization; empty: no such header
	body           string
	contentType    string // empty: application/json for PUT and POST; "-": no such header
	host           string // empty: that of the service
}

func (c call) as(token string) call          { c.token = token; return c }
func (c call) with(body string) call         { c.body = body; return c }
func (c call) typed(contentType string) call { c.contentType = contentType; return c }
func (c call) at(target string) call         { c.target = target; return c }

func get(target string) call { return call{method: http.MethodGet, target: target} }

// response is a response with its body.
type response struct {
	call   call
	status int
	header http.Header
	body   string
}

// send makes a request. It compares the exchange with api/openapi.yaml, and errors with what no error may contain.
func (s *service) send(t *testing.T, c call) *response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, s.BaseURL, strings.NewReader(c.body))
	must(t, err)
	if strings.HasPrefix(c.target, "//") {
		request.URL.Path = c.target
	} else {
		request.URL.Opaque = c.target // is sent unchanged
	}
	request.Host = c.host
	if c.token != "" {
		request.Header.Set("Authorization", c.token)
	}
	if c.contentType == "" && (c.method == http.MethodPut || c.method == http.MethodPost) {
		c.contentType = "application/json"
	}
	if c.contentType != "" && c.contentType != "-" {
		request.Header.Set("Content-Type", c.contentType)
	}
	client := &http.Client{Transport: s.validator.Transport(s.transport, "", func(err error) { t.Error(err) })}
	got, err := client.Do(request)
	must(t, err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	must(t, err)
	r := &response{c, got.StatusCode, got.Header, string(body)}
	if r.status >= http.StatusBadRequest {
		s.checkSecrets(t, r)
	}
	return r
}

var credentialShape = regexp.MustCompile(`v2_[A-Za-z0-9_-]{22}|eyJ[\w-]+\.[\w-]+`)

// checkSecrets reports internals and credentials in an error.
func (s *service) checkSecrets(t *testing.T, r *response) {
	t.Helper()
	forbidden := slices.Collect(maps.Values(s.DynamoDB.Tables))
	for _, text := range append(forbidden, "arn:", "dynamodb", "DynamoDB", "AWS", "Exception", "goroutine", ".go:",
		"127.0.0.1:") {
		if strings.Contains(r.body, text) && !strings.Contains(r.call.target+r.call.body, text) {
			t.Errorf("%s contains %q: %s", r, text, r.body)
		}
	}
	if credentialShape.MatchString(r.body) {
		t.Errorf("%s contains a credential", r)
	}
}

// String describes the request.
func (r *response) String() string {
	text := r.call.method + " " + r.call.target + " " + r.call.body
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return credentialShape.ReplaceAllString(text, "[credential]")
}

// want requires a status.
func (r *response) want(t *testing.T, status int) *response {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s: %d %s, want %d", r, r.status, r.body, status)
	}
	return r
}

// decode decodes the body into v, which must have all its members.
func (r *response) decode(t *testing.T, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.body))
	d.DisallowUnknownFields()
	must(t, d.Decode(v))
}

// decodeSome decodes those members of the body that v has.
func (r *response) decodeSome(t *testing.T, v any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(r.body), v))
}

// errorObject is the body of all errors.
type errorObject struct{ ID, Name, Message string }

// error requires an error with a status.
func (r *response) error(t *testing.T, status int) (e errorObject) {
	t.Helper()
	r.want(t, status).decode(t, &e)
	return e
}

// message requires an error with a status and a message.
func (r *response) message(t *testing.T, status int, want string) {
	t.Helper()
	if got := r.error(t, status).Message; got != want {
		t.Errorf("%s: message %q, want %q", r, got, want)
	}
}

// names requires an error with a status and a message that contains all parts.
func (r *response) names(t *testing.T, status int, parts ...string) {
	t.Helper()
	message := r.error(t, status).Message
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("%s: the message %q does not contain %q", r, message, part)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
