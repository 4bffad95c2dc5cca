package jsonbody_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/lambdahttp"
)

// anything takes every object; its member n must be an integer.
const anything = `{"type":"object","properties":{"n":{"type":"integer"}}}`

// The bodies here are valid JSON within the size that the API takes, made to cost more than they weigh. Not parallel: it measures what
// the whole process allocates.
func TestAHostileBodyCostsNeitherTimeNorMemory(t *testing.T) {
	const mostBytes, mostTime = 64 << 20, 2 * time.Second
	size := lambdahttp.MaxBody
	fill := func(before, unit, after string) string {
		return before + strings.Repeat(unit, (size-len(before)-len(after)-2)/len(unit)) + after
	}
	schema := compile(t, []byte(anything))
	for _, tt := range []struct{ name, body string }{
		{"a huge exponent", `{"n":1e999999999}`},
		{"a tiny exponent", `{"n":1e-999999999}`},
		{"a huge exponent of zero", `{"n":0e999999999}`},
		{"an exponent beyond 64 bits", `{"n":1e99999999999999999999999}`},
		{"a huge exponent in a member that nobody reads", `{"x":1e999999999}`},
		{"100,000 digits", `{"n":` + strings.Repeat("9", 100_000) + `}`},
		{"100,000 decimals", `{"n":0.` + strings.Repeat("0", 100_000) + `1}`},
		{"an exponent of 100,000 digits", `{"n":1e` + strings.Repeat("9", 100_000) + `}`},
		{"numbers under a long name", fill(`{"`+strings.Repeat("a", 50_000)+`":[`, "1e1,", "1]}")},
		{"a long name in every level", strings.Repeat(`{"`+strings.Repeat("a", 1000)+`":`, 99) + "[1e1,1e1]" + strings.Repeat("}", 99)},
		{"many members", fill(`{`, `"a":1,`, `"b":1}`)},
		{"many brackets", strings.Repeat("[", size)},
		{"half of a JWT, again and again", fill(`{"n":"`, "eyJ", `"}`)},
		{"half of a token, again and again", fill(`{"n":"`, "v2_ ", `"}`)},
		{"percent signs, again and again", fill(`{"n":"%`, "25", `"}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.body) > size+10 {
				t.Fatalf("the body has %d bytes", len(tt.body))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			started := time.Now()
			_, _ = schema.Decode([]byte(tt.body))
			took := time.Since(started)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > mostBytes {
				t.Errorf("allocates %d bytes", got)
			}
			if took > mostTime {
				t.Errorf("takes %v", took)
			}
		})
	}
}
