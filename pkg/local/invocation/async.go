package invocation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Async calls a function as Lambda does for an asynchronous event.
type Async struct {
	Invoker  *Invoker
	Function *Function
	Retries  int // after the first try; at most 2
	// OnFailure keeps the record of an event that is given up. Nil: it is lost.
	OnFailure func(record []byte) error
	Now       func() time.Time
}

// wait is how long an event waits after its tries-th failed try.
func wait(tries int) time.Duration { return time.Duration(tries) * time.Minute }

// Deliver calls the function until it succeeds or the event is given up, after which the event's record is kept; all three are no error.
// It fails, and the event is to be delivered again, when the context ends while it waits, the Invoker is aborted or the record cannot
// be kept. tries is how often it failed before; failed, which may be nil, is told of each failure more.
func (a *Async) Deliver(ctx context.Context, trigger string, payload []byte, tries int, failed func(tries int) error) error {
	for {
		_, id, err := a.Invoker.Call(ctx, a.Function, trigger, payload)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrAborted) {
			return err
		}
		tries++
		if tries > a.Retries {
			return a.giveUp(id, payload, err, tries)
		}
		if failed != nil {
			if err := failed(tries); err != nil {
				return err
			}
		}
		timer := time.NewTimer(wait(tries))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// giveUp keeps the record that Lambda sends to an on-failure destination.
func (a *Async) giveUp(id string, payload []byte, cause error, tries int) error {
	if a.OnFailure == nil {
		return nil
	}
	record, err := json.Marshal(map[string]any{
		"version":   "1.0",
		"timestamp": Timestamp(a.Now()),
		"requestContext": map[string]any{
			"requestId": id, "functionArn": a.Function.ARN + ":$LATEST", "condition": "RetriesExhausted", "approximateInvokeCount": tries,
		},
		"requestPayload":  json.RawMessage(payload),
		"responseContext": ResponseContext(),
		"responsePayload": map[string]any{"errorMessage": cause.Error(), "errorType": errorType(cause)},
	})
	if err != nil {
		return fmt.Errorf("encode the record of an event that is given up: %w", err)
	}
	return a.OnFailure(record)
}

// ResponseContext is the part of an on-failure record that says that the function failed.
func ResponseContext() map[string]any {
	return map[string]any{"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"}
}

// Timestamp is a time as Lambda's on-failure records have it.
func Timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// errorType names an error as aws-lambda-go does.
func errorType(err error) string {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}
