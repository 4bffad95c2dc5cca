package invoke_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"toggleadmin/pkg/local/invoke"
)

var errFunction = errors.New("the function fails")

type handler func(ctx context.Context, payload []byte) ([]byte, error)

func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

func function(h handler) *invoke.Function {
	return &invoke.Function{Name: "do-things", ARN: "arn:function", Handler: h, Timeout: 5 * time.Second}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // not the function's deadline
		defer cancel()
		output, err := function(func(ctx context.Context, payload []byte) ([]byte, error) {
			call, _ := lambdacontext.FromContext(ctx)
			deadline, _ := ctx.Deadline()
			<-time.After(time.Second)
			return fmt.Appendf(nil, "%s %s %s %v", payload, call.AwsRequestID, call.InvokedFunctionArn, time.Until(deadline)),
				ctx.Err()
		}).Invoke(ctx, "call-1", []byte("in"))
		if string(output) != "in call-1 arn:function 4s" || err != nil {
			t.Errorf("%q, %v", output, err)
		}
	})
}

func TestInvokeErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		handler handler
		after   time.Duration
		is      func(error) bool
	}{
		{"error", func(context.Context, []byte) ([]byte, error) { return nil, errFunction }, 0,
			func(err error) bool { return errors.Is(err, errFunction) }},
		{"panic", func(context.Context, []byte) ([]byte, error) { panic("no") }, 0, func(err error) bool {
			return err != nil && strings.HasPrefix(err.Error(), "panic: no\n") && strings.Contains(err.Error(), "invoke_test.go")
		}},
		{"the handler ends its goroutine", func(context.Context, []byte) ([]byte, error) {
			runtime.Goexit()
			return nil,
				nil
		}, 0,
			func(err error) bool { return err != nil && err.Error() == "function exited without a response" }},
		{"timeout", func(context.Context, []byte) ([]byte, error) { <-time.After(time.Minute); return nil, nil },
			5 * time.Second,
			func(err error) bool { return err != nil && err.Error() == "function timed out after 5s" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				if _, err := function(tt.handler).Invoke(t.Context(), "id", nil); !tt.is(err) || time.Since(begin) != tt.after {
					t.Errorf("%v after %s", err, time.Since(begin))
				}
				<-time.After(2 * time.Minute) // the abandoned function ends
			})
		})
	}
}

func TestInvokeStopsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errFunction)
		defer cancel()
		begin, ended := time.Now(), make(chan time.Duration, 1)
		_, err := function(func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			ended <- time.Since(begin)
			return nil, nil
		}).Invoke(ctx, "id", nil)
		if waited := time.Since(begin); !errors.Is(err, errFunction) || waited != time.Second {
			t.Errorf("%v after %s", err, waited)
		}
		if ran := <-ended; ran != 5*time.Second {
			t.Errorf("the function's context ended after %s, want its own timeout", ran)
		}
	})
}
