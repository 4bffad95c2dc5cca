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
	"time"
)

// parse reads /path [at client] [as WHO] [with 'Name: value']… [without NAME] [BODY].
func (s *session) parse(method string, args []string) (*http.Request, error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "/") {
		return nil, errUsage
	}
	header, body, base := http.Header{}, []byte(nil), s.base
	path, query, _ := strings.Cut(args[0], "?")
	args = args[1:]
options:
	for ; len(args) >= 2; args = args[2:] {
		switch args[0] {
		case "at":
			if args[1] != "client" || s.applications.Host == "" {
				return nil, errUsage
			}
			base = s.applications
		case "as":
			if err := s.authorize(header, args[1]); err != nil {
				return nil, err
			}
		case "with":
			name, value, _ := strings.Cut(args[1], ":")
			for _, who := range credentials {
				value = strings.ReplaceAll(value, "{"+who+"}", s.environment.credential(who))
			}
			header.Add(name, strings.TrimSpace(value))
		case "without":
			header[http.CanonicalHeaderKey(args[1])] = nil // not set by default either
		default:
			break options
		}
	}
	if len(args) > 0 {
		var err error
		if body, err = s.parseBody(args); err != nil {
			return nil, err
		}
		if _, set := header["Content-Type"]; !set {
			header.Set("Content-Type", "application/json")
		}
	}
	r, err := http.NewRequestWithContext(s.ctx, method, base.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// Opaque is sent unchanged, with broken escapes and repeated slashes.
	r.URL = &url.URL{Scheme: base.Scheme, Host: base.Host, Opaque: base.EscapedPath() + path, RawQuery: query}
	r.Header = header
	return r, nil
}

func (s *session) authorize(header http.Header, who string) error {
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
	header.Set("Authorization", credential)
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

// request parses and sends a request, and keeps the response. An exchange that api/openapi.yaml does not declare is an
// error. The emulator runs beside other suites: a function that has waited too long for its data answers 503 there, and
// a read is sent again, as any client does.
func (s *session) request(method string, args []string) error {
	err := s.send(method, args)
	for repeats := 0; err == nil && repeats < 5 && s.environment.Name == Ministack && method == http.MethodGet &&
		s.last.status == http.StatusServiceUnavailable; repeats++ {
		select {
		case <-time.After(time.Second): // the Retry-After
		case <-s.ctx.Done():
		}
		err = s.send(method, args)
	}
	return err
}

func (s *session) send(method string, args []string) error {
	r, err := s.parse(method, args)
	if err != nil {
		return err
	}
	s.violations = nil
	client := s.client
	if r.URL.Host == s.applications.Host {
		client = s.application
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("read the response: %w", err)
	}
	s.last = &response{request: method + " " + args[0], status: answer.StatusCode, header: answer.Header, body: body}
	s.noteToken()
	if len(s.violations) > 0 && !s.environment.tolerates(s.last) {
		return fmt.Errorf("api/openapi.yaml does not declare this: %w", errors.Join(s.violations...))
	}
	return nil
}

// noteToken remembers a personal access token that the last request created.
func (s *session) noteToken() {
	var created token
	if s.last.status == http.StatusCreated && json.Unmarshal(s.last.body, &created) == nil && created.Secret != "" &&
		created.ID != "" { // not a client token, which is no credential of the API
		s.tokens = append(s.tokens, created)
	}
}
