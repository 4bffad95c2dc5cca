package contract_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// none as a content type sends no such header.
const none = "-"

// call is one request.
type call struct {
	method, target string // target: path and query as they go over the wire
	token          string // the value of Authorization; empty: no such header
	body           string
	contentType    string // empty: application/json for PUT and POST
	header         http.Header
}

func (c call) as(token string) call { c.token = token; return c }

func (c call) with(body string) call { c.body = body; return c }

func (c call) typed(contentType string) call { c.contentType = contentType; return c }

// answer is what came back.
type answer struct {
	call   call
	status int
	header http.Header
	body   string
}

// send makes the request, and holds the exchange against the API's document and what no answer may have.
func (s *service) send(t *testing.T, c call) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, s.BaseURL, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(c.target, "//") {
		request.URL.Path = c.target
	} else {
		request.URL.Opaque = c.target // goes out as it is, escapes and all
	}
	maps.Copy(request.Header, c.header)
	if c.token != "" {
		request.Header.Set("Authorization", c.token)
	}
	switch {
	case c.contentType != "" && c.contentType != none:
		request.Header.Set("Content-Type", c.contentType)
	case c.contentType == "" && (c.method == http.MethodPut || c.method == http.MethodPost):
		request.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{
		Transport:     s.validator.Transport(s.transport, "", func(err error) { t.Error(err) }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.target, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.target, err)
	}
	a := answer{call: c, status: response.StatusCode, header: response.Header, body: string(body)}
	s.guard(t, a)
	return a
}

// guard looks for what no error may show: stack traces, texts of AWS, table names, ARNs, credentials.
func (s *service) guard(t *testing.T, a answer) {
	t.Helper()
	if a.status < http.StatusBadRequest {
		return
	}
	forbidden := slices.Collect(maps.Values(s.DynamoDB.Tables))
	forbidden = append(forbidden, "arn:", "dynamodb", "DynamoDB", "AWS", "Exception", "goroutine", ".go:", "127.0.0.1:")
	for _, text := range forbidden {
		if strings.Contains(a.body, text) && !strings.Contains(a.call.target+a.call.body, text) {
			t.Errorf("%s: the error shows %q: %s", a.what(), text, a.body)
		}
	}
	if credentialShape().MatchString(a.body) {
		t.Errorf("%s: the error shows a credential: %s", a.what(), a.body)
	}
}

func credentialShape() *regexp.Regexp {
	return regexp.MustCompile(`v2_[A-Za-z0-9_-]{22}|eyJ[\w-]+\.[\w-]+`)
}

func (a answer) what() string {
	body := a.call.body
	if len(body) > 200 {
		body = body[:200] + "…"
	}
	target := a.call.target
	if len(target) > 200 {
		target = target[:200] + "…"
	}
	return a.call.method + " " + credentialShape().ReplaceAllString(target, "[credential]") + " " + credentialShape().ReplaceAllString(body, "[credential]")
}

// want demands a status.
func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%s: %d %s, want %d", a.what(), a.status, a.body, status)
	}
	return a
}

// decode reads a JSON body into v, with no member that v lacks.
func (a answer) decode(t *testing.T, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %s: %v", a.what(), a.body, err)
	}
}

// errorObject is the one shape of errors.
type errorObject struct{ ID, Name, Message string }

// errorNames is the table of the contract's section 1.
func errorNames() map[int]string {
	return map[int]string{
		400: "ValidationError", 401: "AuthenticationRequired", 403: "NoAccessError", 404: "NotFoundError", 409: "NameExistsError",
		413: "ContentTooLarge", 415: "ContentTypeerror", 429: "TooManyRequests", 500: "InternalError", 502: "InternalError",
		503: "ServiceUnavailable", 504: "GatewayTimeout",
	}
}

// wantError demands the error object of a status and gives it.
func (a answer) wantError(t *testing.T, status int) errorObject {
	t.Helper()
	a.want(t, status)
	var members map[string]any
	if err := json.Unmarshal([]byte(a.body), &members); err != nil {
		t.Fatalf("%s: %s: %v", a.what(), a.body, err)
	}
	text := func(name string) string {
		value, ok := members[name].(string)
		if !ok || value == "" {
			t.Errorf("%s: %s has no text %q", a.what(), a.body, name)
		}
		return value
	}
	e := errorObject{text("id"), text("name"), text("message")}
	if len(members) != 3 {
		t.Errorf("%s: %s has %d members, want 3", a.what(), a.body, len(members))
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(e.ID) {
		t.Errorf("%s: the id %q is no UUID", a.what(), e.ID)
	}
	if want := errorNames()[status]; e.Name != want {
		t.Errorf("%s: %d has the name %q, want %q", a.what(), status, e.Name, want)
	}
	if got := a.header.Values("Content-Type"); len(got) != 1 || got[0] != "application/json" {
		t.Errorf("%s: an error with Content-Type %q", a.what(), got)
	}
	return e
}

// wantMessage demands an error and its text.
func (a answer) wantMessage(t *testing.T, status int, message string) {
	t.Helper()
	if e := a.wantError(t, status); e.Message != message {
		t.Errorf("%s: %d %q, want %q", a.what(), status, e.Message, message)
	}
}

// escape encodes a text for a path, completely.
func escape(text string) string { return url.PathEscape(text) }
