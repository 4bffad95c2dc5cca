package authorizer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/pat"
)

func TestSeenAtIsSetAtOnceAndRefreshedAfter60Seconds(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) *time.Time { at := now().Add(-d); return &at }
	for _, tt := range []struct {
		name    string
		seen    *time.Time
		written bool
	}{
		{"never seen", nil, true},
		{"this moment", ago(0), false},
		{"59.999 s ago", ago(59_999 * time.Millisecond), false},
		{"60 s ago", ago(time.Minute), false},
		{"60.001 s ago", ago(60_001 * time.Millisecond), true},
		{"60.001 s ago", ago(60_001 * time.Millisecond), true},
		{"a year ago", ago(365 * 24 * time.Hour), true},
		{"by another clock, in the future", ago(-time.Second), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.changePAT(func(p *pat.PAT) { p.SeenAt = tt.seen })
			a, log := authenticator(f)
			for range 2 { // the second request comes at once
				got, err := a.Authorize(t.Context(), request(patToken(1, 1)))
				if err != nil || got.PrincipalID != "user:1" {
					t.Fatalf("principal %q, %v", got.PrincipalID, err)
				}
			}
			want := []string{"PAT 1 1", "PAT 1 1"}
			if tt.written {
				want = []string{"PAT 1 1", "Seen 1 1 at 10:00:00 unless after 09:59:00", "PAT 1 1"}
			}
			if diff := cmp.Diff(want, f.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if log.Len() > 0 {
				t.Errorf("log %s", log)
			}
		})
	}
}

func TestAFailedWriteOfSeenAtNeverFailsTheRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.changePAT(func(p *pat.PAT) { p.SeenAt = nil })
	f.seen = func(context.Context) error { return errors.New("throttled") }
	a, log := authenticator(f)
	got, err := a.Authorize(t.Context(), request(patToken(1, 1)))
	if err != nil || got.PrincipalID != "user:1" {
		t.Errorf("principal %q, %v", got.PrincipalID, err)
	}
	line := log.String()
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, `"level":"WARN"`) || !strings.Contains(line, "throttled") || strings.Contains(line, secret) {
		t.Errorf("log %s", line)
	}
}

func TestAHangingWriteOfSeenAtTakesASecondAtMost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		invocation, want time.Duration
	}{
		{"the write's own second", 10 * time.Second, time.Second},
		{"less where the invocation ends before", 1200 * time.Millisecond, 700 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.changePAT(func(p *pat.PAT) { p.SeenAt = nil })
				f.seen = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				a, _ := authenticator(f)
				ctx, cancel := context.WithTimeout(t.Context(), tt.invocation)
				defer cancel()
				started := time.Now()
				got, err := a.Authorize(ctx, request(patToken(1, 1)))
				if err != nil || got.PrincipalID != "user:1" {
					t.Errorf("principal %q, %v", got.PrincipalID, err)
				}
				if took := time.Since(started); took != tt.want {
					t.Errorf("the request waited %v, want %v", took, tt.want)
				}
			})
		})
	}
}

func TestAPITokensAreNotSeen(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.seen = func(context.Context) error { return errors.New("must not be called") }
	a, log := authenticator(f)
	if _, err := a.Authorize(t.Context(), request(apiToken(1))); err != nil || len(f.calls) != 1 || log.Len() > 0 {
		t.Errorf("%v, calls %q, log %s", err, f.calls, log)
	}
}
