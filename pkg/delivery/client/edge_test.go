package client_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/assert"
)

// Unleash Edge validates tokens without a credential. Those that are unknown, forged, expired or repeated are left out.
// All are read in one call.
func TestEdgeValidatesTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	backend, browser := f.token(clienttokentable.Backend), f.token(clienttokentable.Frontend, "shop", "blog")
	past := f.now.Add(-time.Second)
	expired := f.expiring(&past, clienttokentable.Backend)
	forged := backend[:len(backend)-43] + browser[len(browser)-43:]
	through, calls := f.db.Through(t, nil)
	got := call(f.processThrough(through, 0), "POST", "/edge/validate", "",
		`{"tokens":["`+strings.Join([]string{backend, "x", expired, forged, browser, backend}, `","`)+`"]}`)
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, `{"tokens":[{"token":"`+backend+`","type":"client","projects":["*"],"environment":"production"},`+
		`{"token":"`+browser+`","type":"frontend","projects":["shop","blog"],"environment":"production"}]}`, got.body)
	assert.Equal(t, 1, strings.Count(calls.Calls(), "BatchGetItem"))
	for body, want := range map[string]int{
		`{"tokens":[]}`: 200, `{}`: 400, `[]`: 400, `{"tokens":"x"}`: 400,
		`{"tokens":[` + strings.Repeat(`"x",`, 100) + `"x"]}`: 400,
		`{"x":"` + strings.Repeat("x", 100_000) + `"}`:        413,
	} {
		assert.Equal(t, want, call(f.process(), "POST", "/edge/validate", "", body).status)
	}
	assert.Equal(t, http.StatusNotFound, call(f.process(), "GET", "/edge/validate", "", "").status)
}

// Edge discards tokens that are not in the response. So a passing fault is a 503.
func TestEdgeWhileDynamoDBCannotBeReached(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	down := true
	through, _ := f.unreachable(&down)
	got := call(f.processThrough(through, 0), "POST", "/edge/validate", "",
		`{"tokens":["`+f.token(clienttokentable.Backend)+`"]}`)
	assert.Equal(t, http.StatusServiceUnavailable, got.status)
}
