package datetime_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/datetime"
)

func TestParseTakesRFC3339WithAMandatoryOffsetOrZ(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"Z", "2026-11-20T05:39:00Z", "2026-11-20T05:39:00.000Z"},
		{"t and z may be lower case", "2026-11-20t05:39:00z", "2026-11-20T05:39:00.000Z"},
		{"an offset to the east", "2026-11-20T05:39:00+02:00", "2026-11-20T03:39:00.000Z"},
		{"an offset to the west", "2026-11-20T23:39:00-02:30", "2026-11-21T02:09:00.000Z"},
		{"the unknown offset", "2026-11-20T05:39:00-00:00", "2026-11-20T05:39:00.000Z"},
		{"the largest offset", "2026-11-20T23:59:00+23:59", "2026-11-20T00:00:00.000Z"},
		{"one digit of a fraction", "2026-11-20T05:39:00.1Z", "2026-11-20T05:39:00.100Z"},
		{"a fraction and an offset", "2026-11-20T05:39:00.123+01:00", "2026-11-20T04:39:00.123Z"},
		{"finer fractions are cut off", "2026-11-20T05:39:00.123999999Z", "2026-11-20T05:39:00.123Z"},
		{"finer fractions are cut off, not rounded", "2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:59.999Z"},
		{"more digits than a nanosecond has", "2026-11-20T05:39:00.1239999999999999Z", "2026-11-20T05:39:00.123Z"},
		{"1,000 digits of a fraction", "2026-11-20T05:39:00." + strings.Repeat("9", 1000) + "Z", "2026-11-20T05:39:00.999Z"},
		{"29 February of a leap year", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"},
		{"29 February 2000", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"},
		{"midnight", "2026-11-20T00:00:00Z", "2026-11-20T00:00:00.000Z"},
		{"the first moment of year 0001", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
		{"the last moment of year 9999", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
		{"year 10000 there, 9999 in UTC", "9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59.000Z"},
		{"year 0000 there, 0001 in UTC", "0000-12-31T23:59:59-00:01", "0001-01-01T00:00:59.000Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := datetime.Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.Location() != time.UTC {
				t.Errorf("location %v, want UTC", got.Location())
			}
			if text := datetime.Format(got); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
			if again, err := datetime.Parse(tt.want); err != nil || !again.Equal(datetime.Milliseconds(got)) {
				t.Errorf("what Format gives is read back as %v, %v", again, err)
			}
		})
	}
}

// refused are the texts that are no date-time; the fuzz target starts from them, too.
func refused() [][2]string {
	return [][2]string{
		{"empty", ""},
		{"a date alone", "2026-11-20"},
		{"no offset", "2026-11-20T05:39:00"},
		{"no offset behind a fraction", "2026-11-20T05:39:00.123"},
		{"no seconds", "2026-11-20T05:39Z"},
		{"30 February", "2026-02-30T00:00:00Z"},
		{"29 February of a common year", "2026-02-29T00:00:00Z"},
		{"29 February 1900", "1900-02-29T00:00:00Z"},
		{"31 April", "2026-04-31T00:00:00Z"},
		{"day 0", "2026-11-00T00:00:00Z"},
		{"month 0", "2026-00-20T00:00:00Z"},
		{"month 13", "2026-13-20T00:00:00Z"},
		{"24:00", "2026-11-20T24:00:00Z"},
		{"minute 60", "2026-11-20T05:60:00Z"},
		{"second 60", "2016-12-31T23:59:60Z"},
		{"a comma before the fraction", "2026-11-20T08:29:21,5Z"},
		{"a point without a fraction", "2026-11-20T08:29:21.Z"},
		{"a one-digit hour", "2026-11-20T8:29:21Z"},
		{"a one-digit month", "2026-1-20T08:29:21Z"},
		{"a one-digit second", "2026-11-20T08:29:1Z"},
		{"a two-digit year", "26-11-20T08:29:21Z"},
		{"a five-digit year", "12026-11-20T08:29:21Z"},
		{"a sign before the year", "+2026-11-20T08:29:21Z"},
		{"a negative year", "-026-11-20T08:29:21Z"},
		{"year 10000 in UTC", "9999-12-31T23:59:59-23:59"},
		{"year 10000 in UTC by a minute", "9999-12-31T23:59:00-00:01"},
		{"year 0000 in UTC", "0001-01-01T00:00:00+00:01"},
		{"year 0000", "0000-01-01T00:00:00Z"},
		{"an offset of 24 hours", "2026-11-20T08:29:21+24:00"},
		{"an offset of 60 minutes", "2026-11-20T08:29:21+01:60"},
		{"an offset without a colon", "2026-11-20T08:29:21+0100"},
		{"an offset of hours alone", "2026-11-20T08:29:21+01"},
		{"an offset of seconds", "2026-11-20T08:29:21+01:00:00"},
		{"Z and an offset", "2026-11-20T08:29:21Z+01:00"},
		{"the minus of typographers", "2026-11-20T08:29:21−01:00"},
		{"a space in place of T", "2026-11-20 08:29:21Z"},
		{"an underscore in place of T", "2026-11-20_08:29:21Z"},
		{"slashes", "2026/11/20T08:29:21Z"},
		{"white space before", " 2026-11-20T08:29:21Z"},
		{"white space behind", "2026-11-20T08:29:21Z "},
		{"a newline behind", "2026-11-20T08:29:21Z\n"},
		{"a NUL behind", "2026-11-20T08:29:21Z\x00"},
		{"more behind", "2026-11-20T08:29:21Zulu"},
		{"the name of a zone", "2026-11-20T08:29:21UTC"},
		{"digits of another script", "２０２６-11-20T08:29:21Z"},
		{"invalid UTF-8", "2026-11-20T08:29:21\xff"},
		{"a number", "1795255200"},
		{"a week date", "2026-W47-5T08:29:21Z"},
		{"basic format", "20261120T082921Z"},
	}
}

