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
	"toggleadmin/test/helper/assert"
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

// day returns the beginning of a day of 2026.
func day(month time.Month, n int) time.Time {
	return time.Date(2026, month, n, 0, 0, 0, 0, time.UTC)
}

// usage returns the requests of a path on a day, such as 2026-11-20.
func usage(path, date string, successful, clientErrors, serverErrors int64) traffic.Usage {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return traffic.Usage{
		APIPath: path,
		Day:     at,
		Counts:  traffic.Counts{Successful: successful, ClientErrors: clientErrors, ServerErrors: serverErrors},
	}
}

func decode(tb testing.TB, text string) *traffic.Batch {
	tb.Helper()
	b, err := traffic.Decode(pack(text), paths())
	assert.OK(tb, err)
	return b
}

func TestLines(t *testing.T) {
	t.Parallel()
	const types, noon = `"resourcePath":"/api/admin/feature-types"`, `"requestTimeEpoch":"1795176000000"`
	for _, test := range []struct {
		line string
		want string // the day and the counts, or what the line is
	}{
		{`{` + types + `,"requestTimeEpoch":"1795132800000","status":"200"}`, "2026-11-20 {1 0 0}"},
		{`{` + types + `,"requestTimeEpoch":"1795219199999","status":"399"}`, "2026-11-20 {1 0 0}"},
		{`{` + types + `,"requestTimeEpoch":"1795219200000","status":"400"}`, "2026-11-21 {0 1 0}"},
		{`{` + types + `,` + noon + `,"status":"499","x":"y"}`, "2026-11-20 {0 1 0}"},
		{`{` + types + `,` + noon + `,"status":"500"}`, "2026-11-20 {0 0 1}"},
		{`{` + types + `,"requestTimeEpoch":"1","status":"599"}`, "1970-01-01 {0 0 1}"},
		{`{` + types + `,"requestTimeEpoch":"253402300799999","status":"200"}`, "9999-12-31 {1 0 0}"},
		{`{"resourcePath":"/{proxy+}",` + noon + `,"status":"404"}`, "uncounted"},
		{`START RequestId: 1`, "malformed"},
		{`{` + types + `,` + noon + `,"status":"-"}`, "malformed"},
		{`{` + types + `,` + noon + `,"status":"199"}`, "malformed"},
		{`{` + types + `,` + noon + `,"status":"600"}`, "malformed"},
		{`{` + types + `,"requestTimeEpoch":"0","status":"200"}`, "malformed"},
		{`{` + types + `,"requestTimeEpoch":"-86400000","status":"200"}`, "malformed"},
		{`{` + types + `,"requestTimeEpoch":"253402300800000","status":"200"}`, "malformed"},
		{`{"resourcePath":7,` + noon + `,"status":"200"}`, "malformed"},
		{`{` + noon + `,"status":"200"}`, "malformed"},
		{`{` + types + `,` + noon + `,"status":"200"`, "malformed"},
		{`{` + types + `,` + noon + `,"status":"200","status":"200"}`, "malformed"},
		{`{` + types + `,` + noon + `,"status":"200"}` + "\xff", "malformed"},
	} {
		got := decode(t, message("s", event("1", test.line)))
		text := map[[2]int]string{{1, 0}: "uncounted", {0, 1}: "malformed"}[[2]int{got.Uncounted, got.Malformed}]
		for _, u := range got.Usage {
			text += fmt.Sprint(u.Day.Format(time.DateOnly), " ", u.Counts)
		}
		if text != test.want || got.Events != 1 {
			t.Errorf("%s: %s, want %s", test.line, text, test.want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var events []string
	for i, status := range []string{"200", "500", "404", "302"} {
		for j, at := range []time.Time{day(12, 1), day(11, 30)} {
			events = append(events, event(fmt.Sprint(i, j), line(lifetime, status, at)))
		}
	}
	got := decode(t, message("s", append(events, event("last", line(types, "500", day(12, 1))))...)).Usage
	assert.Equal(t, []traffic.Usage{
		usage("/api/admin/feature-types", "2026-12-01", 0, 0, 1),
		usage("/api/admin/feature-types/{id}/lifetime", "2026-11-30", 2, 1, 1),
		usage("/api/admin/feature-types/{id}/lifetime", "2026-12-01", 2, 1, 1),
	}, got)
}

// Events without an id cannot be recognized in a repeated delivery.
func TestEvents(t *testing.T) {
	t.Parallel()
	good := line(types, "200", noon())
	for _, test := range []struct {
		events                        []string
		distinct, malformed, repeated int
		counted                       int64
	}{
		{[]string{event("2", good), event("1", good), event("2", good), event("2", good)}, 2, 0, 2, 2},
		{[]string{event("1", good), `{"id":"2"}`}, 2, 1, 0, 1},
		{[]string{event("1", good), event("", good)}, 2, 1, 0, 1},
		{[]string{event("1", good), "null"}, 2, 1, 0, 1},
	} {
		got := decode(t, message("s", test.events...))
		want := []traffic.Usage{usage("/api/admin/feature-types", "2026-11-20", test.counted, 0, 0)}
		assert.Equal(t, want, got.Usage)
		assert.Equal(t, []int{test.distinct, test.malformed, test.repeated},
			[]int{got.Events, got.Malformed, got.Repeated})
	}
}

func TestInvalidDeliveries(t *testing.T) {
	t.Parallel()
	good := message("s", event("1", line(types, "200", noon())))
	packed := zip(good)
	encode := base64.StdEncoding.EncodeToString
	checksum := slices.Clone(packed)
	checksum[len(checksum)-8]++
	for i, data := range []string{
		"", pack(good)[:len(pack(good))-5], encode([]byte(good)), encode(packed[:len(packed)-9]), encode(checksum),
		pack(good + "{}"), pack("{}"), pack(strings.Replace(good, "DATA", "OTHER", 1)), pack(message("s", "1")),
		pack(`{"x":` + strings.Repeat("[", 1<<20)),
	} {
		if b, err := traffic.Decode(data, paths()); err == nil {
			t.Errorf("%d: no error: %+v", i, b)
		}
	}
}

// A delivery of more than 64 MB is refused, however small it is when it is compressed.
func TestLargeDelivery(t *testing.T) {
	if testing.Short() {
		t.Skip("it decompresses 64 MB")
	}
	t.Parallel()
	good := message("s", event("1", line(types, "200", noon())))
	large := append(zip(good[:len(good)-1]), bytes.Repeat(zip(strings.Repeat(" ", 1<<20)), 65)...)
	if b, err := traffic.Decode(base64.StdEncoding.EncodeToString(append(large, zip("}")...)), paths()); err == nil {
		t.Errorf("no error: %+v", b)
	}
}

func TestControlMessage(t *testing.T) {
	t.Parallel()
	got := decode(t, strings.Replace(message("", event("", "CWL CONTROL MESSAGE")), "DATA_", "CONTROL_", 1))
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
