package local_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

// eventFunctions are stand-ins for the functions that receive events. Each sends its name and event to the channel.
func eventFunctions(received chan<- [2]string) map[string]app.Constructor {
	functions := map[string]app.Constructor{}
	for _, name := range []string{"reevaluate-staleness", "sweep-staleness", "record-traffic"} {
		functions[name] = func(*app.Env) (lambda.Handler, error) {
			return app.Event(func(_ context.Context, event json.RawMessage) (any, error) {
				received <- [2]string{name, string(event)}
				return struct{}{}, nil
			}), nil
		}
	}
	return functions
}

func TestEventsReachTheirFunctions(t *testing.T) {
	t.Parallel()
	received := make(chan [2]string, 100)
	var stderr process.Output
	service, stop := localtest.StartStop(t, local.Config{
		DynamoDBEndpoint: enginetest.Endpoint(t), Functions: eventFunctions(received), Stderr: &stderr, Terminal: true,
	})
	setLifetime(t, service, 65)
	want := map[string]string{"reevaluate-staleness": `"lifetimeDays":{"N":"65"}`, "sweep-staleness": `"aws.scheduler"`,
		"record-traffic": `"awslogs"`}
	for timeout := time.After(time.Minute); len(want) > 0; {
		select {
		case event := <-received:
			if text := strings.ReplaceAll(event[1], " ", ""); strings.Contains(text, want[event[0]]) {
				delete(want, event[0])
			}
		case <-timeout:
			t.Fatalf("these functions did not receive their events: %v", want)
		}
	}
	stop()
	out := stderr.String()
	if want := "stream of FeatureTypes, 1 record "; !strings.Contains(out, want) {
		t.Errorf("stderr has no %q:\n%s", want, out)
	}
	if strings.Contains(out, "log AccessLogs") || strings.Contains(out, "schedule SweepStaleness") {
		t.Errorf("a terminal shows what happens every second or minute:\n%s", out)
	}
}

// Setting a lifetime again re-evaluates the toggles of the type: the stream corrects a wrong flag, here without the sweep.
func TestTheSameLifetimeCorrectsFlags(t *testing.T) {
	t.Parallel()
	received := make(chan [2]string, 100)
	service := localtest.Start(t, local.Config{
		DynamoDBEndpoint: enginetest.Endpoint(t),
		Functions:        map[string]app.Constructor{"sweep-staleness": eventFunctions(received)["sweep-staleness"]},
	})
	client, tables := database(t, service)
	toggles := feature.NewStore(client, tables, eventlog.Discard(client, time.Now)) // sets no flag
	_, err := toggles.Create(t.Context(), toggle.Feature{
		Name: "old", Project: "default", Type: "release", CreatedAt: time.Now().AddDate(-1, 0, 0),
	})
	assert.OK(t, err)
	setLifetime(t, service, 40)
	process.Await(t, "the flag is not set", 20*time.Millisecond, time.Minute, func() bool {
		old, err := toggles.Get(t.Context(), "old")
		assert.OK(t, err)
		return old.PotentiallyStale
	})
}

func TestRequestsOnly(t *testing.T) {
	t.Parallel()
	received := make(chan [2]string, 100)
	service, stop := localtest.StartStop(t, local.Config{
		DynamoDBEndpoint: enginetest.Endpoint(t), Functions: eventFunctions(received), RequestsOnly: true,
	})
	setLifetime(t, service, 65)
	stop()
	if len(received) > 0 {
		t.Error("a function received an event")
	}
}