func TestParseRefusesAnythingElse(t *testing.T) {
	t.Parallel()
	for _, tt := range refused() {
		t.Run(tt[0], func(t *testing.T) {
			t.Parallel()
			if got, err := datetime.Parse(tt[1]); !errors.Is(err, datetime.ErrSyntax) || !got.IsZero() {
				t.Errorf("%q gives %v, %v", tt[1], got, err)
			}
		})
	}
}

func TestFormatUsesUTCWithMillisecondsAndZ(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 2*60*60)
	for _, tt := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"no fraction", time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC), "2026-11-20T05:39:00.000Z"},
		{"another zone", time.Date(2026, 11, 20, 1, 39, 0, 0, east), "2026-11-19T23:39:00.000Z"},
		{"cut off, not rounded", time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, time.UTC), "2026-12-31T23:59:59.999Z"},
		{"before 1970, cut off towards the past", time.Date(1969, 12, 31, 23, 59, 59, 1_999_999, time.UTC), "1969-12-31T23:59:59.001Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := datetime.Format(tt.at); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := datetime.Format(datetime.Milliseconds(tt.at)); got != tt.want {
				t.Errorf("cut to milliseconds before: %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStoredTimesCompareAsText(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, year := range []int{1, 99, 999, 1969, 1970, 2026, 9999} {
		for _, nanoseconds := range []int{0, 1e6, 999e6} {
			texts = append(texts, datetime.Format(time.Date(year, 3, 1, 0, 0, 0, nanoseconds, time.UTC)))
		}
	}
	if !slices.IsSorted(texts) {
		t.Errorf("not in the order of time: %q", texts)
	}
}

func FuzzParse(f *testing.F) {
	for _, tt := range refused() {
		f.Add(tt[1])
	}
	for _, text := range []string{
		"2026-11-20T05:39:00.123456789Z", "9999-12-31T23:59:59+23:59", "0000-12-31T23:59:59.5-23:59", "2028-02-29t00:00:00.0z",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := datetime.Parse(text)
		if err != nil {
			if !errors.Is(err, datetime.ErrSyntax) {
				t.Fatalf("another error: %v", err)
			}
			return
		}
		if got.Location() != time.UTC || got.Year() < 1 || got.Year() > 9999 {
			t.Fatalf("%q is %v, not in the years 0001 to 9999 in UTC", text, got)
		}
		// Whatever is taken, the standard library takes, too, and understands alike to the nanosecond.
		if want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text)); err != nil || !want.Equal(got) {
			t.Fatalf("%q is %v, want %v, %v", text, got, want, err)
		}
		formatted := datetime.Format(got)
		if len(formatted) != len("2026-11-20T05:39:00.000Z") {
			t.Fatalf("%q is written as %q", text, formatted)
		}
		again, err := datetime.Parse(formatted)
		if err != nil || !again.Equal(datetime.Milliseconds(got)) || datetime.Format(again) != formatted {
			t.Fatalf("%q is written as %q and read back as %v, %v", text, formatted, again, err)
		}
	})
}
