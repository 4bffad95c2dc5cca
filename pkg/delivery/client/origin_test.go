package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// With an origin secret, nothing is read for a request without it. Two secrets are valid while it is rotated, and a
// change takes effect within five minutes.
func TestOriginSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put("shop", "a", toggle.Strategy{})
	f.compile()
	backend, browser := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend)
	first, second := strings.Repeat("a", 32), strings.Repeat("b", 128)
	stored := first
	through, calls := f.db.Through(t, nil)
	h := f.processWith(func(c *client.Config) {
		c.DynamoDB = through
		c.OriginSecrets = func(context.Context) (string, error) { return stored, nil }
	})
	statuses := func(secret string) []int {
		return []int{
			call(h, "GET", "/api/client/features", backend, "", "X-Origin-Secret", secret).status,
			call(h, "POST", "/api/frontend", browser, "", "X-Origin-Secret", secret).status,
			call(h, "OPTIONS", "/api/frontend", "", "", "X-Origin-Secret", secret).status,
			call(h, "GET", "/other", "", "", "X-Origin-Secret", secret).status,
		}
	}
	served, refused := []int{200, 200, 204, 404}, []int{403, 403, 403, 403}
	for _, sent := range []string{"", "a", first + "a", strings.ToUpper(first), first + "," + first, first + " " + second} {
		assert.Equal(t, refused, statuses(sent))
	}
	assert.Equal(t, http.StatusForbidden, call(h, "GET", "/api/client/features", backend, "").status)
	assert.Equal(t, "", calls.Calls())
	assert.Equal(t, served, statuses(first))

	stored = first + " " + second
	f.now = f.now.Add(5*time.Minute - time.Second)
	assert.Equal(t, refused, statuses(second))
	f.now = f.now.Add(time.Second)
	assert.Equal(t, served, statuses(second))
	assert.Equal(t, served, statuses(first))
	stored = second
	f.now = f.now.Add(5 * time.Minute)
	assert.Equal(t, refused, statuses(first))
	assert.Equal(t, served, statuses(second))
}

// A process that cannot read the secret answers 503, and one that has read it before uses the earlier one. Neither reads
// it again with each request.
func TestUnreadableOriginSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.compile()
	secret := strings.Repeat("a", 32)
	stored, failed, reads := "", errors.New("access denied"), 0
	h := f.processWith(func(c *client.Config) {
		c.OriginSecrets = func(context.Context) (string, error) { reads++; return stored, failed }
	})
	status := func() int {
		return call(h, "GET", "/api/client/features", f.token(clienttokentable.Backend), "", "X-Origin-Secret", secret).status
	}
	assert.Equal(t, http.StatusServiceUnavailable, status())
	assert.Equal(t, http.StatusServiceUnavailable, status())
	assert.Equal(t, 1, reads)
	f.now, failed = f.now.Add(5*time.Second), nil
	assert.Equal(t, http.StatusServiceUnavailable, status()) // it is no secret
	f.now, stored = f.now.Add(5*time.Second), secret
	assert.Equal(t, http.StatusOK, status())
	f.now, failed = f.now.Add(time.Hour), errors.New("access denied")
	assert.Equal(t, http.StatusOK, status())
	assert.Equal(t, http.StatusOK, status())
	assert.Equal(t, 4, reads)
}

func TestCheckOriginSecrets(t *testing.T) {
	t.Parallel()
	const valid = "0123456789abcdef0123456789ABCDEF"
	for text, ok := range map[string]bool{
		valid: true, " " + valid + "\n": true, valid + " " + valid: true, strings.Repeat("~", 128): true,
		"": false, valid[1:]: false, strings.Repeat("~", 129): false, valid + " x": false, valid + "é": false,
		valid + " " + valid + " " + valid: false,
	} {
		assert.Equal(t, ok, client.CheckOriginSecrets(text) == nil)
	}
}
