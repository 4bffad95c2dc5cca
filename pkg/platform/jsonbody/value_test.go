package jsonbody_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/helper/assert"
)

func TestIntegers(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 1000)
	for want, numbers := range map[int64][]string{
		0:                 {"0", "-0", "-0.0e-5", "0e999999999"},
		7:                 {"7", "7.0", "0.00007e5", "7." + zeros, "0." + zeros + "7e1001", "7" + zeros + "e-1000"},
		-1:                {"-1.00"},
		100:               {"1e2", "1E+2"},
		15:                {"1.50e1", "150e-1"},
		-1200:             {"-12e" + zeros + "2"},
		math.MaxInt64 - 1: {"9.223372036854775806e18"},
		math.MaxInt64:     {"9223372036854775807", "9223372036854775808", "1e19", "1e999999999", "1" + zeros},
		math.MinInt64:     {"-9223372036854775808.0", "-1e19", "-1e99999999999999999999"},
	} {
		for _, number := range numbers {
			object, err := compile(t, integers).Decode([]byte(`{"n":` + number + `}`))
			if got, ok := object.Int("n"); err != nil || !ok || got != want {
				t.Errorf("%.30s: %d, %t, %v, want %d", number, got, ok, err, want)
			}
		}
	}
	for _, number := range []string{
		"0.5", "1e-1", "1.23e1", "1e-999999999", "-1e-99999999999999999999", "9007199254740993.1", "0." + zeros + "1",
	} {
		object, err := compile(t, integers).Decode([]byte(`{"n":` + number + `}`))
		if got, ok := object.Int("n"); err == nil || ok {
			t.Errorf("%.30s is the integer %d", number, got)
		}
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	object, err := compile(t, integers).Decode([]byte(`{"a":[{"e":""},{}],"n":7,"b":true,"s":" \ud83d\ude00\te\u0301 ",` +
		`"t":"2026-11-20T05:39:00.1239+01:00","none":null}`))
	assert.OK(t, err)
	values := func(n, b, s, at, a string) []any {
		number, isInt := object.Int(n)
		text, isText := object.TextOK(s)
		return []any{number, isInt, object.Bool(b), text, isText, object.Text(s), object.Time(at), object.Objects(a)}
	}
	assert.Equal(t, []any{int64(7), true, true, " 😀\te\u0301 ", true, " 😀\te\u0301 ",
		new(time.Date(2026, 11, 20, 4, 39, 0, 123e6, time.UTC)), []jsonbody.Object{{"e": ""}, {}}},
		values("n", "b", "s", "t", "a"))
	for _, name := range []string{"none", "absent"} {
		assert.Equal(t, []any{int64(0), false, false, "", false, "", (*time.Time)(nil), []jsonbody.Object{}},
			values(name, name, name, name, name))
	}
	// a text that is not a date-time has no time
	assert.Equal(t, []any{true, false, false, (*time.Time)(nil)},
		[]any{object.Has("none"), object.Has("absent"), object.Has("N"), object.Time("s")})
}
