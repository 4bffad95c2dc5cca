package crash_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/staleness"
)

// sendTo returns a constructor of a function that sends events to the bus at an endpoint.
func sendTo(endpoint string, construct app.Constructor) app.Constructor {
	return func(env *app.Env) (lambda.Handler, error) {
		sending := *env
		// The HTTP client of the service would send the events to its own bus.
		sending.AWS.HTTPClient, sending.AWS.BaseEndpoint, sending.Vars = &http.Client{}, &endpoint, maps.Clone(env.Vars)
		sending.Vars["EVENT_BUS"], sending.Vars["EVENT_SOURCE"] = "bus", "crash"
		return construct(&sending)
	}
}

// bus is an EventBridge that the kills do not reach. It throttles some requests, rejects some entries, and loses some responses.
type bus struct {
	*httptest.Server
	mu    sync.Mutex
	byID  map[string]event.Event
	again int // events that it has received more than once
}

func startBus(t *testing.T) *bus {
	t.Helper()
	b := &bus{byID: map[string]event.Event{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Entries []struct{ Detail string } }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			return // the sender was killed
		}
		if rand.N(50) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"ThrottlingException"}`))
			return
		}
		results := make([]map[string]string, len(request.Entries))
		for i, entry := range request.Entries {
			results[i] = map[string]string{"ErrorCode": "InternalFailure"}
			if rand.N(50) != 0 {
				results[i] = map[string]string{"EventId": "1"}
				b.store(t, entry.Detail)
			}
		}
		if rand.N(50) == 0 {
			panic(http.ErrAbortHandler)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Entries": results})
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *bus) store(t *testing.T, detail string) {
	t.Helper()
	var e event.Event
	if err := json.Unmarshal([]byte(detail), &e); err != nil {
		t.Error(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.byID[e.ID]; ok {
		b.again++
	}
	b.byID[e.ID] = e
}

// announceRest runs the sweep of the next minute.
func (b *bus) announceRest(s *service) {
	s.t.Helper()
	sweep, err := sendTo(b.URL, staleness.NewSweepFunction)(&app.Env{
		Vars: map[string]string{
			"DYNAMODB_ENDPOINT": s.DynamoDB.Endpoint, "FEATURE_TYPES_TABLE": s.tables.FeatureTypes, "FEATURES_TABLE": s.tables.Features,
		},
		AWS: aws.Config{
			Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: &http.Client{},
		},
		Now: func() time.Time { return time.Now().Add(time.Minute) }, Logger: slog.New(slog.DiscardHandler),
	})
	must(s.t, err)
	_, err = sweep.Invoke(s.t.Context(), []byte(`{}`))
	must(s.t, err)
}

// check compares the events with the number of flips: each has one event, and the flag of a toggle was set and cleared in turn.
func (b *bus) check(t *testing.T, flips int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	byToggle, n := map[string][]event.Event{}, 0
	for _, e := range b.byID {
		if strings.HasPrefix(e.Subject, "toggle-") {
			byToggle[e.Subject] = append(byToggle[e.Subject], e)
			n++
		}
	}
	for name, all := range byToggle {
		slices.SortFunc(all, func(a, b event.Event) int { return strings.Compare(a.Sequence, b.Sequence) })
		for i, e := range all {
			if (e.Type == event.FeaturePotentiallyStaleOn) != (i%2 == 0) {
				t.Errorf("the events of %s are %v", name, all)
			}
		}
	}
	if n != flips {
		t.Errorf("%d flips, %d events", flips, n)
	}
	t.Logf("%d flips, %d events, %d received again", flips, n, b.again)
}
