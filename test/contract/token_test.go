package contract_test

import (
	"strconv"
	"testing"
)

// token is what the creation answers.
type token struct {
	ID          int64   `json:"id"`
	Secret      string  `json:"secret"`
	CreatedAt   string  `json:"createdAt"`
	SeenAt      *string `json:"seenAt"`
	UserID      int64   `json:"userId"`
	Description string  `json:"description"`
	ExpiresAt   string  `json:"expiresAt"`
}

// createToken makes a token of a service account over HTTP.
func (s *service) createToken(t *testing.T, as string, account int64, body string) token {
	t.Helper()
	var created token
	s.send(t, postToken(account, body).as(as)).want(t, 201).decode(t, &created)
	return created
}

func text(id int64) string { return strconv.FormatInt(id, 10) }
