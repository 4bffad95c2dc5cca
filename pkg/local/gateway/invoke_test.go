package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/local/gateway"
)

func TestFunctionsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		check := func(ctx context.Context, arn string, timeout time.Duration) {
			lc, there := lambdacontext.FromContext(ctx)
			if !there || lc.InvokedFunctionArn != arn || len(lc.AwsRequestID) != 36 {
				t.Errorf("Lambda context %+v", lc)
			}
			if deadline, there := ctx.Deadline(); !there || time.Until(deadline) != timeout {
				t.Errorf("deadline in %s, want %s", time.Until(deadline), timeout)
			}
		}
		var s *setup
		s = newSetup(func(ctx context.Context, _ []byte) ([]byte, error) {
			check(ctx, thingARN, 10*time.Second)
			return []byte(ok), nil
		}, func(ctx context.Context, _ []byte) ([]byte, error) {
			check(ctx, s.config.Functions["Authorizer"].ARN, 5*time.Second)
			return []byte(allowAll), nil
		})
		w := httptest.NewRecorder()
		s.gateway(t).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/things", nil))
		if w.Code != http.StatusOK {
			t.Errorf("status %d", w.Code)
		}
	})
}

// TestTimeouts lets functions run past their time without ever looking at their context, on a false clock.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path    string
		timeout, runs time.Duration
		status        int
		after         time.Duration // when the answer is there
		kind          string
	}{
		{"JustInTime", "/open", 10 * time.Second, 9 * time.Second, 200, 9 * time.Second, ""},
		{"FunctionTimeoutIs502", "/open", 10 * time.Second, time.Minute, 502, 10 * time.Second, "DEFAULT_5XX"},
		{"DefaultTimeoutIs3Seconds", "/open", 0, time.Minute, 502, 3 * time.Second, "DEFAULT_5XX"},
		{"IntegrationTimeoutIs504", "/open", time.Minute, 40 * time.Second, 504, 29 * time.Second, "INTEGRATION_TIMEOUT"},
		{"AuthorizerTimeoutIs500", "/things", 10 * time.Second, time.Minute, 500, 10 * time.Second, "AUTHORIZER_CONFIGURATION_ERROR"},
		{"GatewayGivesUpOnTheAuthorizer", "/things", time.Minute, 40 * time.Second, 500, 29 * time.Second, "AUTHORIZER_FAILURE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := func(context.Context, []byte) ([]byte, error) {
					<-time.After(tt.runs)
					return []byte(ok), nil
				}
				s := newSetup(slow, slow)
				for name, f := range s.config.Functions {
					f.Timeout = tt.timeout
					s.config.Functions[name] = f
				}
				w := httptest.NewRecorder()
				begin := time.Now()
				s.gateway(t).ServeHTTP(w, httptest.NewRequest(http.MethodGet, tt.path, nil))
				if w.Code != tt.status || time.Since(begin) != tt.after {
					t.Errorf("status %d after %s, want %d after %s", w.Code, time.Since(begin), tt.status, tt.after)
				}
				record := s.record.Load()
				equal(t, "response type", record.ResponseType, tt.kind)
				if tt.status == http.StatusBadGateway && !errors.Is(record.Err, gateway.ErrTimedOut) {
					t.Errorf("cause %v", record.Err)
				}
				if tt.status == http.StatusGatewayTimeout {
					equal(t, "body", w.Body.String(), `{"message": "Endpoint request timed out"}`)
				}
				<-time.After(2 * time.Minute) // false time: what was left behind ends
			})
		})
	}
}

func TestContextEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("wait: %w", ctx.Err())
		}, says(allowAll))
		w := httptest.NewRecorder()
		s.gateway(t).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/open", nil))
		if w.Code != http.StatusBadGateway {
			t.Errorf("status %d", w.Code)
		}
	})
}

func TestClientLeavingCancelsNothing(t *testing.T) {
	t.Parallel()
	entered, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s := newSetup(func(ctx context.Context, _ []byte) ([]byte, error) {
		close(entered)
		<-release
		ended <- ctx.Err()
		return []byte(ok), nil
	}, says(allowAll))
	left := make(chan struct{})
	g := s.gateway(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(left) })
		g.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	conn := dial(t, server.URL)
	_, _ = fmt.Fprint(conn, "GET /open HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	_ = conn.Close()
	<-left
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the function's context: %v", err)
	}
}
