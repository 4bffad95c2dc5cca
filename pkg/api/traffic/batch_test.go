package traffic_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/traffic"
)

const (
	types    = "/api/admin/feature-types"
	lifetime = "/api/admin/feature-types/{id}/lifetime"
)

func paths() traffic.Paths { return traffic.Paths{types: true, lifetime: true} }

// pack returns the data of a subscription event.
func pack(text string) string { return base64.StdEncoding.EncodeToString(zip(text)) }

func zip(text string) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(text)) // to memory
	_ = w.Close()
	return packed.Bytes()
}

// message returns the JSON of a delivery of one log stream.
func message(stream string, events ...string) string {
	return `{"messageType":"DATA_MESSAGE","owner":"123456789012","logGroup":"g","logStream":"` + stream +
		`","subscriptionFilters":["f"],"logEvents":[` + strings.Join(events, ",") + `]}`
}

func event(id, line string) string {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"id":%q,"timestamp":1795153140163,"message":%s}`, id, text)
}

func line(path, status string, at time.Time) string {
	return fmt.Sprintf(`{"extendedRequestId":"UKyHbGa9joEFzyQ=", "requestTimeEpoch":"%d", "resourcePath":%q, "status":%q}`,
		at.UnixMilli(), path, status)
}

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func day(year int, month time.Month, n int) time.Time {
	return time.Date(year, month, n, 0, 0, 0, 0, time.UTC)
}

func decode(tb testing.TB, text string) *traffic.Batch {
	tb.Helper()
	b, err := traffic.Decode(pack(text), paths())
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestLines(t *testing.T) {
	t.Parallel()
	today := day(2026, 11, 20)
	late := today.Add(24*time.Hour - time.Millisecond)
	counted := func(path string, at time.Time, c traffic.Counts) []traffic.Usage {
		return []traffic.Usage{{APIPath: path, Day: at, Counts: c}}
	}
	success := traffic.Counts{Successful: 1}
	for _, tt := range []struct {
		name, line string
		want       []traffic.Usage
		uncounted  bool
	}{
		{"status 200", line(types, "200", noon()), counted(types, today, success), false},
		{"status 399", line(types, "399", noon()), counted(types, today, success), false},
		{"status 400", line(types, "400", noon()), counted(types, today, traffic.Counts{ClientErrors: 1}), false},
		{"status 499", line(lifetime, "499", noon()), counted(lifetime, today, traffic.Counts{ClientErrors: 1}), false},
		{"status 500", line(types, "500", noon()), counted(types, today, traffic.Counts{ServerErrors: 1}), false},
		{"status 599", line(types, "599", noon()), counted(types, today, traffic.Counts{ServerErrors: 1}), false},
		{"last millisecond of a day", line(types, "200", late), counted(types, today, success), false},
		{"first millisecond of a day", line(types, "200", late.Add(time.Millisecond)),
			counted(types, day(2026, 11, 21), success), false},
		{"first millisecond after 1970", line(types, "200", time.UnixMilli(1)), counted(types, day(1970, 1, 1), success),
			false},
		{"last day", line(types, "200", day(10000, 1, 1).Add(-1)), counted(types, day(9999, 12, 31), success), false},

		{"path without an operation", line("/{proxy+}", "404", noon()), nil, true},

		{"not JSON", "START RequestId: 1", nil, false},
		{"truncated", line(types, "200", noon())[:60], nil, false},
		{"duplicate member", `{"status":"200",` + line(types, "200", noon())[1:], nil, false},
		{"not UTF-8", "\xff" + line(types, "200", noon()), nil, false},
		{"status -", line(types, "-", noon()), nil, false},
		{"status 199", line(types, "199", noon()), nil, false},
		{"status 600", line(types, "600", noon()), nil, false},
		{"time 0", line(types, "200", time.UnixMilli(0)), nil, false},
		{"time -", strings.Replace(line(types, "200", noon()), `Epoch":"`, `Epoch":"-`, 1), nil, false},
		{"time after the last day", line(types, "200", day(10000, 1, 1)), nil, false},
		{"path that is not a string", `{"resourcePath":7,"status":"200","requestTimeEpoch":"1795153140123"}`, nil, false},
		{"no path", `{"status":"200","requestTimeEpoch":"1795153140123"}`, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			good := event("2", line("/good", "500", noon()))
			got := decode(t, message("s", event("1", tt.line), good))
			want := &traffic.Batch{ID: got.ID, Shard: traffic.Shard("s"), Usage: tt.want, Events: 2, Uncounted: 1}
			switch {
			case tt.uncounted:
				want.Uncounted++
			case tt.want == nil:
				want.Malformed++
			}
			if want.Usage == nil {
				want.Usage = []traffic.Usage{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var events []string
	for i, status := range []string{"200", "500", "404", "302"} {
		for j, at := range []time.Time{day(2026, 12, 1), day(2026, 11, 30)} {
			events = append(events, event(fmt.Sprint(i, j), line(lifetime, status, at)))
		}
	}
	got := decode(t, message("s", append(events, event("last", line(types, "500", day(2026, 12, 1))))...)).Usage
	each := traffic.Counts{Successful: 2, ClientErrors: 1, ServerErrors: 1}
	want := []traffic.Usage{
		{APIPath: types, Day: day(2026, 12, 1), Counts: traffic.Counts{ServerErrors: 1}},
		{APIPath: lifetime, Day: day(2026, 11, 30), Counts: each}, {APIPath: lifetime, Day: day(2026, 12, 1), Counts: each},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Events without an id cannot be recognized in a repeated delivery.
func TestEvents(t *testing.T) {
	t.Parallel()
	good := line(types, "200", noon())
	for _, tt := range []struct {
		name   string
		events []string
		want   traffic.Batch
	}{
		{"repeated", []string{event("2", good), event("1", good), event("2", good), event("2", good)},
			traffic.Batch{Events: 2, Repeated: 2}},
		{"no message", []string{event("1", good), `{"id":"2"}`}, traffic.Batch{Events: 2, Malformed: 1}},
		{"no id", []string{event("1", good), event("", good)}, traffic.Batch{Events: 2, Malformed: 1}},
		{"null", []string{event("1", good), `null`}, traffic.Batch{Events: 2, Malformed: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, message("s", tt.events...))
			requests := int64(tt.want.Events - tt.want.Malformed)
			tt.want.ID, tt.want.Shard = got.ID, traffic.Shard("s")
			tt.want.Usage = []traffic.Usage{{APIPath: types, Day: day(2026, 11, 20),
				Counts: traffic.Counts{Successful: requests}}}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidDeliveries(t *testing.T) {
	t.Parallel()
	good := message("s", event("1", line(types, "200", noon())))
	packed := zip(good)
	encode := base64.StdEncoding.EncodeToString
	checksum := slices.Clone(packed)
	checksum[len(checksum)-8]++
	bomb := append(zip(good[:len(good)-1]), bytes.Repeat(zip(strings.Repeat(" ", 1<<20)), 65)...)
	for name, data := range map[string]string{
		"empty":               "",
		"truncated base64":    pack(good)[:len(pack(good))-5],
		"not gzip":            encode([]byte(good)),
		"truncated gzip":      encode(packed[:len(packed)-9]),
		"wrong checksum":      encode(checksum),
		"data after the JSON": pack(good + "{}"),
		"no type":             pack("{}"),
		"unknown type":        pack(strings.Replace(good, "DATA", "OTHER", 1)),
		"event not an object": pack(message("s", "1")),
		"more than 64 MB":     encode(append(bomb, zip("}")...)),
		"nested too deep":     pack(`{"x":` + strings.Repeat("[", 1<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if b, err := traffic.Decode(data, paths()); err == nil {
				t.Errorf("no error: %+v", b)
			}
		})
	}
}

func TestControlMessage(t *testing.T) {
	t.Parallel()
	got := decode(t, `{"messageType":"CONTROL_MESSAGE","owner":"CloudwatchLogs","logGroup":"","logStream":"",`+
		`"subscriptionFilters":[],`+
		`"logEvents":[{"id":"","timestamp":1,"message":"CWL CONTROL MESSAGE: Checking health of destination Lambda function."}]}`)
	if diff := cmp.Diff(&traffic.Batch{}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBatchID(t *testing.T) {
	t.Parallel()
	a, b := event("a", line(types, "200", noon())), event("b", line("-", "404", noon()))
	id := decode(t, message("s", a, b)).ID
	for name, tt := range map[string]struct {
		text string
		same bool
	}{
		"same delivery":  {message("s", a, b), true},
		"other order":    {message("s", b, a), true},
		"event repeated": {message("s", a, b, a), true},
		"other stream":   {message("t", a, b), false},
		"fewer events":   {message("s", a), false},
		"more events":    {message("s", a, b, event("c", "x")), false},
	} {
		if got := decode(t, tt.text).ID; (got == id) != tt.same {
			t.Errorf("%s: %s, compared with %s", name, got, id)
		}
	}
	// SHA-256 of "s\na\nb\n". Another id would count the deliveries of the last 30 days again.
	if want := "MVQlj9xN1y9q7Ib3bOFMR0FzkePn8thSztvTtNdTDTs"; id != want {
		t.Errorf("the id is %s, want %s", id, want)
	}
}

// The shards of stored counters depend on these values, which were computed independently.
func TestShard(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 5, "a": 4, "s": 2, "foobar": 0} {
		if got := traffic.Shard(name); got != want {
			t.Errorf("Shard(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestParsePaths(t *testing.T) {
	t.Parallel()
	got, err := traffic.ParsePaths(" /a/{id}\n\t/b  /a/{id} ")
	if diff := cmp.Diff(traffic.Paths{"/a/{id}": true, "/b": true}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{" \n", "a /b", "/a b c"} {
		if got, err := traffic.ParsePaths(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
