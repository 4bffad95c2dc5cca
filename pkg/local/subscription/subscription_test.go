package subscription_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/subscription"
)

var errEnd = errors.New("the program ends")

type batch struct {
	At    time.Duration
	Lines int
	Tries int
}

// setup is a subscription under test.
type setup struct {
	*subscription.Subscription
	config subscription.Config
	begin  time.Time
	do     func(n int, failed func(int) error) error // of the n-th delivery

	mu       sync.Mutex
	batches  []batch
	payloads [][]byte
}

func newSetup(t *testing.T, dir string) *setup {
	t.Helper()
	s := &setup{begin: time.Now(), do: func(int, func(int) error) error { return nil }}
	s.config = subscription.Config{
		Dir: dir, LogGroup: "AccessLogs", Filter: "RecordFunction", Owner: "123456789012", Now: time.Now,
		Logger: slog.New(slog.DiscardHandler),
		Deliver: func(_ context.Context, trigger string, payload []byte, tries int, failed func(int) error) error {
			var n int
			if _, err := fmt.Sscanf(trigger, "log AccessLogs, %d line", &n); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			s.batches = append(s.batches, batch{time.Since(s.begin), n, tries})
			s.payloads = append(s.payloads, payload)
			i := len(s.batches)
			s.mu.Unlock()
			return s.do(i, failed)
		},
	}
	s.open(t)
	return s
}

func (s *setup) open(t *testing.T) {
	t.Helper()
	var err error
	if s.Subscription, err = subscription.Open(s.config); err != nil {
		t.Fatal(err)
	}
}

func (s *setup) run(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	s.Run(ctx)
}

// restart closes and opens it again.
func (s *setup) restart(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

func (s *setup) want(t *testing.T, batches ...batch) {
	t.Helper()
	if diff := cmp.Diff(batches, s.batches); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

func decode(t *testing.T, payload []byte) events.CloudwatchLogsData {
	t.Helper()
	var event events.CloudwatchLogsEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		t.Fatal(err)
	}
	data, err := event.AWSLogs.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, "")
		at := time.UnixMilli(1700000000123)
		s.Append([]byte(`{"status":"200"}`), at)
		s.Append([]byte("two\nlines"), at)
		s.run(t, 2*time.Second)
		data := decode(t, s.payloads[0])
		id := regexp.MustCompile(`^[0-9]{56}$`)
		for i := range data.LogEvents {
			if !id.MatchString(data.LogEvents[i].ID) {
				t.Errorf("id %q", data.LogEvents[i].ID)
			}
		}
		if data.LogEvents[0].ID == data.LogEvents[1].ID || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(data.LogStream) {
			t.Errorf("%+v", data)
		}
		data.LogEvents[0].ID, data.LogEvents[1].ID, data.LogStream = "", "", ""
		want := events.CloudwatchLogsData{
			MessageType: "DATA_MESSAGE", Owner: "123456789012", LogGroup: "AccessLogs", SubscriptionFilters: []string{"RecordFunction"},
			LogEvents: []events.CloudwatchLogsLogEvent{
				{Timestamp: 1700000000123, Message: `{"status":"200"}`}, {Timestamp: 1700000000123, Message: "two lines"},
			},
		}
		if diff := cmp.Diff(want, data); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBatchesByTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, "")
		go func() {
			for range 5 {
				<-time.After(400 * time.Millisecond)
				s.Append([]byte("line"), time.Now())
			}
		}()
		s.run(t, 10*time.Second)
		s.want(t, batch{1400 * time.Millisecond, 3, 0}, batch{2600 * time.Millisecond, 2, 0})
	})
}

func TestBatchesBySize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, "")
		for range 12000 {
			s.Append([]byte("short"), time.Now())
		}
		for range 1200 {
			s.Append(bytes.Repeat([]byte("x"), 1000), time.Now())
		}
		s.run(t, 10*time.Second)
		lines := 0
		for i, b := range s.batches {
			lines += b.Lines
			var event struct{ AWSLogs struct{ Data []byte } }
			if err := json.Unmarshal(s.payloads[i], &event); err != nil {
				t.Fatal(err)
			}
			r, err := gzip.NewReader(bytes.NewReader(event.AWSLogs.Data))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(r)
			if err != nil || b.Lines > 10000 || len(plain) > 2<<20 {
				t.Errorf("a batch of %d lines, %d bytes, %v", b.Lines, len(plain), err)
			}
		}
		if lines != 13200 || len(s.batches) > 6 {
			t.Errorf("%d lines in %v", lines, s.batches)
		}
	})
}

func TestAFailingBatchIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, t.TempDir())
		s.do = func(n int, failed func(int) error) error {
			if n > 6 {
				return nil
			}
			_ = failed(1)
			<-time.After(time.Minute)
			return errEnd
		}
		go func() {
			for range 7 { // more than are called at once
				s.Append([]byte("line"), time.Now())
				<-time.After(2 * time.Second)
			}
		}()
		s.run(t, 30*time.Second)
		if n := len(s.batches); n != 7 || s.batches[6].At != 13*time.Second {
			t.Errorf("batches %v", s.batches)
		}
		s.batches = nil
		s.do = func(int, func(int) error) error { return nil }
		s.restart(t)
		s.run(t, time.Second)
		for _, b := range s.batches {
			if b.Tries != 1 || b.Lines != 1 {
				t.Errorf("%+v", b)
			}
		}
		if len(s.batches) != 6 {
			t.Errorf("batches %v", s.batches)
		}
	})
}

// TestRestart: whatever is not done is delivered again, the same lines in the same batch.
func TestRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, t.TempDir())
		s.do = func(n int, _ func(int) error) error {
			if n == 1 {
				return errEnd
			}
			return nil
		}
		s.Append([]byte("a"), time.Now())
		s.Append([]byte("b"), time.Now())
		s.run(t, 1500*time.Millisecond)
		s.Append([]byte("c"), time.Now()) // in no batch yet
		s.restart(t)
		s.Append([]byte("d"), time.Now())
		s.run(t, 5*time.Second)
		if len(s.payloads) != 4 || !bytes.Equal(s.payloads[0], s.payloads[1]) {
			t.Errorf("batches %v", s.batches)
		}
		seen := map[string]string{}
		for _, payload := range s.payloads[1:] {
			for _, event := range decode(t, payload).LogEvents {
				seen[event.ID] = event.Message
			}
		}
		if len(seen) != 4 {
			t.Errorf("lines %v", seen)
		}
		s.restart(t)
		s.run(t, 5*time.Second)
		if len(s.payloads) != 4 {
			t.Errorf("again: %v", s.batches)
		}
	})
}

func TestHalfALine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := newSetup(t, dir)
		s.Append([]byte("whole"), time.Now())
		names, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		f, err := os.OpenFile(names[0], os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("1700000000000 ha"); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		s.restart(t)
		s.Append([]byte("next"), time.Now())
		s.run(t, 5*time.Second)
		var messages []string
		for _, payload := range s.payloads {
			messages = append(messages, decode(t, payload).LogEvents[0].Message)
		}
		if len(messages) != 2 || strings.Contains(strings.Join(messages, ""), "ha") {
			t.Errorf("messages %q", messages)
		}
	})
}

func TestRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := newSetup(t, dir)
		line := bytes.Repeat([]byte("x"), 1010)
		const n = 17000 // 17 MB
		for range n {
			s.Append(line, time.Now())
		}
		files := func() int {
			names, err := filepath.Glob(filepath.Join(dir, "*.log"))
			if err != nil {
				t.Fatal(err)
			}
			return len(names)
		}
		if got := files(); got != 2 {
			t.Errorf("%d files", got)
		}
		s.run(t, 5*time.Second)
		lines, streams := 0, map[string]bool{}
		for i, b := range s.batches {
			lines += b.Lines
			streams[decode(t, s.payloads[i]).LogStream] = true
		}
		if lines != n || len(streams) != 2 || files() != 1 {
			t.Errorf("%d lines, %d streams, %d files left", lines, len(streams), files())
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	s, err := subscription.Open(subscription.Config{Dir: b.TempDir(), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	line := bytes.Repeat([]byte("x"), 320)
	at := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.Append(line, at)
		}
	})
}
