package crash_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"toggleadmin/test/helper/assert"
)

const (
	toggles = 4
	pollers = 4
)

// TestPollersThroughKills kills everything while clients change toggles and applications poll. No application sees an
// older state than before, and each one ends with the true state.
func TestPollersThroughKills(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir, "")
	written := s.createToggles()
	applications := make([]poller, pollers)
	for round := range 2 {
		var writes, polls atomic.Int64
		var running sync.WaitGroup
		for i := range written {
			running.Go(func() {
				for c := &written[i]; s.describe(i, c.sent+1); writes.Add(1) {
					c.sent++
					c.acknowledged = c.sent
				}
				written[i].sent++ // the last write may have been carried out
			})
		}
		for i := range applications {
			running.Go(func() {
				for applications[i].poll(s) {
					polls.Add(1)
				}
			})
		}
		atLeast := 50 + rand.Int64N(100)
		s.await("acknowledged writes and polls", func() bool { return writes.Load() >= atLeast && polls.Load() >= atLeast })
		s.kill(round%2 == 0)
		running.Wait()
		s = start(t, dir, "")
		for i := range written {
			n := s.description(i)
			if n < written[i].acknowledged || n > written[i].sent {
				t.Fatalf("%s is %d: %d was acknowledged, %d sent", toggleName(i), n, written[i].acknowledged, written[i].sent)
			}
			written[i] = counter{n, n}
		}
		s.awaitState(applications, written)
		for i := range written { // the new processes have read the state by now
			written[i].acknowledged++
			if written[i].sent++; !s.describe(i, written[i].sent) {
				t.Fatalf("%s cannot be changed after the restart", toggleName(i))
			}
			s.awaitState(applications, written)
		}
	}
	s.stop()
}

// createToggles creates the toggles. It returns the number in the description of each one.
func (s *service) createToggles() []counter {
	s.t.Helper()
	for i := range toggles {
		status, response, err := s.exchange(http.MethodPost, "/api/admin/projects/default/features", s.APIToken,
			fmt.Sprintf(`{"name":%q,"type":"release","description":"0"}`, toggleName(i)))
		if err != nil || status != http.StatusCreated {
			s.t.Fatalf("%d %s %v", status, response, err)
		}
	}
	return make([]counter, toggles)
}

// awaitState waits until each application has what was written.
func (s *service) awaitState(applications []poller, written []counter) {
	s.t.Helper()
	for i := range applications {
		s.await("the true state", func() bool {
			if !applications[i].poll(s) {
				return false
			}
			for j := range written {
				if applications[i].seen[toggleName(j)] != written[j].acknowledged {
					return false
				}
			}
			return true
		})
	}
}

func toggleName(i int) string { return fmt.Sprint("toggle-", i) }

// describe writes the description of a toggle, and reports whether the write was acknowledged.
func (s *service) describe(i int, n int64) bool {
	status, response, err := s.exchange(http.MethodPut, "/api/admin/projects/default/features/"+toggleName(i), s.APIToken,
		fmt.Sprintf(`{"type":"release","description":"%d"}`, n))
	if err == nil && status == http.StatusConflict {
		s.t.Errorf("%s: %s", toggleName(i), response) // each toggle has one writer
	}
	return err == nil && status == http.StatusOK
}

func (s *service) description(i int) int64 {
	s.t.Helper()
	status, response, err := s.exchange(http.MethodGet, "/api/admin/projects/default/features/"+toggleName(i), s.APIToken, "")
	assert.OK(s.t, err)
	assert.Equal(s.t, http.StatusOK, status)
	return described(s.t, response)
}

func described(t *testing.T, object []byte) int64 {
	t.Helper()
	var toggle struct{ Description string }
	assert.OK(t, json.Unmarshal(object, &toggle))
	n, err := strconv.ParseInt(toggle.Description, 10, 64)
	assert.OK(t, err)
	return n
}

// poller is an application that polls with the tag of what it has.
type poller struct {
	tag  string
	seen map[string]int64 // the numbers in the descriptions, by toggle
}

// poll gets the toggles, and reports whether the service has responded. A description must not be older than before.
func (p *poller) poll(s *service) bool {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.ClientURL+"/api/client/features", nil)
	assert.OK(s.t, err)
	request.Header.Set("Authorization", s.ClientTokens[0].Secret)
	request.Header.Set("If-None-Match", p.tag)
	response, err := s.client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return false
	}
	switch response.StatusCode {
	case http.StatusNotModified:
		return true
	case http.StatusOK:
	case http.StatusBadGateway, http.StatusServiceUnavailable: // the engine is killed first
		return false
	default:
		s.t.Errorf("%d %s", response.StatusCode, body)
		return false
	}
	var document struct {
		Features []json.RawMessage `json:"features"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		s.t.Error(err)
		return false
	}
	before := p.seen
	p.tag, p.seen = response.Header.Get("ETag"), map[string]int64{}
	for _, feature := range document.Features {
		var named struct{ Name string }
		assert.OK(s.t, json.Unmarshal(feature, &named))
		for i := range toggles {
			if named.Name == toggleName(i) {
				p.seen[named.Name] = described(s.t, feature)
			}
		}
	}
	for name, n := range before {
		if p.seen[name] < n {
			s.t.Errorf("an application receives %s with %d after %d", name, p.seen[name], n)
		}
	}
	return true
}
