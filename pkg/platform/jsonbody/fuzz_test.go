package jsonbody_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A body that is accepted is valid for encoding/json, with the same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", `{"a":1,"a":2}`, `{"a":{"b":[1e2,{"c":null}]}}`, `{"a":"\ud83d\ude00"}`,
		"{\"a\":\"\xff\"}", "\ufeff{}", "{}{}"} {
		f.Add([]byte(seed))
	}
	schema := compile(f, `{"type":"object"}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		object, err := schema.Decode(body)
		if err != nil {
			if got := message(t, err); !strings.HasPrefix(got, "The `/body") || len(got) > 800 {
				t.Fatalf("%q: message %q", body, got)
			}
			return
		}
		var want map[string]any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil || !utf8.Valid(body) || decoder.More() {
			t.Fatalf("%q is accepted: %v", body, err)
		}
		if diff := cmp.Diff(want, map[string]any(object)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", body, diff)
		}
	})
}

// An integer has the exact value, as big.Rat computes it.
func FuzzIntegers(f *testing.F) {
	for _, seed := range []string{"0", "-0.0", "1.50e1", "100e-2", "1e-1", "1E+19", "9223372036854775807.0e0"} {
		f.Add(seed)
	}
	syntax := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$`)
	schema := compile(f, integers)
	f.Fuzz(func(t *testing.T, number string) {
		exact, ok := new(big.Rat).SetString(number)
		if !syntax.MatchString(number) || !ok {
			return
		}
		object, err := schema.Decode([]byte(`{"n":` + number + `}`))
		if (err == nil) != exact.IsInt() {
			t.Fatalf("%s is an integer: %t; error %v", number, exact.IsInt(), err)
		}
		if got, _ := object.Int("n"); err == nil && exact.Num().IsInt64() && got != exact.Num().Int64() {
			t.Fatalf("%s is %d", number, got)
		}
	})
}
