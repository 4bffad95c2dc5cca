package jsonbody_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIntegers(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 1000)
	for _, tt := range []struct {
		number string
		want   int64
	}{
		{"0", 0}, {"-0", 0}, {"-0.0e-5", 0}, {"0e999999999", 0}, {"7", 7}, {"-1.00", -1}, {"1e2", 100}, {"1E+2", 100},
		{"1.50e1", 15}, {"150e-1", 15},
		{"0.00001e5", 1}, {"1." + zeros, 1}, {"0." + zeros + "1e1001", 1}, {"1" + zeros + "e-1000", 1},
		{"-12e" + zeros + "2", -1200},
		{"9223372036854775807", math.MaxInt64}, {"9.223372036854775806e18", math.MaxInt64 - 1},
		{"-9223372036854775808.0", math.MinInt64},
		{"9223372036854775808", math.MaxInt64}, {"1e19", math.MaxInt64}, {"-1e19", math.MinInt64},
		{"1e999999999", math.MaxInt64},
		{"-1e99999999999999999999", math.MinInt64}, {"1" + zeros, math.MaxInt64},
	} {
		t.Run(tt.number[:min(30, len(tt.number))], func(t *testing.T) {
			t.Parallel()
			object, err := compile(t, integers).Decode([]byte(`{"n":` + tt.number + `}`))
			if got, ok := object.Int("n"); err != nil || !ok || got != tt.want {
				t.Errorf("got %d, %t, %v, want %d", got, ok, err, tt.want)
			}
		})
	}
	for _, number := range []string{"0.5", "1e-1", "1.23e1", "1e-999999999", "-1e-99999999999999999999",
		"9007199254740993.1", "0." + zeros + "1"} {
		if _, err := compile(t, integers).Decode([]byte(`{"n":` + number + `}`)); err == nil {
			t.Errorf("%s is an integer", number)
		}
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	object, err := compile(t,
		integers).Decode([]byte(`{"a":[{"e":""},{}],"n":7,"b":true,"s":" \ud83d\ude00\u0000e\u0301 ",` +
		`"t":"2026-11-20T05:39:00.1239+01:00","none":null}`))
	if err != nil {
		t.Fatal(err)
	}
	n, ok := object.Int("n")
	got := []any{n, ok, object.Bool("b"), object.Text("s"), *object.Time("t"), object.Has("none"), object.Has("absent"),
		object.Has("N")}
	want := []any{int64(7), true, true, " 😀\x00e\u0301 ", time.Date(2026, 11, 20, 4, 39, 0, 123e6, time.UTC), true, false,
		false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	elements := object.Objects("a")
	if e, ok := elements[0].TextOK("e"); len(elements) != 2 || e != "" || !ok {
		t.Errorf("elements %v", elements)
	}
	for _, name := range []string{"none", "absent"} {
		if _, ok := object.TextOK(name); ok || len(object.Objects(name)) != 0 {
			t.Errorf("%s has a value", name)
		}
		if _, ok := object.Int(name); ok || object.Bool(name) || object.Text(name) != "" || object.Time(name) != nil {
			t.Errorf("%s has a value", name)
		}
	}
	if object.Time("s") != nil {
		t.Error("a text that is not a date-time has a time")
	}
}
