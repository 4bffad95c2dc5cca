package e2e_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// function returns a function that receives events. Its calls are counted for meter, and its clock stands still.
func (s *service) function(t *testing.T, name, meter string, now time.Time) lambda.Handler {
	t.Helper()
	env := &app.Env{
		Vars: map[string]string{
			"DYNAMODB_ENDPOINT": s.DynamoDBEndpoint, "FEATURE_TYPES_TABLE": s.tables["FeatureTypes"],
			"FEATURES_TABLE":               s.tables["Features"],
			"PERSONAL_ACCESS_TOKENS_TABLE": s.tables["PersonalAccessTokens"], "EVENTS_TABLE": s.tables["Events"],
			"EVENT_LOG_DAYS": "400", "SEGMENTS_TABLE": s.tables["Segments"], "ENVIRONMENTS_TABLE": s.tables["Environments"],
			"SNAPSHOTS_TABLE": s.tables["Snapshots"], "USAGE_TABLE": s.tables["Usage"], "TRAFFIC_TABLE": s.tables["Traffic"],
			"CLIENT_TOKENS_TABLE": s.tables["ClientTokens"], "CHANGE_REQUESTS_TABLE": s.tables["ChangeRequests"],
			"ACCESS_TABLE": s.tables["Access"], "USERS_TABLE": s.tables["Users"], "API_TOKENS_TABLE": s.tables["ApiTokens"],
			"CONTEXT_FIELDS_TABLE": s.tables["ContextFields"], "GROUPS_MAX_AGE_DAYS": "30",
		},
		AWS: s.config(t), Now: func() time.Time { return now }, Random: rand.Reader,
		Logger: slog.New(slog.DiscardHandler),
	}
	env.AWS.APIOptions = s.meter.options(meter)
	handler, err := local.Constructor(name)(env)
	assert.OK(t, err)
	return handler
}

// invoke returns the calls of one invocation, sorted.
func (s *service) invoke(t *testing.T, function lambda.Handler, event any) string {
	t.Helper()
	payload, err := json.Marshal(event)
	assert.OK(t, err)
	s.meter.take()
	_, err = function.Invoke(t.Context(), payload)
	assert.OK(t, err)
	var calls []string
	for _, c := range s.meter.take() {
		if !errors.Is(c.Err, context.DeadlineExceeded) { // otherwise the function repeats it: the machine is busy
			calls = append(calls, c.String())
		}
	}
	slices.Sort(calls)
	return summarize(calls)
}

// A type with a lifetime takes 32 eventually consistent queries of half a read unit (16 shards, two directions), one
// without takes 16. The flags of a page change in one transaction with their events. Each takes two units for the
// toggle, two for its index entry, two for its event and one for the event's index entry. The sweep lists the types
// with one Scan. Each type is read once per second.
func TestCallsOfReevaluation(t *testing.T) {
	t.Parallel()
	s := start(t)
	client := s.client(t)
	log := eventlog.New(client, s.tables, time.Now, 400)
	types, toggles := featuretype.NewStore(client, s.tables, log),
		feature.NewStore(client, s.tables, eventlog.Discard(client, time.Now))
	stream := s.function(t, "reevaluate-staleness", "", time.Now())
	// A second later: otherwise both can issue the same id of an event, and one of the writes fails.
	sweep := s.function(t, "sweep-staleness", "", time.Now().Add(time.Second))
	change := func(id string, from, to int) any { // the event of a changed lifetime
		return json.RawMessage(fmt.Sprintf(`{"Records":[{"eventName":"MODIFY","dynamodb":{"Keys":{"id":{"S":%q}},
			"OldImage":{"id":{"S":%[1]q},"lifetimeDays":{"N":"%d"}},"NewImage":{"id":{"S":%[1]q},"lifetimeDays":{"N":"%[3]d"}},
			"SequenceNumber":"1","ApproximateCreationDateTime":1795153140}}]}`, id, from, to))
	}
	want := func(function lambda.Handler, event any, want string) {
		t.Helper()
		assert.Equal(t, want, s.invoke(t, function, event))
	}
	s.invoke(t, sweep, struct{}{}) // flags the seeded toggles
	// Three of the default types have a lifetime.
	want(sweep, struct{}{}, "5 GetItem 1r, 128 Query 0.5r, Scan 1r")
	want(stream, change("release", 41, 40), "GetItem 1r, 32 Query 0.5r")
	want(stream, change("permission", 1, 2), "GetItem 1r, 16 Query 0.5r")
	for i := range 2 {
		old := toggle.Feature{Name: fmt.Sprint("usage", i), Project: "default", Type: "release", CreatedAt: time.Now().AddDate(-1, 0, 0)}
		_, err := toggles.Create(t.Context(), old)
		assert.OK(t, err)
	}
	want(stream, change("release", 41, 40), "GetItem 1r, 32 Query 0.5r, 2 TransactWriteItems 4w+3w")
	_, err := types.SetLifetime(t.Context(), "release", new(int64(4000)))
	assert.OK(t, err)
	// A seeded toggle of the type had its flag set, too.
	want(sweep, struct{}{}, "5 GetItem 1r, 128 Query 0.5r, Scan 1r, 3 TransactWriteItems 4w+3w")
}
