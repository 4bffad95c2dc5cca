package jsonbody_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBodiesAreValidatedStrictlyWithNoCoercion(t *testing.T) {
	t.Parallel()
	const (
		needsDays    = "The `/body/lifetimeDays` property must be an integer or null; you sent "
		needsUser    = "The `/body/userId` property must be an integer; you sent "
		needsBoolean = "The `/body/neverShow` property must be a boolean; you sent "
		needsDate    = "The `/body/given` property must be an RFC 3339 date-time with an offset or Z; you sent "
		needsText    = "The `/body/description` property must be a string; you sent "
		blank        = "The `/body/description` property must not be only white space; you sent "
		year         = `"expiresAt":"2027-01-01T00:00:00Z"`
	)
	long := strings.Repeat("é", 256)
	for _, tt := range []struct{ name, file, body, want string }{
		{`the contract's example: "abc" is not an integer`, lifetime, `{"lifetimeDays":"abc"}`, needsDays + `"abc".`},
		{`"7" is not an integer`, lifetime, `{"lifetimeDays":"7"}`, needsDays + `"7".`},
		{"an object is not an integer", lifetime, `{"lifetimeDays":{"a":1e5}}`, needsDays + `{"a":1e5}.`},
		{"an array is not an integer", lifetime, `{"lifetimeDays":[7]}`, needsDays + `[7].`},
		{"true is not an integer", lifetime, `{"lifetimeDays":true}`, needsDays + `true.`},
		{"7.5 is not an integer", lifetime, `{"lifetimeDays":7.5}`, needsDays + `7.5.`},
		{"1e-1 is not an integer", lifetime, `{"lifetimeDays":1e-1}`, needsDays + `1e-1.`},
		{"below 0", lifetime, `{"lifetimeDays":-1}`, "The `/body/lifetimeDays` property must be at least 0; you sent -1."},
		{"above 2147483647", lifetime, `{"lifetimeDays":2147483648}`, "The `/body/lifetimeDays` property must be at most 2147483647; you sent 2147483648."},
		{"above by an exponent", lifetime, `{"lifetimeDays":1E+400}`, "The `/body/lifetimeDays` property must be at most 2147483647; you sent 1E+400."},
		{"far below by an exponent", lifetime, `{"lifetimeDays":-1e999999999}`, "The `/body/lifetimeDays` property must be at least 0; you sent -1e999999999."},
		{"required", lifetime, `{}`, "The `/body/lifetimeDays` property is required; you did not send it."},
		{"required in its own letter case", lifetime, `{"lifetimedays":7}`, "The `/body/lifetimeDays` property is required; you did not send it."},

		{"1 is not a boolean", feedback, `{"neverShow":1}`, needsBoolean + `1.`},
		{`"true" is not a boolean`, feedback, `{"neverShow":"true"}`, needsBoolean + `"true".`},
		{"null where not nullable", feedback, `{"neverShow":null}`, needsBoolean + `null.`},
		{"a userId of null", feedback, `{"userId":null}`, needsUser + `null.`},
		{`a userId of "1"`, feedback, `{"userId":"1"}`, needsUser + `"1".`},
		{"a date alone", feedback, `{"given":"2026-11-20"}`, needsDate + `"2026-11-20".`},
		{"30 February", feedback, `{"given":"2026-02-30T00:00:00Z"}`, needsDate + `"2026-02-30T00:00:00Z".`},
		{"a comma before the fraction", feedback, `{"given":"2026-11-20T08:29:21,5Z"}`, needsDate + `"2026-11-20T08:29:21,5Z".`},
		{"year 10000 in UTC", feedback, `{"given":"9999-12-31T23:59:59-23:59"}`, needsDate + `"9999-12-31T23:59:59-23:59".`},
		{"an empty date", feedback, `{"given":""}`, needsDate + `"".`},
		{"a date that is a number", feedback, `{"given":1795255200}`, "The `/body/given` property must be a string or null; you sent 1795255200."},

		{"an expiry of null", token, `{"description":"a","expiresAt":null}`, "The `/body/expiresAt` property must be a string; you sent null."},
		{"a description of null", token, `{"description":null,` + year + `}`, needsText + `null.`},
		{"256 characters", token, `{"description":"` + long + `",` + year + `}`, "The `/body/description` property must have at most 255 characters; you sent \"" + long[:2*100] + "…\"."},
		{"only white space", token, `{"description":" \t\r\n\f\u000b",` + year + `}`, blank + `" \t\r\n\f\u000b".`},
		{"only Unicode's white space", token, `{"description":"\u0085\u00a0\u1680\u2000\u200a\u202f\u205f\u3000",` + year + `}`, blank + "\"\u0085\u00a0\u1680\u2000\u200a\u202f\u205f\u3000\"."},

		{"every offending property is named", feedback, `{"userId":1.5,"neverShow":"no","given":"soon"}`, needsDate + `"soon". ` + needsBoolean + `"no". ` + needsUser + `1.5.`},
		{"every missing property is named", token, `{}`, "The `/body/description` property is required; you did not send it. The `/body/expiresAt` property is required; you did not send it."},
		{
			"missing and wrong in one message", token, `{"expiresAt":true}`,
			"The `/body/description` property is required; you did not send it. The `/body/expiresAt` property must be a string; you sent true.",
		},
		{
			"an empty description breaks two rules", token, `{"description":"",` + year + `}`,
			"The `/body/description` property must not be empty; you sent \"\". " + blank + `"".`,
		},

		{"a long value is cut", lifetime, `{"lifetimeDays":"` + strings.Repeat("x", 200) + `"}`, needsDays + `"` + strings.Repeat("x", 100) + `…".`},
		{"100 characters are not cut", lifetime, `{"lifetimeDays":"` + strings.Repeat("x", 100) + `"}`, needsDays + `"` + strings.Repeat("x", 100) + `".`},
		{"a credential is never echoed", lifetime, `{"lifetimeDays":"user:v2_AAAAAAAAAAEAAAAAAAAAAQ_secret"}`, needsDays + `"[redacted]".`},
		{"a credential is never echoed, spelt with an escape", lifetime, `{"lifetimeDays":"user:v2\u005fAAAAAAAAAAEAAAAAAAAAAQ_secret"}`, needsDays + `"[redacted]".`},
		{"a credential deep in the value is never echoed", lifetime, `{"lifetimeDays":[{"v2_AAAAAAAAAAEAAAAAAAAAAQ_secret":1}]}`, needsDays + `[redacted].`},
		{"markup stays what it is", lifetime, `{"lifetimeDays":"<b>&"}`, needsDays + `"<b>&".`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := compileFile(t, tt.file).Decode([]byte(tt.body))
			if diff := cmp.Diff(tt.want, refusal(t, err)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBodiesThatFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, body string }{
		{"no member at all", feedback, `{}`},
		{"unknown members are ignored", feedback, `{"feedbackId":7,"x":{"y":[null]},"":1}`},
		{"given of null", feedback, `{"given":null}`},
		{"the lifetime of null", lifetime, `{"lifetimeDays":null}`},
		{"white space around", lifetime, " \t\r\n{ \"lifetimeDays\" : 7 }\n "},
		{"255 characters", token, `{"description":"` + strings.Repeat("😀", 255) + `","expiresAt":"2027-01-01T00:00:00Z"}`},
		{"white space and a letter", token, `{"description":" \u00a0x","expiresAt":"2027-01-01T00:00:00Z"}`},
		{"a zero-width space is no white space", token, `{"description":"\u200b","expiresAt":"2027-01-01t00:00:00.5+01:00"}`},
		{"a number that nobody reads, as large as it likes", lifetime, `{"lifetimeDays":1,"x":1e999999999}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := compileFile(t, tt.file).Decode([]byte(tt.body)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMembersOfABody(t *testing.T) {
	t.Parallel()
	object, err := compileFile(t, feedback).Decode([]byte(
		`{"userId":7,"neverShow":true,"given":"2026-11-20T06:39:00.123999+01:00","feedbackId":"  exactly as sent\u0000 ","none":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := object.Int("userId"); id != 7 || !ok {
		t.Errorf("userId is %d, %t", id, ok)
	}
	if !object.Bool("neverShow") {
		t.Error("neverShow is false")
	}
	if got, want := object.Time("given"), time.Date(2026, 11, 20, 5, 39, 0, 123e6, time.UTC); got == nil || *got != want {
		t.Errorf("given is %v, want %v", got, want)
	}
	if got := object.Text("feedbackId"); got != "  exactly as sent\x00 " {
		t.Errorf("feedbackId is %q", got)
	}
	if !object.Has("none") || object.Has("absent") || object.Has("NEVERSHOW") {
		t.Error("Has: a null is there, an absent member and one in another letter case are not")
	}
	for _, name := range []string{"none", "absent"} {
		if _, ok := object.Int(name); ok || object.Bool(name) || object.Text(name) != "" || object.Time(name) != nil {
			t.Errorf("%s has a value", name)
		}
	}
}
