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

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
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
	assert.OK(tb, err)
	return b
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, `
		# path | status | time | day and counts, or what the line is
		/api/admin/feature-types | 200 | 2026-11-20T00:00:00.000Z | 2026-11-20 {1 0 0}
		/api/admin/feature-types | 399 | 2026-11-20T23:59:59.999Z | 2026-11-20 {1 0 0}
		/api/admin/feature-types | 400 | 2026-11-21T00:00:00.000Z | 2026-11-21 {0 1 0}
		/api/admin/feature-types/{id}/lifetime | 499 | 2026-11-20T12:00:00.000Z | 2026-11-20 {0 1 0}
		/api/admin/feature-types | 500 | 2026-11-20T12:00:00.000Z | 2026-11-20 {0 0 1}
		/api/admin/feature-types | 599 | 1970-01-01T00:00:00.001Z | 1970-01-01 {0 0 1}
		/api/admin/feature-types | 200 | 9999-12-31T23:59:59.999Z | 9999-12-31 {1 0 0}
		/{proxy+} | 404 | 2026-11-20T12:00:00.000Z | uncounted
		/api/admin/feature-types | - | 2026-11-20T12:00:00.000Z | malformed
		/api/admin/feature-types | 199 | 2026-11-20T12:00:00.000Z | malformed
		/api/admin/feature-types | 600 | 2026-11-20T12:00:00.000Z | malformed
		/api/admin/feature-types | 200 | 1970-01-01T00:00:00.000Z | malformed
		/api/admin/feature-types | 200 | 1969-12-31T00:00:00.000Z | malformed
	`) {
		at, err := time.Parse(time.RFC3339, row[2])
		assert.OK(t, err)
		wantLine(t, line(row[0], row[1], at), row[0], row[3])
	}
	good := line(types, "200", noon())
	for _, malformed := range []string{
		"START RequestId: 1", good[:60], `{"status":"200",` + good[1:], "\xff" + good,
		line(types, "200", day(10000, 1, 1)), strings.Replace(good, `Epoch":"`, `Epoch":"-`, 1),
		`{"resourcePath":7,"status":"200","requestTimeEpoch":"1795153140123"}`,
		`{"status":"200","requestTimeEpoch":"1795153140123"}`,
	} {
		wantLine(t, malformed, "", "malformed")
	}
}

// wantLine decodes a line beside another one, of a path that is not counted.
func wantLine(t *testing.T, line, path, want string) {
	t.Helper()
	got := decode(t, message("s", event("1", line), event("2", `{"resourcePath":"/","status":"500","requestTimeEpoch":"1"}`)))
	text := map[[2]int]string{{2, 0}: "uncounted", {1, 1}: "malformed"}[[2]int{got.Uncounted, got.Malformed}]
	for _, u := range got.Usage {
		text += fmt.Sprint(u.Day.Format(time.DateOnly), " ", u.Counts)
		if u.APIPath != path {
			t.Errorf("%s has the path %s", line, u.APIPath)
		}
	}
	if text != want || got.Events != 2 {
		t.Errorf("%s: %s, want %s", line, text, want)
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
	assert.Equal(t, want, got)
}

// Events without an id cannot be recognized in a repeated delivery.
func TestEvents(t *testing.T) {
	t.Parallel()
	good := line(types, "200", noon())
	for _, row := range table.Rows(t, 2, `
		# events | distinct, malformed, repeated
		2, 1, 2, 2 | 2 0 2
		1, {"id":"2"} | 2 1 0
		1, null | 2 1 0
	`) {
		var events []string
		for id := range strings.SplitSeq(row[0], ", ") {
			if len(id) == 1 {
				id = event(id, good)
			}
			events = append(events, id)
		}
		got := decode(t, message("s", events...))
		want := []traffic.Usage{{APIPath: types, Day: day(2026, 11, 20),
			Counts: traffic.Counts{Successful: int64(got.Events - got.Malformed)}}}
		assert.Equal(t, want, got.Usage)
		assert.Equal(t, row[1], fmt.Sprint(got.Events, got.Malformed, got.Repeated))
	}
	if got := decode(t, message("s", event("1", good), event("", good))); got.Malformed != 1 {
		t.Errorf("%+v", got)
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
	for i, data := range []string{
		"", pack(good)[:len(pack(good))-5], encode([]byte(good)), encode(packed[:len(packed)-9]), encode(checksum),
		pack(good + "{}"), pack("{}"), pack(strings.Replace(good, "DATA", "OTHER", 1)), pack(message("s", "1")),
		encode(append(bomb, zip("}")...)), // more than 64 MB
		pack(`{"x":` + strings.Repeat("[", 1<<20)),
	} {
		if b, err := traffic.Decode(data, paths()); err == nil {
			t.Errorf("%d: no error: %+v", i, b)
		}
	}
}

func TestControlMessage(t *testing.T) {
	t.Parallel()
	got := decode(t, `{"messageType":"CONTROL_MESSAGE","owner":"CloudwatchLogs","logGroup":"","logStream":"",`+
		`"subscriptionFilters":[],`+
		`"logEvents":[{"id":"","timestamp":1,"message":"CWL CONTROL MESSAGE: Checking health of destination Lambda function."}]}`)
	assert.Equal(t, &traffic.Batch{}, got)
}

func TestBatchID(t *testing.T) {
	t.Parallel()
	a, b := event("a", line(types, "200", noon())), event("b", line("-", "404", noon()))
	id := decode(t, message("s", a, b)).ID
	for text, same := range map[string]bool{
		message("s", b, a): true, message("s", a, b, a): true, message("t", a, b): false, message("s", a): false,
		message("s", a, b, event("c", "x")): false,
	} {
		if got := decode(t, text).ID; (got == id) != same {
			t.Errorf("%s: %s, compared with %s", text, got, id)
		}
	}
	// SHA-256 of "s\na\nb\n". Another id would count the deliveries of the last 30 days again.
	assert.Equal(t, "MVQlj9xN1y9q7Ib3bOFMR0FzkePn8thSztvTtNdTDTs", id)
}

// The shards of stored counters depend on these values, which were computed independently.
func TestShard(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 5, "a": 4, "s": 2, "foobar": 0} {
		assert.Equal(t, want, traffic.Shard(name))
	}
}

func TestParsePaths(t *testing.T) {
	t.Parallel()
	got, err := traffic.ParsePaths(" /a/{id}\n\t/b  /a/{id} ")
	assert.OK(t, err)
	assert.Equal(t, traffic.Paths{"/a/{id}": true, "/b": true}, got)
	for _, text := range []string{" \n", "a /b", "/a b c"} {
		if got, err := traffic.ParsePaths(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
