package crash_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowd is writers that work until they are stopped or the service is gone.
type crowd struct {
	tb      testing.TB
	base    string
	client  *http.Client
	acks    atomic.Int64
	faults  atomic.Int64 // answers 500 and 503
	halt    atomic.Bool
	running sync.WaitGroup
	goOn    bool // after a request without a usable answer
}

// outcome is what a writer knows about a request of its own.
type outcome int

const (
	acknowledged outcome = iota
	doubtful             // carried out or not
	refused              // for a reason of its own: the answer is given
)

// newCrowd makes a crowd without writers.
func newCrowd(tb testing.TB, base string, goOn bool) *crowd {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: writers}
	tb.Cleanup(transport.CloseIdleConnections)
	return &crowd{tb: tb, base: base, client: &http.Client{Transport: transport, Timeout: patience}, goOn: goOn}
}

// work starts one writer, which takes steps until it is told to end.
func (c *crowd) work(step func() outcome) {
	c.running.Go(func() {
		for !c.halt.Load() {
			switch step() {
			case acknowledged:
				c.acks.Add(1)
			case doubtful:
				if !c.goOn {
					return
				}
			case refused:
				return // step has said why
			}
		}
	})
}

// awaitAcks waits until n more writes are acknowledged than now.
func (c *crowd) awaitAcks(t *testing.T, n int64) {
	t.Helper()
	target := c.acks.Load() + n
	await(t, fmt.Sprint(n, " more acknowledged writes"), func() bool { return c.acks.Load() >= target || t.Failed() })
}

// send gives the answer of a request, once it is read to its end. 500 and 503 must be the error object.
func (c *crowd) send(method, path, token, body string, want int) (outcome, []byte) {
	status, answer, err := c.exchange(method, path, token, body)
	switch {
	case err != nil:
		return doubtful, nil
	case status == want:
		return acknowledged, answer
	case status == http.StatusInternalServerError || status == http.StatusServiceUnavailable:
		c.faults.Add(1)
		c.checkErrorObject(status, answer)
		return doubtful, nil
	case status == http.StatusNotFound && method == http.MethodDelete && c.goOn:
		// The engine carried the deletion out and died before it said so; its successor has forgotten that this attempt is a repetition.
		// DynamoDB remembers it for ten minutes.
		return acknowledged, nil
	}
	c.tb.Errorf("%s %s: %d %s", method, path, status, answer)
	return refused, nil
}

func (c *crowd) exchange(method, path, token, body string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(c.tb.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

func (c *crowd) checkErrorObject(status int, answer []byte) {
	var object map[string]string
	name := map[int]string{http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServiceUnavailable"}[status]
	if err := json.Unmarshal(answer, &object); err != nil || len(object) != 3 || object["id"] == "" || object["name"] != name || object["message"] == "" {
		c.tb.Errorf("%d %s", status, answer)
	}
}

// record is the ledger of a writer that writes 1, 2, 3 … to one place.
type record struct {
	sent, acked int64
	write       func(n int64) outcome
	read        func(*crowd) int64 // what is there now; 0: nothing yet
}

func (r *record) step() outcome {
	r.sent++
	o := r.write(r.sent)
	if o == acknowledged {
		r.acked = r.sent
	}
	return o
}

// feedbackWriter writes given as so many seconds after a moment, together with neverShow, which says whether that is even.
func feedbackWriter(c *crowd, id, token string) *record {
	path := "/api/admin/feedback/" + id
	zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &record{
		write: func(n int64) outcome {
			given := zero.Add(time.Duration(n) * time.Second).Format(time.RFC3339)
			o, _ := c.send("PUT", path, token, fmt.Sprintf(`{"neverShow":%v,"given":%q}`, n%2 == 0, given), http.StatusOK)
			return o
		},
		read: func(c *crowd) int64 {
			var now struct {
				NeverShow bool
				Given     *time.Time
			}
			if o, answer := c.send("PUT", path, token, `{}`, http.StatusOK); o != acknowledged || json.Unmarshal(answer, &now) != nil {
				c.tb.Errorf("feedback %s: %s", id, answer)
			}
			if now.Given == nil {
				return 0
			}
			n := int64(now.Given.Sub(zero) / time.Second)
			if now.NeverShow != (n%2 == 0) {
				c.tb.Errorf("feedback %s is half written: %+v", id, now)
			}
			return n
		},
	}
}

// lifetimeWriter writes the lifetime of a feature type.
func lifetimeWriter(c *crowd, featureType, token string) *record {
	return &record{
		write: func(n int64) outcome {
			o, _ := c.send("PUT", "/api/admin/feature-types/"+featureType+"/lifetime", token, fmt.Sprintf(`{"lifetimeDays":%d}`, n), http.StatusOK)
			return o
		},
		read: func(c *crowd) int64 {
			var list struct {
				Types []struct {
					ID           string
					LifetimeDays int64
				}
			}
			if o, answer := c.send("GET", "/api/admin/feature-types", token, "", http.StatusOK); o != acknowledged || json.Unmarshal(answer, &list) != nil {
				c.tb.Errorf("feature types: %s", answer)
			}
			for _, one := range list.Types {
				if one.ID == featureType {
					return one.LifetimeDays
				}
			}
			c.tb.Errorf("the feature type %s is gone", featureType)
			return 0
		},
	}
}

// token is a service account's token that was acknowledged.
type token struct {
	ID     int64  `json:"id"`
	Secret string `json:"secret"`
}

// tokens is the ledger of a writer that creates and deletes the tokens of one service account.
type tokens struct {
	c       *crowd
	account int64
	admin   string
	n       int
	last    int64 // id

	alive, gone, doubted []token // doubted: a deletion of it was not answered
}

// keep is how many tokens a writer leaves alive: room for those that it does not know of stays below the limit of 10.
const keep = 3

func (w *tokens) step() outcome {
	if len(w.alive) > keep {
		oldest := w.alive[0]
		// By itself or by a younger one.
		o, _ := w.c.send("DELETE", fmt.Sprint("/api/admin/user/tokens/", oldest.ID), w.alive[w.n%2].Secret, "", http.StatusOK)
		w.alive = w.alive[1:]
		if o == acknowledged {
			w.gone = append(w.gone, oldest)
		} else {
			w.doubted = append(w.doubted, oldest)
		}
		return o
	}
	w.n++
	o, answer := w.c.send("POST", fmt.Sprintf("/api/admin/service-account/%d/token", w.account), w.admin,
		fmt.Sprintf(`{"description":"token %d","expiresAt":"2199-01-01T00:00:00Z"}`, w.n), http.StatusCreated)
	if o != acknowledged {
		return o
	}
	var created token
	if err := json.Unmarshal(answer, &created); err != nil || created.ID <= w.last {
		w.c.tb.Errorf("a token after %d: %s", w.last, answer)
		return refused
	}
	w.last = created.ID
	w.alive = append(w.alive, created)
	return acknowledged
}
