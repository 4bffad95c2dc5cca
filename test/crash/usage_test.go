package crash_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The groups of 4.6.
const (
	successful  = "successful-requests"
	clientError = "client-errors"
	serverError = "server-errors"
)

// apiRequest is a kind of request.
type apiRequest struct {
	method, path, token, body string
	status                    int
	apiPath                   string // that it counts for; empty: none
}

// place is where 4.6 counts.
type place struct{ path, group string }

// usage is numbers of requests.
type usage map[place]int64

const trafficPath = "/api/admin/metrics/traffic/{period}"

// usageLedger is what was sent, and what of it was answered.
type usageLedger struct {
	requests []apiRequest
	token    string
	started  time.Time
	mayFail  atomic.Bool // a kill is coming: 500 and 503 are answers, too

	next     atomic.Int64
	answers  atomic.Int64
	asked    int64 // 4.6 itself, which counts
	mu       sync.Mutex
	sent     usage // by path; the group is empty
	answered usage
}

func newUsageLedger(p *process, started time.Time) *usageLedger {
	admin, viewer, api := p.service.Users[0].PAT, p.service.Users[2].PAT, p.service.APIToken
	const types, lifetime, context = "/api/admin/feature-types", "/api/admin/feature-types/{id}/lifetime", "/api/admin/context"
	const feedback, create, remove = "/api/admin/feedback/{id}", "/api/admin/service-account/{id}/token", "/api/admin/user/tokens/{id}"
	return &usageLedger{
		token: api, started: started, sent: usage{}, answered: usage{},
		requests: []apiRequest{
			{"GET", types, api, "", 200, types},
			{"GET", types, viewer, "", 200, types},
			{"GET", types, "", "", 401, types},
			{"GET", context, admin, "", 200, context},
			{"GET", context, api + "x", "", 401, context},
			{"PATCH", context, admin, "{}", 404, context},
			{"PUT", "/api/admin/feature-types/release/lifetime", viewer, `{"lifetimeDays":1}`, 403, lifetime},
			{"PUT", "/api/admin/feature-types/none/lifetime", admin, `{"lifetimeDays":1}`, 404, lifetime},
			{"PUT", "/api/admin/feedback/soak", admin, `{"neverShow":true}`, 200, feedback},
			{"PUT", "/api/admin/feedback/soak", admin, `{"neverShow":1}`, 400, feedback},
			{"POST", "/api/admin/service-account/4/token", admin, `{}`, 400, create},
			{"DELETE", "/api/admin/user/tokens/999999", admin, "", 404, remove},
			{"GET", "/api/admin/nothing", admin, "", 404, ""},
			{"GET", "/", "", "", 404, ""},
		},
	}
}

// work starts writers that send until the numberth request is on its way; without an end where number is negative.
func (l *usageLedger) work(t *testing.T, p *process, number int64) *crowd {
	t.Helper()
	c := newCrowd(t, p.service.BaseURL, false)
	for range writers {
		c.work(func() outcome {
			n := l.next.Add(1)
			if number >= 0 && n > number {
				return refused
			}
			return l.step(c, &l.requests[n%int64(len(l.requests))])
		})
	}
	return c
}

// step sends a request.
func (l *usageLedger) step(c *crowd, r *apiRequest) outcome {
	l.add(l.sent, place{path: r.apiPath})
	status, answer, err := c.exchange(r.method, r.path, r.token, r.body)
	if err != nil {
		if !l.mayFail.Load() {
			c.tb.Error(err)
		}
		return doubtful
	}
	if status != r.status && (status < http.StatusInternalServerError || !l.mayFail.Load()) {
		c.tb.Errorf("%s %s: %d %s, want %d", r.method, r.path, status, answer, r.status)
	}
	l.add(l.answered, place{r.apiPath, groupOf(status)})
	l.answers.Add(1)
	return acknowledged
}

func groupOf(status int) string {
	switch {
	case status >= http.StatusInternalServerError:
		return serverError
	case status >= http.StatusBadRequest:
		return clientError
	}
	return successful
}

func (l *usageLedger) add(to usage, at place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to[at]++
}

// awaitAnswers waits until there are that many, however long it takes while more come.
func (l *usageLedger) awaitAnswers(t *testing.T, number int64) {
	t.Helper()
	for step := l.answers.Load(); step < number; {
		step = min(number, step+1000)
		await(t, fmt.Sprint(step, " answers"), func() bool { return l.answers.Load() >= step || t.Failed() })
	}
}

