package jsonbody_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// The oracle is encoding/json: what is taken here is taken there and means the same. It is more generous; so what it made of a body,
// written again, has no duplicate keys and no lone surrogates any more and must be taken here, if it is an object and not too deep.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", "[]", `"x"`, "7", `{"a":1}`, `{"a":1,"a":2}`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}",
		"\ufeff{}", "{}{}", `{"a":1e999999999}`, `{"a":-0.0e-0}`, `{"":{"":""}}`, strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101), `{"a/b~c":1,"a/b~c":1}`,
	} {
		f.Add([]byte(seed))
	}
	schema := compile(f, []byte(`{"type":"object"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		object, err := schema.Decode(body)
		var want any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		wantErr := decoder.Decode(&want)
		if err == nil {
			if wantErr != nil || !json.Valid(body) || !utf8.Valid(body) {
				t.Fatalf("%q is taken", body)
			}
			if diff := cmp.Diff(want, any(map[string]any(object))); diff != "" {
				t.Fatalf("%q means (-want +got):\n%s", body, diff)
			}
			return
		}
		if message := refusal(t, err); !strings.HasPrefix(message, "The `/body") && !strings.HasPrefix(message, "The `[redacted]") || len(message) > 800 {
			t.Fatalf("%q is refused with %q", body, message)
		}
		if _, isObject := want.(map[string]any); wantErr != nil || !isObject {
			return
		}
		clean, wantErr := json.Marshal(want)
		if wantErr != nil {
			t.Fatal(wantErr)
		}
		if bytes.Count(clean, []byte("{"))+bytes.Count(clean, []byte("[")) > 100 {
			return // may be too deep
		}
		if _, err := schema.Decode(clean); err != nil {
			t.Fatalf("%q is refused: %v", clean, err)
		}
	})
}

// Whatever the bytes, a schema's answer is an object that keeps its promises or the 400.
func FuzzSchemas(f *testing.F) {
	for _, seed := range []string{
		`{"lifetimeDays":7}`, `{"lifetimeDays":1e2}`, `{"lifetimeDays":"abc"}`, `{"userId":1,"neverShow":true,"given":"2026-11-20T05:39:00Z"}`, `{"given":null}`,
		`{"description":"a","expiresAt":"2026-11-20T05:39:00+01:00"}`, `{"description":" ","expiresAt":"2026-02-30T05:39:00Z"}`,
	} {
		f.Add([]byte(seed))
	}
	lifetimes, feedbacks, tokens := compileFile(f, lifetime), compileFile(f, feedback), compileFile(f, token)
	f.Fuzz(func(t *testing.T, body []byte) {
		if object, err := lifetimes.Decode(body); err != nil {
			refusal(t, err)
		} else if days, ok := object.Int("lifetimeDays"); ok != (object["lifetimeDays"] != nil) || days < 0 || days > 2147483647 {
			t.Fatalf("%q: lifetimeDays %d, %t", body, days, ok)
		}
		if object, err := feedbacks.Decode(body); err != nil {
			refusal(t, err)
		} else if given := object.Time("given"); (given == nil) != (object["given"] == nil) {
			t.Fatalf("%q: given %v", body, given)
		}
		if object, err := tokens.Decode(body); err != nil {
			refusal(t, err)
		} else if text := object.Text("description"); object.Time("expiresAt") == nil || strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > 255 {
			t.Fatalf("%q: description %q, expiresAt %v", body, text, object.Time("expiresAt"))
		}
	})
}
