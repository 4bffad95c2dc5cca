package jsonbody_test

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestIntegersAreJSONSchemas(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 1000)
	for _, tt := range []struct {
		number string
		want   int64
	}{
		{"0", 0}, {"-0", 0}, {"7", 7}, {"-7", -7}, {"1.0", 1}, {"-1.00", -1}, {"1e2", 100}, {"1E2", 100}, {"1e+2", 100}, {"1.5e1", 15}, {"1.50e1", 15},
		{"150e-1", 15}, {"0.00001e5", 1}, {"100e-2", 1}, {"0e0", 0}, {"-0e5", 0}, {"-0.0", 0}, {"0.0e-5", 0}, {"0e999999999", 0}, {"0e-999999999", 0},
		{"0." + zeros + "e1", 0}, {"1." + zeros, 1}, {"0." + zeros + "1e1001", 1}, {"1" + zeros + "e-1000", 1}, {"1e" + zeros + "2", 100}, {"-12e" + zeros + "2", -1200},
		{"9223372036854775807", math.MaxInt64}, {"-9223372036854775808", math.MinInt64}, {"9.223372036854775807e18", math.MaxInt64}, {"-9223372036854775808.0", math.MinInt64},
	} {
		t.Run(tt.number[:min(30, len(tt.number))], func(t *testing.T) {
			t.Parallel()
			object, err := compile(t, []byte(anything)).Decode([]byte(`{"n":` + tt.number + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := object.Int("n"); !ok || got != tt.want {
				t.Errorf("got %d, %t, want %d", got, ok, tt.want)
			}
			if got := object["n"]; got != json.Number(tt.number) {
				t.Errorf("the spelling has become %v", got)
			}
		})
	}
}

func TestIntegersBeyond64BitsAreIntegersWithoutAValue(t *testing.T) {
	t.Parallel()
	for _, number := range []string{
		"9223372036854775808", "-9223372036854775809", "1e19", "-1e19", "1e20", "1e21", "1e22", "1e400", "1e999999999", "-1e999999999",
		"1e99999999999999999999", strings.Repeat("9", 41), "1" + strings.Repeat("0", 100_000), "1" + strings.Repeat("0", 50) + ".0",
	} {
		t.Run(number[:min(30, len(number))], func(t *testing.T) {
			t.Parallel()
			object, err := compile(t, []byte(anything)).Decode([]byte(`{"n":` + number + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := object.Int("n"); ok {
				t.Errorf("has the value %d", got)
			}
		})
	}
}

func TestNumbersThatAreNoIntegers(t *testing.T) {
	t.Parallel()
	for _, number := range []string{
		"0.5", "-0.5", "1e-1", "10e-2", "1.23e1", "1e-999999999", "-1e-999999999", "1e-99999999999999999999", "9007199254740993.1",
		"0." + strings.Repeat("0", 100_000) + "1", strings.Repeat("9", 100_000) + ".5", "1." + strings.Repeat("0", 60) + "1",
	} {
		t.Run(number[:min(30, len(number))], func(t *testing.T) {
			t.Parallel()
			_, err := compile(t, []byte(anything)).Decode([]byte(`{"n":` + number + `}`))
			cut := number
			if len(cut) > 100 {
				cut = cut[:100] + "…"
			}
			if got, want := refusal(t, err), "The `/body/n` property must be an integer; you sent "+cut+"."; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// The oracle is big.Rat, which is exact; exponents beyond four digits would take it too long.
func FuzzIntegers(f *testing.F) {
	for _, seed := range []string{"0", "-0.0", "1e2", "1.50e1", "100e-2", "0.00001e5", "12345678901234567890123456789012345678901", "1e-1", "1E+19", "9223372036854775807.0e0", "1e22"} {
		f.Add(seed)
	}
	syntax := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?$`)
	schema := compile(f, []byte(anything))
	f.Fuzz(func(t *testing.T, number string) {
		if !syntax.MatchString(number) || len(number) > 5000 {
			t.Skip("no number")
		}
		exact, ok := new(big.Rat).SetString(number)
		if !ok {
			t.Skip("the oracle cannot read it")
		}
		object, err := schema.Decode([]byte(`{"n":` + number + `}`))
		if (err == nil) != exact.IsInt() {
			t.Fatalf("%s is an integer: %t; decoded with the error %v", number, exact.IsInt(), err)
		}
		if err != nil {
			refusal(t, err)
			return
		}
		got, fits := object.Int("n")
		if fits != exact.Num().IsInt64() || fits && got != exact.Num().Int64() {
			t.Fatalf("%s is %s; decoded as %d, %t", number, exact.Num(), got, fits)
		}
	})
}

// Bounds are kept by numbers in any spelling.
func FuzzBounds(f *testing.F) {
	f.Add(int64(0), uint8(0))
	f.Add(int64(math.MaxInt32), uint8(9))
	f.Add(int64(math.MaxInt32)+1, uint8(30))
	f.Add(int64(-1), uint8(2))
	schema := compileFile(f, lifetime)
	f.Fuzz(func(t *testing.T, days int64, shift uint8) {
		plain := strconv.FormatInt(days, 10)
		spellings := []string{plain, plain + "e0", plain + "." + strings.Repeat("0", int(shift)+1)}
		if days != 0 { // a second leading zero is no JSON
			spellings = append(spellings, plain+strings.Repeat("0", int(shift))+"e-"+strconv.Itoa(int(shift)))
		}
		for _, spelling := range spellings {
			object, err := schema.Decode([]byte(`{"lifetimeDays":` + spelling + `}`))
			if fits := days >= 0 && days <= math.MaxInt32; fits != (err == nil) {
				t.Fatalf("%s: %v", spelling, err)
			}
			if err != nil {
				continue
			}
			if got, ok := object.Int("lifetimeDays"); !ok || got != days {
				t.Fatalf("%s is read as %d, %t", spelling, got, ok)
			}
		}
	})
}
