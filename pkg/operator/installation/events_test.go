package installation_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/eventbridge"
)

// record records a change.
func record(tb testing.TB, log *eventlog.Log, c eventlog.Change) {
	tb.Helper()
	assert.OK(tb, log.RetryTransact(context.WithoutCancel(tb.Context()), func() ([]types.TransactWriteItem, error) {
		_, actions, err := log.RecordActions(context.WithoutCancel(tb.Context()), c)
		return actions, err
	}, nil))
}

// TestReplayEvents sends to a bus that throttles one entry of the first request, or of all requests. An event without
// data, which is malformed, and one that the bus rejects do not prevent the others.
func TestReplayEvents(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		db := database.New(t)
		users := user.NewStore(db.Client, db.Tables, db.Log())
		for range 12 {
			_, err := users.Add(t.Context(), user.User{Kind: user.Person, Name: "n"}, user.DefaultLimit)
			assert.OK(t, err)
		}
		record(t, db.Log(), eventlog.Change{Type: eventlog.FeatureTypeUpdated, Subject: "type:x"})
		record(t, db.Log(), eventlog.Change{Type: eventlog.FeatureCreated, Subject: "toggle:rejected"})
		var stored []string // the ids of events on the bus
		calls := 0
		bus := responding(func(r *http.Request) (int, string) {
			body, err := io.ReadAll(r.Body)
			assert.OK(t, err)
			calls++
			status, response := eventbridge.PutEvents(body, func(k int, text string) string {
				var detail struct{ Sequence, Subject string }
				assert.OK(t, json.Unmarshal([]byte(text), &detail))
				if k == 1 && calls == 1 || k == 0 && always {
					return "ThrottlingException"
				}
				if detail.Subject == "rejected" {
					return "MalformedDetail"
				}
				stored = append(stored, detail.Sequence)
				return ""
			})
			return status, string(response)
		})
		i := &installation.Installation{Client: db.Client, Tables: db.Tables, EventSource: "s",
			Stack: installation.Stack{Name: "s", Config: bus}}
		sent, err := i.ReplayEvents(t.Context(), eventlog.Filter{}, time.Now)
		want, text := 12, "12 events were sent, these cannot be sent: "
		if always {
			want, text = 9, "9 events were sent, continue with --since 20"
		}
		if err == nil || !strings.Contains(err.Error(), text) || !always && (!strings.Contains(err.Error(), "convert event 1") ||
			!strings.Contains(err.Error(), "MalformedDetail: injected")) {
			t.Errorf("error %v, want %s", err, text)
		}
		assert.Equal(t, want, sent)
		if slices.Sort(stored); !always {
			assert.Equal(t, []int{12, 3}, []int{len(slices.Compact(stored)), calls})
		}
	}
}

// TestFollowEvents checks that events of the right time are not missed after one of a clock that is two minutes fast, nor
// those of a clock that is slow. What prints an event waits no longer than a read.
func TestFollowEvents(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const slowInterval = time.Minute
	for _, from := range []time.Time{now.Add(-time.Hour), now.Add(time.Minute)} { // what tail prints first is from then on
		db, clock := database.New(t), now
		write := func(name string, at time.Time) {
			record(t, eventlog.New(db.Client, db.Tables, func() time.Time { return at }, 0), eventlog.Change{
				Type: eventlog.FeatureCreated, Subject: eventlog.Subject("toggle:" + name), FeatureName: name})
		}
		write("old", now.Add(-2*time.Hour))
		write("recent", now.Add(-30*time.Second))
		write("fast", now.Add(2*time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var got []string
		assert.OK(t, installation.FollowEvents(ctx, eventlog.Filter{From: from}, installation.Follow[eventlog.Event]{
			Read: eventlog.NewReader(db.Log()).All, ID: func(e eventlog.Event) int64 { return e.ID },
			Interval: installation.FollowInterval,
			Now:      func() time.Time { clock = clock.Add(slowInterval / 2); return clock },
			Emit: func(ctx context.Context, e eventlog.Event) error {
				if deadline, _ := ctx.Deadline(); time.Until(deadline) > 5*time.Second {
					t.Errorf("%s can be printed until %s", e.FeatureName, deadline)
				}
				switch got = append(got, e.FeatureName); e.FeatureName {
				case "fast":
					write("right", now)
				case "right":
					write("slow", now.Add(-50*time.Minute))
				case "slow":
					cancel()
				}
				return nil
			},
			Reopen: func(err error) (installation.ReadEvents[eventlog.Event], error) { return nil, err },
		}))
		want := []string{"recent", "fast", "right", "slow"}
		if from.After(now) {
			want = want[1:]
		}
		assert.Equal(t, want, got)
	}
}
