package datetime_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/datetime"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"Z", "2026-11-20T05:39:00Z", "2026-11-20T05:39:00.000Z"},
		{"lower case", "2026-11-20t05:39:00z", "2026-11-20T05:39:00.000Z"},
		{"offset to the east", "2026-11-20T05:39:00+02:00", "2026-11-20T03:39:00.000Z"},
		{"offset to the west", "2026-11-20T23:39:00.1-02:30", "2026-11-21T02:09:00.100Z"},
		{"unknown offset", "2026-11-20T05:39:00-00:00", "2026-11-20T05:39:00.000Z"},
		{"largest offset", "2026-11-20T23:59:00+23:59", "2026-11-20T00:00:00.000Z"},
		{"fraction is truncated", "2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:59.999Z"},
		{"1,000 digits of a fraction", "2026-11-20T05:39:00." + strings.Repeat("9", 1000) + "Z", "2026-11-20T05:39:00.999Z"},
		{"leap year", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"},
		{"last minute of the year 9999", "9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59.000Z"},
		{"year 0, 1 in UTC", "0000-12-31T23:59:59-00:01", "0001-01-01T00:00:59.000Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := datetime.Parse(tt.text)
			if err != nil || got.Location() != time.UTC || datetime.Format(got) != tt.want {
				t.Errorf("got %v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// invalid contains texts that are not date-times, by name.
var invalid = map[string]string{
	"empty":                     "",
	"date":                      "2026-11-20",
	"no offset":                 "2026-11-20T05:39:00",
	"no seconds":                "2026-11-20T05:39Z",
	"30 February":               "2026-02-30T00:00:00Z",
	"29 February 1900":          "1900-02-29T00:00:00Z",
	"day 0":                     "2026-11-00T00:00:00Z",
	"month 13":                  "2026-13-20T00:00:00Z",
	"24:00":                     "2026-11-20T24:00:00Z",
	"minute 60":                 "2026-11-20T05:60:00Z",
	"second 60":                 "2016-12-31T23:59:60Z",
	"comma before the fraction": "2026-11-20T08:29:21,5Z",
	"point without a fraction":  "2026-11-20T08:29:21.Z",
	"one-digit hour":            "2026-11-20T8:29:21Z",
	"two-digit year":            "26-11-20T08:29:21Z",
	"five-digit year":           "12026-11-20T08:29:21Z",
	"negative year":             "-026-11-20T08:29:21Z",
	"year 10000 in UTC":         "9999-12-31T23:59:00-00:01",
	"year 0 in UTC":             "0001-01-01T00:00:00+00:01",
	"offset of 24 hours":        "2026-11-20T08:29:21+24:00",
	"offset of 60 minutes":      "2026-11-20T08:29:21+01:60",
	"offset without minutes":    "2026-11-20T08:29:21+01",
	"minus sign of Unicode":     "2026\u221211\u221220T08:29:21Z",
	"sign before the year":      "+2026-11-20T08:29:21Z",
	"week":                      "2026-W47-5T08:29:21Z",
	"offset without a colon":    "2026-11-20T08:29:21+0100",
	"Z and an offset":           "2026-11-20T08:29:21Z+01:00",
	"space instead of T":        "2026-11-20 08:29:21Z",
	"slashes":                   "2026/11/20T08:29:21Z",
	"leading space":             " 2026-11-20T08:29:21Z",
	"trailing newline":          "2026-11-20T08:29:21Z\n",
	"time zone":                 "2026-11-20T08:29:21UTC",
	"digits of another script":  "２０２６-11-20T08:29:21Z",
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for name, text := range invalid {
		if got, err := datetime.Parse(text); !errors.Is(err, datetime.ErrSyntax) || !got.IsZero() {
			t.Errorf("%s: %q is %v, %v", name, text, got, err)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"another zone", time.Date(2026, 11, 20, 1, 39, 0, 0, time.FixedZone("", 2*60*60)), "2026-11-19T23:39:00.000Z"},
		{"before 1970, truncated towards the past", time.Date(1969, 12, 31, 23, 59, 59, 1_999_999, time.UTC),
			"1969-12-31T23:59:59.001Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, cut := datetime.Format(tt.at), datetime.Format(datetime.Milliseconds(tt.at)); got != tt.want ||
				cut != tt.want {
				t.Errorf("got %s, in milliseconds %s, want %s", got, cut, tt.want)
			}
		})
	}
}

func TestFormattedTimesSortAsText(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, year := range []int{1, 99, 999, 1969, 2026, 9999} {
		for _, nanoseconds := range []int{0, 1e6, 999e6} {
			texts = append(texts, datetime.Format(time.Date(year, 3, 1, 0, 0, 0, nanoseconds, time.UTC)))
		}
	}
	if !slices.IsSorted(texts) {
		t.Errorf("not sorted: %q", texts)
	}
}

// What Parse accepts, Format writes so that Parse returns the same time again, in milliseconds.
func FuzzParse(f *testing.F) {
	for _, text := range invalid {
		f.Add(text)
	}
	f.Add("2026-11-20T05:39:00.123456789Z")
	f.Add("0000-12-31t23:59:59.5-23:59")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := datetime.Parse(text)
		if err != nil {
			return
		}
		formatted := datetime.Format(got)
		again, err := datetime.Parse(formatted)
		if err != nil || !again.Equal(datetime.Milliseconds(got)) || len(formatted) != len("2026-11-20T05:39:00.000Z") {
			t.Fatalf("%q is formatted as %q and parsed as %v, %v", text, formatted, again, err)
		}
	})
}
