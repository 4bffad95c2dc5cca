// Package functionurl emulates the URL of a Lambda function: it sends requests to the function as events of the payload
// format 2.0, and returns the function's responses (AWS Lambda Developer Guide, "Invoking Lambda function URLs").
//
//	behavior                                   | source
//	the event, with lower-case header names    | Developer Guide
//	several values of a header become one      | Developer Guide
//	a body that is no text is sent in base64   | Developer Guide
//	at most 6 MB of request and response       | Developer Guide, "Lambda quotas"
//	a function that fails: 502                 | Developer Guide
//	X-Forwarded-For gets the caller's address  | choice
//	other hosts than those of this machine: 403 | choice
package functionurl

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/local/invoke"
)

// maxPayload is the maximum size of the event and of the response of a function, in bytes.
const maxPayload = 6 * 1024 * 1024

// Config is the configuration of a function URL.
type Config struct {
	Function   *invoke.Function
	AcceptHost func(host string) bool // reports whether requests with a Host header, which can have a port, are served
	Now        func() time.Time
	NewID      func() string // returns a UUID
	Logger     *slog.Logger
}

// New returns the http.Handler of a function URL. It is safe for concurrent use.
func New(c Config) http.Handler { return handler{c} }

type handler struct{ Config }

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.AcceptHost(r.Host) {
		http.Error(w, `{"Message":"Forbidden"}`, http.StatusForbidden)
		return
	}
	id := h.NewID()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPayload+1))
	if err != nil {
		http.Error(w, `{"Message":"Bad Request"}`, http.StatusBadRequest)
		return
	}
	payload, err := json.Marshal(h.event(r, id, body), jsontext.AllowInvalidUTF8(true), json.FormatNilMapAsNull(true))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if len(payload) > maxPayload {
		http.Error(w, `{"Message":"Request Too Large"}`, http.StatusRequestEntityTooLarge)
		return
	}
	output, err := h.Function.Invoke(r.Context(), id, payload)
	if err == nil && len(output) > maxPayload {
		err = fmt.Errorf("the function's response of %d bytes is larger than 6 MB", len(output))
	}
	var response events.LambdaFunctionURLResponse
	if err == nil {
		err = json.Unmarshal(output, &response)
	}
	var content []byte
	if err == nil {
		content, err = contentOf(response)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	for name, value := range response.Headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("x-amzn-RequestId", id)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(content) // fails if the client has gone or the status has no body
}

// contentOf returns the bytes of the body of a response.
func contentOf(response events.LambdaFunctionURLResponse) ([]byte, error) {
	if response.IsBase64Encoded {
		return base64.StdEncoding.DecodeString(response.Body)
	}
	return []byte(response.Body), nil
}

// event returns the event of a request.
func (h handler) event(r *http.Request, id string, body []byte) *events.LambdaFunctionURLRequest {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	headers := map[string]string{"host": r.Host, "x-forwarded-proto": "http"}
	var cookies []string
	for name, values := range r.Header {
		if name == "Cookie" {
			cookies = values
			continue
		}
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	if sent := headers["x-forwarded-for"]; sent != "" {
		headers["x-forwarded-for"] = sent + ", " + address
	} else {
		headers["x-forwarded-for"] = address
	}
	now := h.Now().UTC()
	event := &events.LambdaFunctionURLRequest{
		Version:        "2.0",
		RawPath:        path,
		RawQueryString: query,
		Cookies:        cookies,
		Headers:        headers,
		RequestContext: events.LambdaFunctionURLRequestContext{
			RequestID:  id,
			DomainName: r.Host,
			Time:       now.Format("02/Jan/2006:15:04:05 -0700"),
			TimeEpoch:  now.UnixMilli(),
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
				Method:    r.Method,
				Path:      path,
				Protocol:  r.Proto,
				SourceIP:  address,
				UserAgent: r.UserAgent(),
			},
		},
		Body: string(body),
	}
	if !utf8.Valid(body) {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return event
}

// fail responds as Lambda does if a function fails.
func (h handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	h.Logger.ErrorContext(r.Context(), "function failed", slog.String("function", h.Function.Name), slog.Any("cause", err))
	http.Error(w, "Internal Server Error", http.StatusBadGateway)
}
