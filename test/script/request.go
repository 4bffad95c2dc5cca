package script

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// request is a request that a script describes.
type request struct {
	method string
	target string // raw path and query, relative to the base URL
	header http.Header
	body   []byte
}

// parse reads /path [as WHO] [with 'Name: value']… [without NAME] [BODY].
func (s *session) parse(method string, args []string) (*request, error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "/") {
		return nil, errUsage
	}
	r := &request{method: method, target: args[0], header: http.Header{}}
	args = args[1:]
options:
	for ; len(args) >= 2; args = args[2:] {
		switch args[0] {
		case "as":
			if err := s.authorize(r, args[1]); err != nil {
				return nil, err
			}
		case "with":
			name, value, _ := strings.Cut(args[1], ":")
			for _, who := range credentials {
				value = strings.ReplaceAll(value, "{"+who+"}", s.environment.credential(who))
			}
			r.header.Add(name, strings.TrimSpace(value))
		case "without":
			r.header[http.CanonicalHeaderKey(args[1])] = nil // not set by default either
		default:
			break options
		}
	}
	if len(args) > 0 {
		var err error
		if r.body, err = s.parseBody(args); err != nil {
			return nil, err
		}
		if _, set := r.header["Content-Type"]; !set {
			r.header.Set("Content-Type", "application/json")
		}
	}
	return r, nil
}

func (s *session) authorize(r *request, who string) error {
	if who == "none" {
		return nil
	}
	credential := s.environment.credential(who)
	if strings.Contains(who, ":") {
		credential = who
	}
	if credential == "" {
		return fmt.Errorf("unknown credential %q", who)
	}
	r.header.Set("Authorization", credential)
	return nil
}

// parseBody reads file NAME, bytes HEX, padded SIZE TEXT or TEXT.
func (s *session) parseBody(args []string) ([]byte, error) {
	switch {
	case args[0] == "file" && len(args) == 2:
		return []byte(s.ts.ReadFile(args[1])), nil
	case args[0] == "bytes" && len(args) == 2:
		return hex.DecodeString(args[1])
	case args[0] == "padded" && len(args) > 2:
		size, err := strconv.Atoi(args[1])
		text := strings.Join(args[2:], " ")
		return []byte(text + strings.Repeat(" ", max(0, size-len(text)))), err
	}
	return []byte(strings.Join(args, " ")), nil
}

// request parses and sends a request.
func (s *session) request(method string, args []string) error {
	r, err := s.parse(method, args)
	if err != nil {
		return err
	}
	return s.send(r)
}

// send sends a request and keeps the response. An exchange that api/openapi.yaml does not declare is an error.
func (s *session) send(r *request) error {
	req, err := http.NewRequestWithContext(s.ctx, r.method, s.base.String(), bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	if r.body == nil {
		req.Body = http.NoBody
	}
	// Opaque is sent unchanged, with broken escapes and repeated slashes.
	path, query, _ := strings.Cut(r.target, "?")
	req.URL = &url.URL{Scheme: s.base.Scheme, Host: s.base.Host, Opaque: s.base.EscapedPath() + path, RawQuery: query}
	req.Header = r.header

	s.violations = nil
	answer, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("read the response: %w", err)
	}
	s.last = &response{request: r.method + " " + r.target, status: answer.StatusCode, header: answer.Header, body: body}
	s.noteToken()
	if len(s.violations) > 0 && !s.environment.tolerates(s.last) {
		return fmt.Errorf("api/openapi.yaml does not declare this: %w", errors.Join(s.violations...))
	}
	return nil
}

// noteToken remembers a token that the last request created.
func (s *session) noteToken() {
	var created token
	if s.last.status == http.StatusCreated && json.Unmarshal(s.last.body, &created) == nil && created.Secret != "" {
		s.tokens = append(s.tokens, created)
	}
}