// settle asks 4.6 until it has counted every request that was answered, and every one of 4.6 itself; these come last, so nothing is on its
// way any more. It asks less and less often, because asking counts, too.
func (l *usageLedger) settle(t *testing.T, p *process) usage {
	t.Helper()
	c := newCrowd(t, p.service.BaseURL, false)
	end := time.Now().Add(2 * patience)
	for pause := 1200 * time.Millisecond; ; pause = min(pause*3/2, patience/3) {
		asked := l.asked
		counted := l.ask(t, c)
		asks := counted[place{trafficPath, successful}]
		delete(counted, place{trafficPath, successful})
		complaints := l.compare(counted)
		if asks != asked {
			complaints = append(complaints, fmt.Sprintf("%d of %d requests of 4.6 are counted", asks, asked))
		}
		if asked > 0 && len(complaints) == 0 {
			return counted
		}
		if time.Now().After(end) {
			t.Fatal(strings.Join(complaints, "\n"))
		}
		<-time.After(pause)
	}
}

// compare holds answered ≤ counted ≤ sent.
func (l *usageLedger) compare(counted usage) (complaints []string) {
	sums := usage{}
	for at := range l.places(counted) {
		sums[place{path: at.path}] += counted[at]
		if counted[at] < l.answered[at] {
			complaints = append(complaints, fmt.Sprintf("%s, %s: %d answered, %d counted", at.path, at.group, l.answered[at], counted[at]))
		}
	}
	for at, n := range sums {
		if n > l.sent[at] {
			complaints = append(complaints, fmt.Sprintf("%s: %d sent, %d counted", at.path, l.sent[at], n))
		}
	}
	return complaints
}

// places are those where something was counted or should have been.
func (l *usageLedger) places(counted usage) map[place]bool {
	all := map[place]bool{}
	for _, one := range []usage{counted, l.answered} {
		for at := range one {
			if at.path != "" || one[at] != l.answered[at] { // an unknown path's are nobody's
				all[at] = true
			}
		}
	}
	return all
}

// ask asks 4.6 for the months from the start to now.
func (l *usageLedger) ask(t *testing.T, c *crowd) usage {
	t.Helper()
	counted := usage{}
	last := time.Now().UTC().Format("2006-01")
	for month := l.started.UTC(); ; month = month.AddDate(0, 0, 1) {
		period := month.Format("2006-01")
		if period == last || month.AddDate(0, 0, 1).Format("2006-01") != period {
			l.askMonth(t, c, period, counted)
		}
		if period == last {
			return counted
		}
	}
}

func (l *usageLedger) askMonth(t *testing.T, c *crowd, period string, counted usage) {
	t.Helper()
	status, answer, err := c.exchange("GET", strings.Replace(trafficPath, "{period}", period, 1), l.token, "")
	l.asked++
	if err != nil || status != http.StatusOK {
		t.Fatalf("4.6: %d %s, %v", status, answer, err)
	}
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
	if err := json.Unmarshal(answer, &report); err != nil {
		t.Fatal(err)
	}
	for _, path := range report.APIData {
		for _, day := range path.Days {
			for _, group := range day.TrafficTypes {
				counted[place{path.APIPath, group.Group}] += group.Count
			}
		}
	}
}

// total adds up, without unknown paths where they are left out.
func (u usage) total() (n int64) {
	for at := range u {
		if at.path != "" {
			n += u[at]
		}
	}
	return n
}

func (l *usageLedger) log(t *testing.T, what string, counted usage) {
	t.Helper()
	t.Logf("%5.1f s, %s: %d answered ≤ %d counted ≤ %d sent", time.Since(l.started).Seconds(), what, l.answered.total(), counted.total(), l.sent.total())
}

// table shows the numbers of each path.
func (l *usageLedger) table(counted usage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-42s %9s  %-20s %9s %9s\n", "path", "sent", "group", "answered", "counted")
	for _, at := range slices.SortedFunc(maps.Keys(l.places(counted)), func(a, b place) int {
		return strings.Compare(a.path+a.group, b.path+b.group)
	}) {
		fmt.Fprintf(&b, "%-42s %9d  %-20s %9d %9d\n", at.path, l.sent[place{path: at.path}], at.group, l.answered[at], counted[at])
	}
	return b.String()
}
