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
	for _, test := range []struct{ text, want string }{
		{"2026-11-20T05:39:00Z", "2026-11-20T05:39:00.000Z"},
		{"2026-11-20t05:39:00z", "2026-11-20T05:39:00.000Z"},
		// offsets
		{"2026-11-20T05:39:00+02:00", "2026-11-20T03:39:00.000Z"},
		{"2026-11-20T23:39:00.1-02:30", "2026-11-21T02:09:00.100Z"},
		{"2026-11-20T05:39:00-00:00", "2026-11-20T05:39:00.000Z"},
		{"2026-11-20T23:59:00+23:59", "2026-11-20T00:00:00.000Z"},
		// fractions are truncated
		{"2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:59.999Z"},
		{"2026-11-20T05:39:00." + strings.Repeat("9", 1000) + "Z", "2026-11-20T05:39:00.999Z"},
		{"2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"},
		{"9999-12-31T23:59:59+00:01", "9999-12-31T23:58:59.000Z"},
		{"0000-12-31T23:59:59-00:01", "0001-01-01T00:00:59.000Z"},
	} {
		got, err := datetime.Parse(test.text)
		if err != nil || got.Location() != time.UTC || datetime.Format(got) != test.want {
			t.Errorf("got %v, %v, want %s", got, err, test.want)
		}
	}
}

// invalid returns texts that are not date-times.
func invalid() []string {
	return []string{
		"",
		"2026-11-20",
		"2026-11-20T05:39:00",
		"2026-11-20T05:39Z",
		"2026-02-30T00:00:00Z",
		"1900-02-29T00:00:00Z",
		"2026-11-00T00:00:00Z",
		"2026-13-20T00:00:00Z",
		"2026-11-20T24:00:00Z",
		"2026-11-20T05:60:00Z",
		"2016-12-31T23:59:60Z",
		"2026-11-20T08:29:21,5Z",
		"2026-11-20T08:29:21.Z",
		"2026-11-20T8:29:21Z",
		"26-11-20T08:29:21Z",
		"12026-11-20T08:29:21Z",
		"-026-11-20T08:29:21Z",
		// years 10000 and 0 in UTC
		"9999-12-31T23:59:00-00:01",
		"0001-01-01T00:00:00+00:01",
		"2026-11-20T08:29:21+24:00",
		"2026-11-20T08:29:21+01:60",
		"2026-11-20T08:29:21+01",
		// the minus sign of Unicode
		"2026−11−20T08:29:21Z",
		"+2026-11-20T08:29:21Z",
		"2026-W47-5T08:29:21Z",
		"2026-11-20T08:29:21+0100",
		"2026-11-20T08:29:21Z+01:00",
		"2026-11-20 08:29:21Z",
		"2026/11/20T08:29:21Z",
		" 2026-11-20T08:29:21Z",
		"2026-11-20T08:29:21Z\n",
		"2026-11-20T08:29:21UTC",
		"２０２６-11-20T08:29:21Z",
	}
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	for _, text := range invalid() {
		if got, err := datetime.Parse(text); !errors.Is(err, datetime.ErrSyntax) || !got.IsZero() {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]time.Time{
		"2026-11-19T23:39:00.000Z": time.Date(2026, 11, 20, 1, 39, 0, 0, time.FixedZone("", 2*60*60)),
		"1969-12-31T23:59:59.001Z": time.Date(1969, 12, 31, 23, 59, 59, 1_999_999, time.UTC), // towards the past
	} {
		if got, cut := datetime.Format(at), datetime.Format(datetime.Milliseconds(at)); got != want || cut != want {
			t.Errorf("got %s, in milliseconds %s, want %s", got, cut, want)
		}
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
	for _, text := range invalid() {
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
