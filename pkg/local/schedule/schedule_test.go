package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/checkpoint"
	"toggleadmin/pkg/local/schedule"
	"toggleadmin/pkg/samtemplate"
)

// setup notes when runs begin.
type setup struct {
	config schedule.Config
	mu     sync.Mutex
	begin  time.Time
	at     []time.Duration
	events [][]byte
}

func newSetup(do func(ctx context.Context) error) *setup {
	s := &setup{begin: time.Now()}
	s.config = schedule.Config{
		Schedule: samtemplate.Schedule{Name: "sweep", Every: time.Minute}, Region: "eu-west-1", AccountID: "123456789012",
		NewID: func() string { return "id" }, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		Deliver: func(ctx context.Context, _ string, payload []byte) error {
			s.mu.Lock()
			s.at = append(s.at, time.Since(s.begin))
			s.events = append(s.events, payload)
			s.mu.Unlock()
			return do(ctx)
		},
	}
	return s
}

func (s *setup) run(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	schedule.Run(ctx, s.config)
}

func (s *setup) want(t *testing.T, at ...time.Duration) {
	t.Helper()
	if diff := cmp.Diff(at, s.at); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func quick(context.Context) error { return nil }

func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(quick)
		s.run(t, 150*time.Second)
		s.want(t, 0, time.Minute, 2*time.Minute)
	})
}

func TestRunsOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(func(context.Context) error { <-time.After(90 * time.Second); return nil })
		s.run(t, 100*time.Second)
		s.want(t, 0, time.Minute)
		if d := time.Since(s.begin); d != 150*time.Second {
			t.Errorf("Run returned after %v", d)
		}
	})
}

func TestEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(quick)
		s.run(t, time.Second)
		var got map[string]any
		if err := json.Unmarshal(s.events[0], &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"version": "0", "id": "id", "detail-type": "Scheduled Event", "source": "aws.scheduler", "account": "123456789012",
			"time": s.begin.UTC().Format(time.RFC3339), "region": "eu-west-1", "detail": "{}",
			"resources": []any{"arn:aws:scheduler:eu-west-1:123456789012:schedule/default/sweep"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fail := false
		s := newSetup(func(context.Context) error {
			if fail {
				return errors.New("the program ends")
			}
			return nil
		})
		s.config.Checkpoint = checkpoint.File{Path: filepath.Join(t.TempDir(), "c")}
		s.run(t, 10*time.Second)
		<-time.After(20 * time.Second)
		s.run(t, 40*time.Second) // until 70 s: the rhythm is kept
		s.want(t, 0, time.Minute)
		<-time.After(230 * time.Second)
		fail = true
		s.run(t, 10*time.Second) // at 300 s: of those at 120, 180, 240 and 300 one; it is cut short
		s.want(t, 0, time.Minute, 5*time.Minute)
		fail = false
		s.run(t, 10*time.Second) // at 310 s
		s.want(t, 0, time.Minute, 5*time.Minute, 310*time.Second)
		s.run(t, 10*time.Second) // at 320 s: nothing is left
		s.want(t, 0, time.Minute, 5*time.Minute, 310*time.Second)
	})
}

// TestTheClockWasPutBack: no run waits for a time that the clock was at by mistake.
func TestTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(quick)
		s.config.Checkpoint = checkpoint.File{Path: filepath.Join(t.TempDir(), "c")}
		ahead := 365 * 24 * time.Hour
		s.config.Now = func() time.Time { return time.Now().Add(ahead) }
		s.run(t, 10*time.Second)
		ahead = 0
		s.run(t, 100*time.Second) // from 10 s on
		s.want(t, 0, 10*time.Second, 70*time.Second)
	})
}
