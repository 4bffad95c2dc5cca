package calls_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
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

// TestCallsOfReevaluation: one eventually consistent Query, half a read unit, for each shard and for each direction that a flag may change
// in: 32 of a type with a lifetime, 16 of one without. One UpdateItem for each toggle that changes, and none for those that do not: three
// write units, one for the toggle and two for its place in the index. The sweep reads all types with one Scan.
func TestCallsOfReevaluation(t *testing.T) { //nolint:tparallel // one run comes after the other
	t.Parallel()
	s := start(t)
	types := featuretype.NewStore(s.client, dynamo.TablesByID(s.DynamoDB.Tables))
	toggles := feature.NewStore(s.client, dynamo.TablesByID(s.DynamoDB.Tables))
	m := &unitMeter{}
	env := &app.Env{
		Vars: map[string]string{
			"DYNAMODB_ENDPOINT": s.DynamoDB.Endpoint, "FEATURE_TYPES_TABLE": s.DynamoDB.Tables["FeatureTypes"],
			"FEATURES_TABLE": s.DynamoDB.Tables["Features"],
		},
		AWS: s.metered(t, m), Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
	stream, err := staleness.NewReevaluateFunction(env)
	if err != nil {
		t.Fatal(err)
	}
	sweep, err := staleness.NewSweepFunction(env)
	if err != nil {
		t.Fatal(err)
	}
	invoke := func(t *testing.T, function lambda.Handler, payload []byte) []string {
		t.Helper()
		m.calls = nil
		if _, err := function.Invoke(t.Context(), payload); err != nil {
			t.Fatal(err)
		}
		return m.summed()
	}
	invoke(t, sweep, []byte(`{}`)) // the seed has toggles that are due
	// add makes due toggles of a type, all of one shard or not; set sets a type's lifetime.
	added := 0
	add := func(kind string, n int, sameShard bool) func() {
		return func() {
			for made := 0; made < n; added++ {
				name := fmt.Sprintf("of-the-calls-%05d", added)
				if sameShard && feature.Shard(name) != 0 {
					continue
				}
				made++
				if err := toggles.Create(t.Context(), feature.Feature{Name: name, Type: kind, CreatedAt: time.Now().AddDate(-1, 0, 0)}); err != nil {
					t.Error(err)
				}
			}
		}
	}
	set := func(kind string, days *int64) func() {
		return func() {
			if _, err := types.SetLifetime(t.Context(), kind, days); err != nil {
				t.Error(err)
			}
		}
	}
	for _, tt := range []struct {
		name     string
		prepare  func()
		function lambda.Handler
		event    []byte
		want     []string
	}{
		{"a sweep with nothing to do", nil, sweep, nil, []string{"1 Scan 1r", "128 Query 0.5r"}}, // three types with a lifetime, two without
		{
			"a sweep that flags a toggle", add("release", 1, false), sweep, nil,
			[]string{"1 Scan 1r", "1 UpdateItem 3w", "128 Query 0.5r"},
		},
		{
			"a sweep that unflags two toggles", set("release", new(int64(400))), sweep, nil,
			[]string{"1 Scan 1r", "128 Query 0.5r", "2 UpdateItem 3w"}, // and one of the seed's
		},

		{"the same lifetime", nil, stream, lifetimeChange("release", 40, 40), nil},
		{"nothing to flip", nil, stream, lifetimeChange("release", 40, 400), []string{"1 GetItem 1r", "32 Query 0.5r"}},
		{"nothing to flip, no lifetime", nil, stream, lifetimeChange("permission", 40), []string{"1 GetItem 1r", "16 Query 0.5r"}},
		{"no such type", nil, stream, lifetimeChange("gone", 40), []string{"1 GetItem 1r", "16 Query 0.5r"}},
		{
			"one flip", add("experiment", 1, false), stream, lifetimeChange("experiment", 50, 40),
			[]string{"1 GetItem 1r", "1 UpdateItem 3w", "32 Query 0.5r"},
		},
		{"the same record again", nil, stream, lifetimeChange("experiment", 50, 40), []string{"1 GetItem 1r", "32 Query 0.5r"}},
		{
			"two flips back", set("experiment", nil), stream, lifetimeChange("experiment", 40),
			[]string{"1 GetItem 1r", "16 Query 0.5r", "2 UpdateItem 3w"}, // the seed has one that was flagged already
		},
		{
			"three changes of a type are one", set("experiment", new(int64(40))),
			stream, lifetimeChange("experiment", 40, 50, 60, 40), []string{"1 GetItem 1r", "2 UpdateItem 3w", "32 Query 0.5r"},
		},
		{ // a page holds 80 toggles, one read unit; the 81st is on another
			"81 flips in a shard", add("operational", 81, true), stream, lifetimeChange("operational", 8, 7),
			[]string{"1 GetItem 1r", "1 Query 1r", "32 Query 0.5r", "81 UpdateItem 3w"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.prepare != nil {
				tt.prepare()
			}
			if tt.event == nil {
				tt.event = []byte(`{}`)
			}
			if diff := cmp.Diff(tt.want, invoke(t, tt.function, tt.event)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// lifetimeChange is the stream's event of a type's lifetime that changes, once or more often; at last there is none, where one alone is named.
func lifetimeChange(id string, days ...int) []byte {
	image := func(i int) map[string]any {
		item := map[string]any{"id": map[string]string{"S": id}}
		if i < len(days) {
			item["lifetimeDays"] = map[string]string{"N": fmt.Sprint(days[i])}
		}
		return item
	}
	var records []any
	for i := range max(len(days)-1, 1) {
		records = append(records, map[string]any{"eventName": "MODIFY", "dynamodb": map[string]any{
			"Keys": map[string]any{"id": map[string]string{"S": id}}, "OldImage": image(i), "NewImage": image(i + 1),
			"SequenceNumber": fmt.Sprint(i + 1), "ApproximateCreationDateTime": 1795153140,
		}})
	}
	event, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		panic(err)
	}
	return event
}
