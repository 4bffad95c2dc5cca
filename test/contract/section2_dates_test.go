package contract_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// feedbackRecord is what 4.1 answers.
type feedbackRecord struct {
	FeedbackID string  `json:"feedbackId"`
	UserID     int64   `json:"userId"`
	NeverShow  bool    `json:"neverShow"`
	Given      *string `json:"given"`
}

// TestSection2_DateTime: "date-time is RFC 3339 with a mandatory offset or Z; t and z may be lower case; anything else is 400. Responses
// always use UTC with milliseconds and Z; finer fractions are cut off, not rounded."
func TestSection2_DateTime(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	for _, tt := range []struct{ name, sent, want string }{
		{"Z", "2026-11-20T05:39:00Z", "2026-11-20T05:39:00.000Z"},
		{"lower case", "2026-11-20t05:39:00z", "2026-11-20T05:39:00.000Z"},
		{"milliseconds", "2026-11-20T05:39:00.123Z", "2026-11-20T05:39:00.123Z"},
		{"one digit", "2026-11-20T05:39:00.1Z", "2026-11-20T05:39:00.100Z"},
		{"finer fractions are cut off, not rounded", "2026-11-20T05:39:00.1239999Z", "2026-11-20T05:39:00.123Z"},
		{"a fraction that would round to the next year", "2026-12-31T23:59:59.999999999999Z", "2026-12-31T23:59:59.999Z"},
		{"a fraction of 40 digits", "2026-11-20T05:39:00." + strings.Repeat("9", 40) + "Z", "2026-11-20T05:39:00.999Z"},
		{"an offset", "2026-11-20T06:39:00+01:00", "2026-11-20T05:39:00.000Z"},
		{"an offset into another year", "2026-12-31T23:30:00-12:34", "2027-01-01T12:04:00.000Z"},
		{"the largest offset", "2026-11-20T05:39:00+23:59", "2026-11-19T05:40:00.000Z"},
		{"an unknown offset", "2026-11-20T05:39:00-00:00", "2026-11-20T05:39:00.000Z"},
		{"29 February", "2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"},
		{"the first year", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
		{"the last year", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
		{"year 0000 that is 0001 in UTC", "0000-12-31T23:59:59-00:01", "0001-01-01T00:00:59.000Z"},
		{"before 1970", "1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"},
	} {
		t.Run("200 for "+tt.name, func(t *testing.T) {
			t.Parallel()
			var record feedbackRecord
			s.send(t, putFeedback(escape("dates "+tt.name), quote(t, "given", tt.sent)).as(admin)).want(t, 200).decode(t, &record)
			if record.Given == nil || *record.Given != tt.want {
				t.Errorf("given is %v, want %s", record.Given, tt.want)
			}
		})
	}
	for name, sent := range map[string]string{
		"no offset": "2026-11-20T05:39:00", "a date alone": "2026-11-20", "a time alone": "05:39:00Z", "30 February": "2026-02-30T00:00:00Z", "29 February of another year": "2026-02-29T00:00:00Z",
		"29 February 1900": "1900-02-29T00:00:00Z", "31 April": "2026-04-31T00:00:00Z", "month 13": "2026-13-01T00:00:00Z", "month 0": "2026-00-01T00:00:00Z", "day 0": "2026-11-00T00:00:00Z",
		"24:00": "2026-11-20T24:00:00Z", "minute 60": "2026-11-20T05:60:00Z", "second 60": "2026-12-31T23:59:60Z", "a comma before the fraction": "2026-11-20T05:39:00,5Z",
		"a point without digits": "2026-11-20T05:39:00.Z", "a one-digit hour": "2026-11-20T5:39:00Z", "a one-digit month": "2026-1-20T05:39:00Z", "no seconds": "2026-11-20T05:39Z",
		"a space for the T": "2026-11-20 05:39:00Z", "an offset without a colon": "2026-11-20T05:39:00+0100", "an offset of hours": "2026-11-20T05:39:00+01", "an offset of 24 hours": "2026-11-20T05:39:00+24:00",
		"an offset of 60 minutes": "2026-11-20T05:39:00+01:60", "Z and an offset": "2026-11-20T05:39:00Z+01:00", "a zone's name": "2026-11-20T05:39:00 UTC", "year 10000 in UTC": "9999-12-31T23:59:59-00:01",
		"year 0000 in UTC": "0001-01-01T00:00:00+00:01", "year 0000": "0000-06-01T00:00:00Z", "a year of five digits": "10000-01-01T00:00:00Z", "a negative year": "-001-01-01T00:00:00Z", "a year with a sign": "+2026-11-20T05:39:00Z",
		"white space before": " 2026-11-20T05:39:00Z", "white space behind": "2026-11-20T05:39:00Z ", "a line break behind": "2026-11-20T05:39:00Z\n", "an empty text": "", "a week": "2026-W47-5T05:39:00Z",
		"other digits": "２０２６-11-20T05:39:00Z", "a minus sign of Unicode": "2026−11−20T05:39:00Z", "a number as text": "1732060800",
	} {
		t.Run("400 for "+name, func(t *testing.T) {
			t.Parallel()
			if m := s.send(t, putFeedback("dates", quote(t, "given", sent)).as(admin)).wantError(t, 400).Message; !strings.Contains(m, "`/body/given`") {
				t.Errorf("message %q", m)
			}
			body := `{"description":"x",` + quote(t, "expiresAt", sent)[1:]
			if m := s.send(t, postToken(2147483647, body).as(admin)).wantError(t, 400).Message; !strings.Contains(m, "`/body/expiresAt`") {
				t.Errorf("message %q", m)
			}
		})
	}
}

// quote is an object with one text.
func quote(t *testing.T, name, value string) string {
	t.Helper()
	object, err := json.Marshal(map[string]string{name: value})
	must(t, err)
	return string(object)
}
