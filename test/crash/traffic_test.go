package crash_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/test/assert"
	"toggleadmin/test/process"
	"toggleadmin/test/table"
)

var (
	requests = flag.Int64("requests", 2000, "number of requests that TestTraffic sends")
	kills    = flag.Int64("kills", 2, "how often TestTraffic kills everything")
)

// kind is a kind of request.
type kind struct {
	method, path, credential, body string
	status                         int
	apiPath                        string // that counts it; empty: not counted
}

// kinds are the kinds of requests. Only traffic.settle sends the first one.
func kinds(t *testing.T) (all []kind) {
	t.Helper()
	for _, row := range table.Rows(t, 5, `
		# request | credential | body | status | path that counts it
		GET /api/admin/context | | | 401 | /api/admin/context
		GET /api/admin/feature-types | api | | 200 | /api/admin/feature-types
		GET /api/admin/feature-types | viewer | | 200 | /api/admin/feature-types
		GET /api/admin/feature-types | | | 401 | /api/admin/feature-types
		GET /api/admin/context | viewer | | 200 | /api/admin/context
		PATCH /api/admin/feature-types | admin | {} | 404 | /api/admin/feature-types
		PUT /api/admin/feature-types/release/lifetime | viewer | {"lifetimeDays":1} | 403 | /api/admin/feature-types/{id}/lifetime
		PUT /api/admin/feature-types/none/lifetime | admin | {"lifetimeDays":1} | 404 | /api/admin/feature-types/{id}/lifetime
		PUT /api/admin/feedback/soak | admin | {"neverShow":true} | 200 | /api/admin/feedback/{id}
		PUT /api/admin/feedback/soak | admin | {"neverShow":1} | 400 | /api/admin/feedback/{id}
		POST /api/admin/service-account/4/token | admin | {} | 400 | /api/admin/service-account/{id}/token
		DELETE /api/admin/user/tokens/999999 | admin | | 404 | /api/admin/user/tokens/{id}
		GET /api/admin/nothing | admin | | 404 |
		GET /nothing | | | 404 |`) {
		method, path, _ := strings.Cut(row[0], " ")
		status, err := strconv.Atoi(row[3])
		assert.OK(t, err)
		all = append(all, kind{method, path, row[1], row[2], status, row[4]})
	}
	return all
}

// usage is the number of requests by API path and group. For sent requests, the group is empty.
type usage map[[2]string]int64

// traffic counts the requests of a test.
type traffic struct {
	kinds          []kind
	started        time.Time
	mayFail        atomic.Bool // before a kill
	next           atomic.Int64
	mu             sync.Mutex
	sent, answered usage
}

// TestTraffic sends requests and kills everything repeatedly. Then answered ≤ counted ≤ sent. Requests without a kill
// are counted exactly.
func TestTraffic(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir, "")
	tr := &traffic{kinds: kinds(t), started: time.Now(), sent: usage{}, answered: usage{}}
	before := usage{}
	part := *requests / (*kills + 1)
	for round := range *kills {
		tr.mayFail.Store(true)
		l := tr.load(s, 1<<62)
		s.awaitRequests(tr, part*round+part/2+rand.Int64N(max(1, part/2)))
		s.kill(round%2 == 0)
		l.running.Wait()
		tr.mayFail.Store(false)
		s = start(t, dir, "")
		before = tr.settle(s)
	}
	answered := maps.Clone(tr.answered)
	tr.load(s, *requests).running.Wait()
	after := tr.settle(s)
	for key := range tr.answered {
		if counted, want := after[key]-before[key], tr.answered[key]-answered[key]; counted != want {
			t.Errorf("%s: %d counted since the last kill, %d answered", key, counted, want)
		}
	}
	s.stop()
}

// awaitRequests waits until n requests are sent.
func (s *service) awaitRequests(tr *traffic, n int64) {
	s.t.Helper()
	process.Await(s.t, "requests", time.Millisecond, timeout+time.Duration(n)*5*time.Millisecond, func() bool {
		return tr.next.Load() >= n || s.t.Failed()
	})
}

// load starts clients that send requests until n are sent or the service is killed.
func (tr *traffic) load(s *service, n int64) *load {
	l := &load{service: s}
	for range clients {
		l.add(func() bool {
			i := tr.next.Add(1)
			return i <= n && !s.t.Failed() && tr.send(s, &tr.kinds[1+i%int64(len(tr.kinds)-1)])
		})
	}
	return l
}

// send reports whether there was a response.
func (tr *traffic) send(s *service, k *kind) bool {
	credentials := map[string]string{"api": s.APIToken, "admin": s.Users[0].PAT, "viewer": s.Users[2].PAT}
	tr.add(tr.sent, k.apiPath, "")
	status, response, err := s.exchange(k.method, k.path, credentials[k.credential], k.body)
	if err != nil {
		if !tr.mayFail.Load() {
			s.t.Error(err)
		}
		return false
	}
	if status != k.status && (status < http.StatusInternalServerError || !tr.mayFail.Load()) {
		s.t.Errorf("%s %s: %d %s, want %d", k.method, k.path, status, response, k.status)
	}
	tr.add(tr.answered, k.apiPath, group(status))
	return true
}

func group(status int) string {
	switch {
	case status >= http.StatusInternalServerError:
		return "server-errors"
	case status >= http.StatusBadRequest:
		return "client-errors"
	}
	return "successful-requests"
}

func (tr *traffic) add(to usage, path, group string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if path != "" {
		to[[2]string{path, group}]++
	}
}

// settle waits until a last request is counted, which means that all earlier ones are, and compares the counts.
func (tr *traffic) settle(s *service) usage {
	s.t.Helper()
	marker := &tr.kinds[0]
	if !tr.send(s, marker) {
		s.t.Fatal("the marker was not answered")
	}
	last := [2]string{marker.apiPath, group(marker.status)}
	var counted usage
	process.Await(s.t, "the last request is counted", 200*time.Millisecond, 2*timeout, func() bool {
		counted = tr.counted(s)
		return counted[last] >= tr.answered[last]
	})
	sums := usage{}
	for key := range counted {
		sums[[2]string{key[0]}] += counted[key]
	}
	for key, n := range tr.answered {
		path := [2]string{key[0]}
		if counted[key] < n || sums[path] > tr.sent[path] {
			s.t.Errorf("%s: %d answered, %d counted, %d of %d sent to the path counted", key, n, counted[key], sums[path],
				tr.sent[path])
		}
	}
	s.t.Logf("answered: %v, counted: %v, sent: %v", tr.answered, counted, tr.sent)
	return counted
}

// counted returns the reported usage of the months of the test, without that of the report itself.
func (tr *traffic) counted(s *service) usage {
	s.t.Helper()
	counted := usage{}
	for _, month := range slices.Compact([]string{tr.started.UTC().Format("2006-01"),
		time.Now().UTC().Format("2006-01")}) {
		var report struct {
			APIData []struct {
				APIPath string
				Days    []struct {
					TrafficTypes []struct {
						Group string
						Count int64
					}
				}
			}
		}
		s.get("/api/admin/metrics/traffic/"+month, &report)
		for _, path := range report.APIData {
			for _, day := range path.Days {
				for _, group := range day.TrafficTypes {
					if !strings.Contains(path.APIPath, "traffic") {
						counted[[2]string{path.APIPath, group.Group}] += group.Count
					}
				}
			}
		}
	}
	return counted
}
