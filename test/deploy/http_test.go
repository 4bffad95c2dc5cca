package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// request makes a request and gives the answer, which must have a status. An empty credential is none.
func (s *stack) request(ctx context.Context, method, path, credential, body string, status int) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.baseURL+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if credential != "" {
		req.Header.Set("Authorization", credential)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode != status {
		return answer{}, fmt.Errorf("%s %s: status %d, want %d: %s", method, path, response.StatusCode, status, received)
	}
	return answer{response.Header, received}, nil
}

// answer is an answer of the status that was wanted.
type answer struct {
	header http.Header
	body   []byte
}

// into decodes the body.
func (a answer) into(value any) error {
	if err := json.Unmarshal(a.body, value); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

// token is a token of the service account that a test made.
type token struct {
	ID     int64  `json:"id"`
	Secret string `json:"secret"`
}

// makeToken makes a token of the seeded service account.
func (s *stack) makeToken(ctx context.Context, description, expiresAt string) (token, error) {
	path := fmt.Sprintf("/api/admin/service-account/%d/token", s.credentials.ServiceAccounts[0].ID)
	body := fmt.Sprintf(`{"description":%q,"expiresAt":%q}`, description, expiresAt)
	made, err := s.request(ctx, http.MethodPost, path, s.credentials.Users[0].PAT, body, http.StatusCreated)
	if err != nil {
		return token{}, err
	}
	var t token
	return t, made.into(&t)
}

// deleteToken deletes a token by itself.
func (s *stack) deleteToken(ctx context.Context, t token) error {
	_, err := s.request(ctx, http.MethodDelete, fmt.Sprintf("/api/admin/user/tokens/%d", t.ID), t.Secret, "", http.StatusOK)
	return err
}
