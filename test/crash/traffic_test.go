package crash_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apitraffic "toggleadmin/pkg/api/traffic"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
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
func kinds() []kind {
	return []kind{
		{"GET", "/api/admin/context", "", "", 401, "/api/admin/context"},
		{"GET", "/api/admin/feature-types", "api", "", 200, "/api/admin/feature-types"},
		{"GET", "/api/admin/feature-types", "viewer", "", 200, "/api/admin/feature-types"},
		{"GET", "/api/admin/feature-types", "", "", 401, "/api/admin/feature-types"},
		{"GET", "/api/admin/context", "viewer", "", 200, "/api/admin/context"},
		{"PATCH", "/api/admin/feature-types", "admin", "{}", 404, "/api/admin/feature-types"},
		{
			method:     "PUT",
			path:       "/api/admin/feature-types/release/lifetime",
			credential: "viewer",
			body:       `{"lifetimeDays":1}`,
			status:     403,
			apiPath:    "/api/admin/feature-types/{id}/lifetime",
		},
		{
			method:     "PUT",
			path:       "/api/admin/feature-types/none/lifetime",
			credential: "admin",
			body:       `{"lifetimeDays":1}`,
			status:     404,
			apiPath:    "/api/admin/feature-types/{id}/lifetime",
		},
		{"PUT", "/api/admin/feedback/soak", "admin", `{"neverShow":true}`, 200, "/api/admin/feedback/{id}"},
		{"PUT", "/api/admin/feedback/soak", "admin", `{"neverShow":1}`, 400, "/api/admin/feedback/{id}"},
		{"POST", "/api/admin/service-account/4/token", "admin", "{}", 400, "/api/admin/service-account/{id}/token"},
		{"DELETE", "/api/admin/user/tokens/999999", "admin", "", 404, "/api/admin/user/tokens/{id}"},
		{"GET", "/api/admin/nothing", "admin", "", 404, ""},
		{"GET", "/nothing", "", "", 404, ""},
	}
}

// group is a path and the first digit of a status; 0 is all requests to the path.
type group struct {
	path   string
	status int
}

// traffic counts the requests of a test.
type traffic struct {
	kinds    []kind
	started  time.Time
	mayFail  atomic.Bool // before a kill
	next     atomic.Int64
	mu       sync.Mutex
	requests map[group]int64 // answered ones, and sent ones
}

// TestTraffic sends requests and kills everything repeatedly. Then answered ≤ counted ≤ sent. Requests without a kill
// are counted exactly.
func TestTraffic(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir, "")
	tr := &traffic{kinds: kinds(), started: time.Now(), requests: map[group]int64{}}
	var before map[group]int64
	part := *requests / (*kills + 1)
	for round := range *kills {
		tr.mayFail.Store(true)
		running := tr.load(s, 1<<62)
		s.awaitRequests(tr, part*round+part/2+rand.Int64N(max(1, part/2)))
		s.kill(round%2 == 0)
		running.Wait()
		tr.mayFail.Store(false)
		s = start(t, dir, "")
		before = tr.settle(s)
	}
	earlier := maps.Clone(tr.requests)
	tr.load(s, *requests).Wait()
	after := tr.settle(s)
	for key := range tr.requests {
		if counted, want := after[key]-before[key], tr.requests[key]-earlier[key]; counted != want {
			t.Errorf("%v: %d counted since the last kill, %d answered", key, counted, want)
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
func (tr *traffic) load(s *service, n int64) *sync.WaitGroup {
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for !s.t.Failed() {
				if i := tr.next.Add(1); i > n || !tr.send(s, &tr.kinds[1+i%int64(len(tr.kinds)-1)]) {
					return
				}
			}
		})
	}
	return &running
}

// send reports whether there was a response.
func (tr *traffic) send(s *service, k *kind) bool {
	credentials := map[string]string{"api": s.APIToken, "admin": s.Users[0].PAT, "viewer": s.Users[2].PAT}
	tr.add(group{k.apiPath, 0})
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
	tr.add(group{k.apiPath, status / 100})
	return true
}

func (tr *traffic) add(g group) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if g.path != "" {
		tr.requests[g]++
	}
}

// settle waits until a last request is counted, which means that all earlier ones are, and compares the counts.
func (tr *traffic) settle(s *service) (counted map[group]int64) {
	s.t.Helper()
	marker := &tr.kinds[0]
	if !tr.send(s, marker) {
		s.t.Fatal("the marker was not answered")
	}
	last := group{marker.apiPath, marker.status / 100}
	process.Await(s.t, "the last request is counted", 200*time.Millisecond, 2*timeout, func() bool {
		counted = tr.counted(s)
		return counted[last] >= tr.requests[last]
	})
	for key, n := range tr.requests {
		if key.status == 0 && counted[key] > n || key.status > 0 && counted[key] < n {
			s.t.Errorf("%v: %d, but %d counted", key, n, counted[key])
		}
	}
	s.t.Logf("requests: %v, counted: %v", tr.requests, counted)
	return counted
}

// counted returns the counted requests of the months of the test.
func (tr *traffic) counted(s *service) map[group]int64 {
	s.t.Helper()
	counted := map[group]int64{}
	for _, month := range slices.Compact([]string{tr.started.UTC().Format("2006-01"),
		time.Now().UTC().Format("2006-01")}) {
		report, err := apitraffic.NewStore(s.data.Client, s.data.Tables).Report(s.t.Context(), month)
		assert.OK(s.t, err)
		for _, u := range report {
			for status, n := range map[int]int64{2: u.Counts.Successful, 4: u.Counts.ClientErrors, 5: u.Counts.ServerErrors} {
				counted[group{u.APIPath, status}] += n
				counted[group{u.APIPath, 0}] += n
			}
		}
	}
	return counted
}
