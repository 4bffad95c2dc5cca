package script

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// request is what a line of a script asks for.
type request struct {
	method string
	target string // raw path and query, below the base address
	header http.Header
	body   []byte // nil: none
}

func requestCommand(method string) command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		refuseNegation(ts, neg)
		s := of(ts)
		req, err := s.parse(method, args, func(file string) []byte { return []byte(ts.ReadFile(file)) })
		ts.Check(err)
		ts.Check(s.send(req))
		ts.Logf("< %s", s.last)
	}
}

// parse reads a request's arguments: /path [as WHO] [with 'Name: value']… [without NAME] [file NAME | bytes HEX | padded N TEXT | TEXT].
func (s *session) parse(method string, args []string, readFile func(string) []byte) (*request, error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "/") {
		return nil, fmt.Errorf("usage: %s /path [as WHO] [with 'Name: value'] [without NAME] [BODY]", method)
	}
	req := &request{method: method, target: args[0], header: http.Header{}}
	var without []string
	args = args[1:]
options:
	for ; len(args) >= 2; args = args[2:] {
		switch args[0] {
		case "as":
			if err := s.authorize(req, args[1]); err != nil {
				return nil, err
			}
		case "with":
			name, value, ok := strings.Cut(args[1], ":")
			if !ok {
				return nil, fmt.Errorf("a header is written 'Name: value', not %q", args[1])
			}
			req.header.Add(name, s.ground.Credentials.fill(strings.TrimSpace(value)))
		case "without":
			without = append(without, args[1])
		default:
			break options
		}
	}
	if err := req.readBody(args, readFile); err != nil {
		return nil, err
	}
	for _, name := range without {
		req.header.Del(name)
	}
	return req, nil
}

func (s *session) authorize(req *request, who string) error {
	if who == "none" {
		return nil
	}
	token, ok := s.ground.Credentials.token(who)
	if !ok {
		return fmt.Errorf("unknown credential %q", who)
	}
	req.header.Set("Authorization", token)
	return nil
}

func (r *request) readBody(args []string, readFile func(string) []byte) error {
	if len(args) == 0 {
		return nil
	}
	switch keyword := args[0]; {
	case keyword == "file" && len(args) == 2:
		r.body = readFile(args[1])
	case keyword == "bytes" && len(args) == 2:
		body, err := hex.DecodeString(args[1])
		if err != nil {
			return fmt.Errorf("read the body's hexadecimal digits: %w", err)
		}
		r.body = body
	case keyword == "padded" && len(args) > 2:
		size, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("read the size of the body: %w", err)
		}
		text := strings.Join(args[2:], " ")
		r.body = []byte(text + strings.Repeat(" ", max(0, size-len(text))))
	default:
		r.body = []byte(strings.Join(args, " "))
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", "application/json")
	}
	return nil
}

// send makes the request and keeps the answer as the last one. It fails where the API's document does not foresee the exchange.
func (s *session) send(r *request) error {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	path, query, _ := strings.Cut(r.target, "?")
	req, err := http.NewRequestWithContext(s.ctx, r.method, s.base.String(), body)
	if err != nil {
		return err
	}
	// Opaque goes over the wire as it stands: broken escapes and doubled slashes, too.
	req.URL = &url.URL{Scheme: s.base.Scheme, Host: s.base.Host, Opaque: s.base.EscapedPath() + path, RawQuery: query}
	req.Header = r.header.Clone()

	s.violations = nil
	response, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	s.last = &answer{request: r.method + " " + r.target, status: response.StatusCode, header: response.Header, body: received}
	s.noteToken(r)
	if len(s.violations) > 0 && !s.ground.forgives(s.last) {
		return fmt.Errorf("api/openapi.yaml does not foresee this: %w\n%s", errors.Join(s.violations...), s.last)
	}
	return nil
}

// noteToken remembers a token that the request made.
func (s *session) noteToken(r *request) {
	made := regexp.MustCompile(`^/api/admin/service-account/(\d+)/token/?$`).FindStringSubmatch(r.target)
	if made == nil || r.method != http.MethodPost || s.last.status != http.StatusCreated {
		return
	}
	value, err := s.last.json()
	if err != nil {
		return
	}
	id, _ := lookup(value, "id")
	secret, _ := lookup(value, "secret")
	s.tokens = append(s.tokens, token{account: made[1], id: show(id), secret: show(secret)})
}

func refuseNegation(ts *testscript.TestScript, neg bool) {
	if neg {
		ts.Fatalf("this command cannot be negated")
	}
}
