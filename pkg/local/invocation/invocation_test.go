package invocation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invocation"
)

var errFunction = errors.New("the function fails")

type handler func(ctx context.Context, payload []byte) ([]byte, error)

func (h handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

func newInvoker(records *[]invocation.Record) *invocation.Invoker {
	n := 0
	return invocation.New(invocation.Config{
		NewID: func() string { n++; return fmt.Sprintf("call-%d", n) }, Now: time.Now,
		End: func(r *invocation.Record) { *records = append(*records, *r) },
	})
}

func function(h handler) *invocation.Function {
	return &invocation.Function{Name: "do-things", ARN: "arn:function", Handler: h, Timeout: 5 * time.Second}
}

func TestCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var records []invocation.Record
		output, id, err := newInvoker(&records).Call(t.Context(), function(func(ctx context.Context, payload []byte) ([]byte, error) {
			call, _ := lambdacontext.FromContext(ctx)
			deadline, _ := ctx.Deadline()
			<-time.After(time.Second)
			return fmt.Appendf(nil, "%s %s %s %v", payload, call.AwsRequestID, call.InvokedFunctionArn, time.Until(deadline)), nil
		}), "a test", []byte("in"))
		if string(output) != "in call-1 arn:function 4s" || id != "call-1" || err != nil {
			t.Errorf("%q, %q, %v", output, id, err)
		}
		want := []invocation.Record{{Function: "do-things", Trigger: "a test", ID: "call-1", Duration: time.Second}}
		if diff := cmp.Diff(want, records); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   handler
		is   func(error) bool
	}{
		{"error", func(context.Context, []byte) ([]byte, error) { return nil, errFunction }, func(err error) bool { return errors.Is(err, errFunction) }},
		{"panic", func(context.Context, []byte) ([]byte, error) { panic("no") }, func(err error) bool {
			p, ok := errors.AsType[*gateway.PanicError](err)
			return ok && strings.Contains(string(p.Stack), "invocation_test.go")
		}},
		{"timeout", func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			<-time.After(time.Minute)
			return nil, nil
		}, func(err error) bool { return errors.Is(err, gateway.ErrTimedOut) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var records []invocation.Record
				_, _, err := newInvoker(&records).Call(t.Context(), function(tt.do), "a test", nil)
				if !tt.is(err) || len(records) != 1 || !tt.is(records[0].Err) {
					t.Errorf("%v, %v", err, records)
				}
				<-time.After(2 * time.Minute) // what was left behind has ended
			})
		})
	}
}

// asyncTest delivers one event to a function that fails n times.
func asyncTest(t *testing.T, fails, retries, tries int) (at []time.Duration, records []map[string]any, err error) {
	t.Helper()
	begin := time.Now()
	var told []int
	a := &invocation.Async{
		Invoker: newInvoker(new([]invocation.Record)), Retries: retries, Now: time.Now,
		Function: function(func(context.Context, []byte) ([]byte, error) {
			if at = append(at, time.Since(begin)); len(at) <= fails {
				return nil, errFunction
			}
			return nil, nil
		}),
		OnFailure: func(text []byte) error {
			var record map[string]any
			defer func() { records = append(records, record) }()
			return json.Unmarshal(text, &record)
		},
	}
	err = a.Deliver(t.Context(), "a test", []byte(`{"a":1}`), tries, func(tries int) error { told = append(told, tries); return nil })
	for i, n := range told {
		if n != tries+i+1 {
			t.Errorf("told of the tries %v", told)
		}
	}
	return at, records, err
}

func TestAsyncRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at, records, err := asyncTest(t, 2, 2, 0)
		if diff := cmp.Diff([]time.Duration{0, time.Minute, 3 * time.Minute}, at); diff != "" || len(records) > 0 || err != nil {
			t.Errorf("%s, %v, %v", diff, records, err)
		}
	})
}

func TestAsyncOnFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at, records, err := asyncTest(t, 9, 2, 1) // the first try was before
		if len(at) != 2 || err != nil {
			t.Errorf("%v, %v", at, err)
		}
		want := []map[string]any{{
			"version": "1.0", "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
			"requestContext": map[string]any{
				"requestId": "call-2", "functionArn": "arn:function:$LATEST", "condition": "RetriesExhausted", "approximateInvokeCount": 3.0,
			},
			"requestPayload":  map[string]any{"a": 1.0},
			"responseContext": map[string]any{"statusCode": 200.0, "executedVersion": "$LATEST", "functionError": "Unhandled"},
			"responsePayload": map[string]any{"errorMessage": "the function fails", "errorType": "errorString"},
		}}
		if diff := cmp.Diff(want, records); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAsyncStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var records []invocation.Record
		invoker := newInvoker(&records)
		a := &invocation.Async{Invoker: invoker, Retries: 2, Now: time.Now, Function: function(func(context.Context, []byte) ([]byte, error) {
			return nil, errFunction
		})}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := a.Deliver(ctx, "a test", nil, 0, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context has ended: %v", err)
		}
		a.Function = function(func(ctx context.Context, _ []byte) ([]byte, error) {
			time.AfterFunc(time.Second, invoker.Abort)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		for range 2 { // in a call, and before one
			if err := a.Deliver(t.Context(), "a test", nil, 0, nil); !errors.Is(err, invocation.ErrAborted) {
				t.Errorf("aborted: %v", err)
			}
		}
		if len(records) != 1 {
			t.Errorf("records %v", records)
		}
	})
}
