package usage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/staleness"
)

// function returns a function that receives events, with its calls counted by m. It announces nothing.
func (s *service) function(t *testing.T, construct app.Constructor, m *meter) lambda.Handler {
	t.Helper()
	return s.construct(t, construct, s.env(t, m))
}

func (s *service) construct(t *testing.T, construct app.Constructor, env *app.Env) lambda.Handler {
	t.Helper()
	handler, err := construct(env)
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// env returns the environment of a function whose clock stands still.
func (s *service) env(t *testing.T, m *meter) *app.Env {
	t.Helper()
	now := time.Now()
	env := &app.Env{
		Vars: map[string]string{
			"DYNAMODB_ENDPOINT": s.DynamoDB.Endpoint, "FEATURE_TYPES_TABLE": s.tables.FeatureTypes, "FEATURES_TABLE": s.tables.Features,
		},
		AWS: s.config(t), Now: func() time.Time { return now }, Logger: slog.New(slog.DiscardHandler),
	}
	env.AWS.APIOptions = m.options("")
	return env
}

// sendEvents makes a function send events to a bus that stores them all.
func sendEvents(t *testing.T, env *app.Env) {
	t.Helper()
	bus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Entries []any }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"FailedEntryCount":0,"Entries":[%s]}`, strings.TrimSuffix(strings.Repeat(`{"EventId":"1"},`, len(request.Entries)), ","))
	}))
	t.Cleanup(bus.Close)
	env.AWS.BaseEndpoint, env.Vars["EVENT_BUS"], env.Vars["EVENT_SOURCE"] = &bus.URL, "bus", "s"
}

// invoke returns the calls of one invocation, sorted, with equal calls counted: "32 Query 0.5r".
func (m *meter) invoke(t *testing.T, function lambda.Handler, event any) []string {
	t.Helper()
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	m.take()
	if _, err := function.Invoke(t.Context(), payload); err != nil {
		t.Fatal(err)
	}
	counts, calls := map[string]int{}, []string{}
	for _, c := range m.take() {
		if !errors.Is(c.Err, context.DeadlineExceeded) { // otherwise the function repeats it: the machine is busy
			counts[c.String()]++
		}
	}
	for c, n := range counts {
		calls = append(calls, fmt.Sprint(n, " ", c))
	}
	slices.Sort(calls)
	return calls
}

// A type with a lifetime takes 32 eventually consistent queries of half a read unit (16 shards, two directions), one without takes 16. Each
// changed flag takes three write units: one for the toggle, two for its index entry. The sweep lists the types with one Scan. Each type is read
// once per second.
func TestCallsOfReevaluation(t *testing.T) {
	t.Parallel()
	s := start(t)
	client := s.client(t)
	types, toggles := featuretype.NewStore(client, s.tables), feature.NewStore(client, s.tables)
	m := &meter{}
	stream, sweep := s.function(t, staleness.NewReevaluateFunction, m), s.function(t, staleness.NewSweepFunction, m)
	check := func(name string, got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	change := func(id string, from, to int) any { // the event of a changed lifetime
		image := func(days int) map[string]any {
			return map[string]any{"id": map[string]string{"S": id}, "lifetimeDays": map[string]string{"N": fmt.Sprint(days)}}
		}
		return map[string]any{"Records": []any{map[string]any{"eventName": "MODIFY", "dynamodb": map[string]any{
			"Keys": map[string]any{"id": map[string]string{"S": id}}, "OldImage": image(from), "NewImage": image(to),
			"SequenceNumber": "1", "ApproximateCreationDateTime": 1795153140,
		}}}}
	}
	m.invoke(t, sweep, struct{}{}) // flags the seeded toggles
	// Three of the default types have a lifetime.
	check("a sweep with nothing to do", m.invoke(t, sweep, struct{}{}), "1 Scan 1r", "128 Query 0.5r", "5 GetItem 1r")
	check("the same lifetime", m.invoke(t, stream, change("release", 40, 40)), []string{}...)
	check("a changed lifetime", m.invoke(t, stream, change("release", 41, 40)), "1 GetItem 1r", "32 Query 0.5r")
	check("a type without a lifetime", m.invoke(t, stream, change("permission", 1, 2)), "1 GetItem 1r", "16 Query 0.5r")
	for i := range 2 {
		old := feature.Feature{Name: fmt.Sprint("usage", i), Type: "release", CreatedAt: time.Now().AddDate(-1, 0, 0)}
		if err := toggles.Create(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	check("two flags set", m.invoke(t, stream, change("release", 41, 40)), "1 GetItem 1r", "2 UpdateItem 3w", "32 Query 0.5r")
	if _, err := types.SetLifetime(t.Context(), "release", new(int64(4000))); err != nil {
		t.Fatal(err)
	}
	// A seeded toggle of the type had its flag set, too.
	check("flags cleared by a sweep", m.invoke(t, sweep, struct{}{}), "1 Scan 1r", "128 Query 0.5r", "3 UpdateItem 3w", "5 GetItem 1r")
}

// With events, a changed flag takes three more write units: one for its entry in the index of announcements, two to clear it. The sweep takes
// 16 more queries. A change of a lifetime takes no more calls. The events of the type and those of its toggles are sent separately.
func TestCallsOfAnnouncements(t *testing.T) {
	t.Parallel()
	s, m := start(t), &meter{}
	env := s.env(t, m)
	sendEvents(t, env)
	sweep := s.construct(t, staleness.NewSweepFunction, env)
	client, err := dynamo.NewClient(env.AWS, s.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	types := featuretype.NewStore(client, s.tables).Announcing("s", time.Now)
	m.invoke(t, sweep, struct{}{}) // flags the seeded toggles
	for _, tt := range []struct {
		name string
		days *int64 // of the type "release"
		want []string
	}{
		{"nothing to do", nil, []string{"1 Scan 1r", "144 Query 0.5r", "5 GetItem 1r"}},
		{"flags cleared", new(int64(4000)), []string{"1 BatchExecuteStatement 2w", "1 Scan 1r", "1 UpdateItem 1w", "1 UpdateItem 4w", "144 Query 0.5r", "2 PutEvents", "5 GetItem 1r"}},
		{"flags set", new(int64(40)), []string{"1 BatchExecuteStatement 2w", "1 Scan 1r", "1 UpdateItem 1w", "1 UpdateItem 4w", "144 Query 0.5r", "2 PutEvents", "5 GetItem 1r"}},
	} {
		if tt.days != nil {
			m.take()
			if _, err := types.SetLifetime(t.Context(), "release", tt.days); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("[UpdateItem 1w]", fmt.Sprint(m.take())); diff != "" {
				t.Errorf("%s, the change of the lifetime:\n%s", tt.name, diff)
			}
		}
		if diff := cmp.Diff(tt.want, m.invoke(t, sweep, struct{}{})); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}
