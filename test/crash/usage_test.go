package crash_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

const (
	instances = 50
	reports   = 200 // of each instance

	// A process loses at most what it has counted in its last ten seconds, and while it writes.
	mostLoss = 12 * time.Second
)

// TestUsageThroughKill kills one of two processes to which instances of SDKs report the use of toggles. All reports to
// the other one are counted once, and so are those that the killed one answered before its last write.
func TestUsageThroughKill(t *testing.T) {
	t.Parallel()
	s := start(t, filepath.Join(t.TempDir(), "data"), "")
	s.createToggles()
	var application poller
	s.await("the toggles", func() bool { return application.poll(s) && len(application.seen) == toggles })
	u := reporters{began: time.Now(), processes: []*reported{{service: s}, {service: startBeside(t, s)}}}
	survivor, killed := u.processes[0], u.processes[1]
	s.await("the toggles", func() bool { return (&poller{}).poll(killed.service) })

	u.report(0, reports/2)
	for i, p := range u.processes {
		u.awaitWritten(i)
		assert.Equal(t, int64(instances*reports/4), p.answered.Load())
	}
	atLeast := killed.answered.Load() + 500 + rand.Int64N(1000)
	var running sync.WaitGroup
	running.Go(func() { u.report(reports/2, reports) })
	s.await("acknowledged reports", func() bool { return killed.answered.Load() >= atLeast })
	killed.kill(true)
	running.Wait()
	u.awaitWritten(0)
	if total := survivor.answered.Load() + killed.answered.Load() + killed.unanswered.Load(); total != instances*reports {
		t.Fatalf("%d reports were sent", total)
	}

	stored, writtenAt := u.stored(1)
	for i, reports := range killed.instances {
		n := stored[applicationName(i)]
		before := int64(0) // answered before the last write
		for _, at := range reports.answeredAt {
			if at.Before(writtenAt) {
				before++
			}
		}
		if sent := int64(len(reports.answeredAt)) + reports.unanswered; n < before || n > sent {
			t.Errorf("%s has %d reports; %d were answered before the last write, and %d sent",
				applicationName(i), n, before, sent)
		}
		for _, at := range reports.sentAt {
			if at.After(writtenAt.Add(mostLoss)) {
				t.Errorf("a report at %v is answered, and the last write was at %v", at, writtenAt)
			}
		}
	}
	s.stop()
}

// reporters are the instances of SDKs. Each is an application of its own, and reports to two processes in turn, with
// the name of a toggle for each process.
type reporters struct {
	began     time.Time
	processes []*reported
}

// reported is a process, with what was reported to it.
type reported struct {
	*service
	answered, unanswered atomic.Int64
	isDead               atomic.Bool
	instances            [instances]struct {
		sentAt, answeredAt []time.Time // of answered reports
		unanswered         int64
	}
}

func applicationName(instance int) string { return fmt.Sprint("app-", instance) }

// report sends some of the reports of each instance, all instances at the same time.
func (u *reporters) report(from, to int) {
	var running sync.WaitGroup
	for i := range instances {
		running.Go(func() {
			for n := from; n < to; n++ {
				process := (i + n) % len(u.processes)
				if u.processes[process].isDead.Load() {
					process = 0
				}
				u.send(i, process)
			}
		})
	}
	running.Wait()
}

func (u *reporters) send(i, process int) {
	p := u.processes[process]
	sentAt := time.Now()
	status, err := p.post("/api/client/metrics", fmt.Sprintf(
		`{"appName":%q,"instanceId":"%d","bucket":{"toggles":{%q:{"yes":1}}}}`, applicationName(i), i, toggleName(process)))
	instance := &p.instances[i]
	switch {
	case err == nil && status == http.StatusAccepted:
		instance.sentAt, instance.answeredAt = append(instance.sentAt, sentAt), append(instance.answeredAt, time.Now())
		p.answered.Add(1)
	case err != nil && process == 1:
		instance.unanswered++ // it may have been counted
		p.unanswered.Add(1)
		p.isDead.Store(true)
	default:
		p.t.Errorf("%d %v", status, err)
	}
}

// post sends a request of an application, and reads the complete response.
func (s *service) post(path, body string) (status int, err error) {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.ClientURL+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", s.ClientTokens[0].Secret)
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// awaitWritten polls a process until it has written all reports.
func (u *reporters) awaitWritten(i int) {
	p := u.processes[i]
	p.t.Helper()
	process.Await(p.t, "the last write", 100*time.Millisecond, timeout, func() bool {
		if !(&poller{}).poll(p.service) {
			p.t.Fatal("the process does not answer")
		}
		stored, _ := u.stored(i)
		for n := range instances {
			if stored[applicationName(n)] != int64(len(p.instances[n].answeredAt)) {
				return false
			}
		}
		return true
	})
}

// stored returns what the table has of a process by application, and when the process wrote it.
func (u *reporters) stored(process int) (byApplication map[string]int64, writtenAt time.Time) {
	s := u.processes[0]
	s.t.Helper()
	byApplication = map[string]int64{}
	for hour := usage.HourOf(u.began); !hour.After(time.Now()); hour = hour.Add(time.Hour) {
		err := usagetable.WalkTallies(s.t.Context(), s.data.Client, s.data.Tables[usagetable.Table], hour,
			func(part usagetable.Part, tally usage.Tally) {
				found := tally.Features[toggleName(process)]
				for application, counts := range found {
					byApplication[application] += counts.Yes
				}
				if found != nil && part.WrittenAt.After(writtenAt) {
					writtenAt = part.WrittenAt
				}
			})
		assert.OK(s.t, err)
	}
	return byApplication, writtenAt
}
