package traffic_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/traffic"
)

const (
	types    = "/api/admin/feature-types"
	lifetime = "/api/admin/feature-types/{id}/lifetime"
)

func paths(tb testing.TB) traffic.Paths {
	tb.Helper()
	p, err := traffic.ParsePaths(types + "\n" + lifetime)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// pack makes the data of a subscription's event.
func pack(text string) string { return base64.StdEncoding.EncodeToString(zip(text)) }

func zip(text string) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(text)) // to memory
	_ = w.Close()
	return packed.Bytes()
}

// bomb packs a text and a filling that follows it, one byte for 65 MB.
func bomb(text, filling string) string {
	return base64.StdEncoding.EncodeToString(append(zip(text), bytes.Repeat(zip(strings.Repeat(filling, 1<<20)), 65)...))
}

// message is the JSON of a delivery of one log stream.
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
	return fmt.Sprintf(`{"extendedRequestId":"UKyHbGa9joEFzyQ=", "requestTimeEpoch":"%d", "httpMethod":"GET", "resourcePath":%q, "status":%q}`,
		at.UnixMilli(), path, status)
}

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func day(year int, month time.Month, n int) time.Time {
	return time.Date(year, month, n, 0, 0, 0, 0, time.UTC)
}

func decode(tb testing.TB, data string) *traffic.Batch {
	tb.Helper()
	b, err := traffic.Decode(data, paths(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestSampleEvent(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../events/record-traffic.json")
	if err != nil {
		t.Fatal(err)
	}
	var sample struct{ AWSLogs struct{ Data string } }
	if err := json.Unmarshal(content, &sample); err != nil {
		t.Fatal(err)
	}
	got := decode(t, sample.AWSLogs.Data)
	want := &traffic.Batch{ID: got.ID, Shard: got.Shard, Events: 6, Uncounted: 3, Requests: got.Requests}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	at := day(2026, 11, 20)
	usage := []traffic.Usage{
		{APIPath: types, Day: at, Counts: traffic.Counts{Successful: 1, ClientErrors: 1}},
		{APIPath: lifetime, Day: at, Counts: traffic.Counts{ClientErrors: 1}},
	}
	if diff := cmp.Diff(usage, traffic.Tally(got.Requests)); diff != "" {
		t.Error(diff)
	}
}

// TestLines: which line counts, as what, and which is none.
func TestLines(t *testing.T) {
	t.Parallel()
	counted := func(path string, at time.Time, group traffic.Group) []traffic.Request {
		return []traffic.Request{{Event: "1", APIPath: path, Day: at, Group: group}}
	}
	late := time.Date(2026, 11, 20, 23, 59, 59, 999_000_000, time.UTC)
	for _, tt := range []struct {
		name, line string
		want       []traffic.Request
		uncounted  bool
	}{
		{"200", line(types, "200", noon()), counted(types, day(2026, 11, 20), traffic.Successful), false},
		{"399", line(types, "399", noon()), counted(types, day(2026, 11, 20), traffic.Successful), false},
		{"400", line(types, "400", noon()), counted(types, day(2026, 11, 20), traffic.ClientError), false},
		{"499", line(lifetime, "499", noon()), counted(lifetime, day(2026, 11, 20), traffic.ClientError), false},
		{"500", line(types, "500", noon()), counted(types, day(2026, 11, 20), traffic.ServerError), false},
		{"599", line(types, "599", noon()), counted(types, day(2026, 11, 20), traffic.ServerError), false},
		{"the day's last millisecond", line(types, "200", late), counted(types, day(2026, 11, 20), traffic.Successful), false},
		{"the next day's first", line(types, "200", late.Add(time.Millisecond)), counted(types, day(2026, 11, 21), traffic.Successful), false},
		{"a leap day", line(types, "200", day(2028, 2, 29)), counted(types, day(2028, 2, 29), traffic.Successful), false},
		{"the year's end", line(types, "200", day(2027, 1, 1).Add(-1)), counted(types, day(2026, 12, 31), traffic.Successful), false},
		{"the last day of all", line(types, "200", day(10000, 1, 1).Add(-1)), counted(types, day(9999, 12, 31), traffic.Successful), false},
		{"numbers", `{"resourcePath":"` + types + `","status":200,"requestTimeEpoch":1795153140123}`, counted(types, day(2026, 11, 20), traffic.Successful), false},
		{"an escaped path", `{"resourcePath":"\/api\/admin\/feature-types","status":"200","requestTimeEpoch":"1795153140123"}`, counted(types, day(2026, 11, 20), traffic.Successful), false},
		{"a line break at the end", line(types, "200", noon()) + "\n", counted(types, day(2026, 11, 20), traffic.Successful), false},
		{"more members", `{"x":[{"y":null}],` + line(types, "200", noon())[1:], counted(types, day(2026, 11, 20), traffic.Successful), false},

		{"no resource", line("-", "404", noon()), nil, true},
		{"no operation", line("/{proxy+}", "404", noon()), nil, true},
		{"letter case", line("/API/admin/feature-types", "404", noon()), nil, true},
		{"a text that is not UTF-8", "\xff" + line(types, "200", noon()), nil, false},

		{"nothing", "", nil, false},
		{"no JSON", "START RequestId: 1", nil, false},
		{"an array", `[` + line(types, "200", noon()) + `]`, nil, false},
		{"two objects", line(types, "200", noon()) + line(types, "200", noon()), nil, false},
		{"cut off", line(types, "200", noon())[:60], nil, false},
		{"a member twice", `{"status":"200",` + line(types, "200", noon())[1:], nil, false},
		{"no status", line(types, "-", noon()), nil, false},
		{"an empty status", line(types, "", noon()), nil, false},
		{"a status below 200", line(types, "199", noon()), nil, false},
		{"a status above 599", line(types, "600", noon()), nil, false},
		{"a negative status", line(types, "-200", noon()), nil, false},
		{"a broken status", line(types, "2e2", noon()), nil, false},
		{"a long status", line(types, strings.Repeat("0", 400)+"200", noon()), nil, false},
		{"the time 0", line(types, "200", time.UnixMilli(0)), nil, false},
		{"before the time 0", line(types, "200", day(1969, 12, 31)), nil, false},
		{"after the last day of all", line(types, "200", day(10000, 1, 1)), nil, false},
		{"a path that is no text", `{"resourcePath":7,"status":"200","requestTimeEpoch":"1795153140123"}`, nil, false},
		{"without a path", `{"status":"200","requestTimeEpoch":"1795153140123"}`, nil, false},
		{"without a time", `{"resourcePath":"` + types + `","status":"200"}`, nil, false},
		{"nested deep", strings.Repeat("[", 20_000), nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			good := event("2", line(lifetime, "500", noon()))
			got := decode(t, pack(message("s", event("1", tt.line), good)))
			rest := traffic.Request{Event: "2", APIPath: lifetime, Day: day(2026, 11, 20), Group: traffic.ServerError}
			if diff := cmp.Diff(append(slices.Clone(tt.want), rest), got.Requests); diff != "" {
				t.Error(diff)
			}
			uncounted, malformed := 0, 0
			switch {
			case tt.uncounted:
				uncounted = 1
			case tt.want == nil:
				malformed = 1
			}
			if got.Events != 2 || got.Uncounted != uncounted || got.Malformed != malformed || got.Repeated != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestEvents: what is no event of CloudWatch Logs harms no other.
func TestEvents(t *testing.T) {
	t.Parallel()
	ok := line(types, "200", noon())
	text, err := json.Marshal(ok)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, event                            string
		events, requests, malformed, uncounted int
	}{
		{"usual", event("1", ok), 2, 2, 0, 0},
		{"unknown members", `{"extractedFields":{"a":[]},"id":"1","message":` + string(text) + `,"ingestionTime":7}`, 2, 2, 0, 0},
		{"the id last", `{"message":` + string(text) + `,"id":"1"}`, 2, 2, 0, 0},
		{"no id", `{"message":` + string(text) + `}`, 2, 2, 0, 0},
		{"an id that is no text", `{"id":7,"message":` + string(text) + `}`, 2, 2, 0, 0},
		{"a huge id", event(strings.Repeat("9", 10_000), ok), 2, 2, 0, 0},
		{"the good one's id", event("good", ok), 1, 1, 0, 0},
		{"no message", `{"id":"1"}`, 2, 1, 1, 0},
		{"a message that is no text", `{"id":"1","message":{}}`, 2, 1, 1, 0},
		{"null", `null`, 2, 1, 1, 0},
		{"a text", `"x"`, 2, 1, 1, 0},
		{"an array", `[1]`, 2, 1, 1, 0},
		{"an empty object", `{}`, 2, 1, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, pack(message("s", tt.event, event("good", ok))))
			if got.Events != tt.events || len(got.Requests) != tt.requests || got.Malformed != tt.malformed || got.Uncounted != tt.uncounted ||
				got.Repeated != 2-tt.events {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestBrokenDeliveries: of what is not whole, nothing counts.
func TestBrokenDeliveries(t *testing.T) {
	t.Parallel()
	good := message("s", event("1", line(types, "200", noon())))
	whole := pack(good)
	packed, err := base64.StdEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	checksum := slices.Clone(packed)
	checksum[len(checksum)-8]++
	for name, data := range map[string]string{
		"nothing":                "",
		"no base64":              "%" + whole,
		"base64 cut off":         whole[:len(whole)-5],
		"no gzip":                encode([]byte(good)),
		"gzip cut off":           encode(packed[:len(packed)-9]),
		"a wrong checksum":       encode(checksum),
		"more behind the gzip":   encode(append(slices.Clone(packed), "x"...)),
		"no JSON":                pack("x"),
		"JSON cut off":           pack(good[:len(good)-1]),
		"more behind the JSON":   pack(good + "{}"),
		"an array":               pack("[]"),
		"null":                   pack("null"),
		"no type":                pack("{}"),
		"an unknown type":        pack(strings.Replace(good, "DATA", "OTHER", 1)),
		"a type that is no text": pack(`{"messageType":1}`),
		"events that are none":   pack(`{"messageType":"DATA_MESSAGE","logEvents":{}}`),
		"events twice":           pack(good[:len(good)-1] + `,"logEvents":[]}`),
		"a bomb of white space":  bomb("", " "),
		"a bomb of one text":     bomb(`{"messageType":"DATA_MESSAGE","logEvents":[{"id":"1","message":"`, "x"),
		"a bomb behind a batch":  bomb(good, " "),
		"a bomb of events":       pack(message("s", strings.Repeat("1,", 250_000)+"1")),
		"a bomb of depth":        pack(`{"x":` + strings.Repeat("[", 1<<20)),
		"a bomb in a bomb":       pack(bomb("", " ")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if b, err := traffic.Decode(data, paths(t)); err == nil {
				t.Errorf("it was read: %+v", b)
			} else if len(err.Error()) > 500 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestControlMessage(t *testing.T) {
	t.Parallel()
	got := decode(t, pack(`{"messageType":"CONTROL_MESSAGE","owner":"CloudwatchLogs","logGroup":"","logStream":"","subscriptionFilters":[],`+
		`"logEvents":[{"id":"","timestamp":1,"message":"CWL CONTROL MESSAGE: Checking health of destination Lambda function."}]}`))
	if diff := cmp.Diff(&traffic.Batch{}, got); diff != "" {
		t.Error(diff)
	}
}

// TestBatchID: the same events of the same log stream, and nothing else.
func TestBatchID(t *testing.T) {
	t.Parallel()
	a, b := event("a", line(types, "200", noon())), event("b", line("-", "404", noon()))
	id := decode(t, pack(message("s", a, b))).ID
	for name, tt := range map[string]struct {
		text string
		same bool
	}{
		"again":             {message("s", a, b), true},
		"in another order":  {message("s", b, a), true},
		"an event repeated": {message("s", a, b, a), true},
		"another stream":    {message("t", a, b), false},
		"less":              {message("s", a), false},
		"more":              {message("s", a, b, event("c", "x")), false},
	} {
		if got := decode(t, pack(tt.text)).ID; (got == id) != tt.same {
			t.Errorf("%s: %s beside %s", name, got, id)
		}
	}
}

func TestParsePaths(t *testing.T) {
	t.Parallel()
	got, err := traffic.ParsePaths(" /a/{id}\n\t/b  /a/{id} ")
	if diff := cmp.Diff(traffic.Paths{"/a/{id}": "/a/{id}", "/b": "/b"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"", " \n", "a /b", "/a,b c"} {
		if got, err := traffic.ParsePaths(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	var requests []traffic.Request
	for i, group := range []traffic.Group{traffic.Successful, traffic.ServerError, traffic.ClientError, traffic.Successful} {
		for _, at := range []time.Time{day(2026, 12, 1), day(2026, 11, 30)} {
			requests = append(requests, traffic.Request{Event: fmt.Sprint(i), APIPath: lifetime, Day: at, Group: group})
		}
	}
	requests = append(requests, traffic.Request{APIPath: types, Day: day(2026, 12, 1), Group: traffic.ServerError})
	each := traffic.Counts{Successful: 2, ClientErrors: 1, ServerErrors: 1}
	want := []traffic.Usage{
		{APIPath: types, Day: day(2026, 12, 1), Counts: traffic.Counts{ServerErrors: 1}},
		{APIPath: lifetime, Day: day(2026, 11, 30), Counts: each}, {APIPath: lifetime, Day: day(2026, 12, 1), Counts: each},
	}
	if diff := cmp.Diff(want, traffic.Tally(requests), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// FuzzDecode: any data is read or refused, without panic, and a batch's numbers hold together.
func FuzzDecode(f *testing.F) {
	good := message("s", event("1", line(types, "200", noon())), event("2", "x"), event("3", line("-", "404", noon())))
	for _, text := range []string{good, "{}", "[", message("s", "null", `{"id":"1"}`), strings.Replace(good, "DATA", "CONTROL", 1)} {
		f.Add([]byte(text), true)
	}
	f.Add([]byte(pack(good)), false)
	f.Add([]byte("H4sIAAAAAAAA/wMAAAAAAAAAAAA="), false)
	f.Fuzz(func(t *testing.T, text []byte, plain bool) {
		data := string(text)
		if plain { // what is behind base64 and gzip is not found by chance
			data = pack(data)
		}
		b, err := traffic.Decode(data, paths(t))
		if err != nil {
			return
		}
		if b.Events != len(b.Requests)+b.Uncounted+b.Malformed || b.Repeated < 0 || b.Shard < 0 || b.Shard >= traffic.Shards {
			t.Errorf("%+v", b)
		}
		total := int64(0)
		for _, u := range traffic.Tally(b.Requests) {
			total += u.Counts.Successful + u.Counts.ClientErrors + u.Counts.ServerErrors
			if u.Day.Truncate(24*time.Hour) != u.Day || u.Day.Year() < 1970 || u.Day.Year() > 9999 || paths(t)[u.APIPath] == "" {
				t.Errorf("%+v", u)
			}
		}
		if total != int64(len(b.Requests)) {
			t.Errorf("%d requests, %d counted", len(b.Requests), total)
		}
		again, err := traffic.Decode(data, paths(t))
		if diff := cmp.Diff(b, again); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}
