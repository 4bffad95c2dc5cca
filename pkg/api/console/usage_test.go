package console_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/test/helper/assert"
)

// A toggle may be removed for several reasons. One that is younger than the days is not expected to have been used.
func TestRemovalReasons(t *testing.T) {
	t.Parallel()
	tests := []struct {
		toggle string
		want   []string
	}{
		{`"createdAt": "2026-10-24T00:00:00.000Z", "lastSeenAt": null`, []string{}},
		{`"createdAt": "2026-10-23T23:59:59.999Z", "lastSeenAt": null`, []string{"never"}},
		{`"createdAt": "2026-01-01T00:00:00.000Z", "lastSeenAt": "2026-10-24T00:00:00.000Z"`, []string{}},
		{`"createdAt": "2026-01-01T00:00:00.000Z", "lastSeenAt": "2026-10-23T23:59:59.999Z"`, []string{"unused"}},
		{
			`"createdAt": "2026-01-01T00:00:00.000Z", "lastSeenAt": null, "stage": "overdue", "potentiallyStale": true`,
			[]string{"overdue", "never"},
		},
		// Clean-up lists one that is kept apart, with the reasons that it would have.
		{`"createdAt": "2026-11-20T00:00:00.000Z", "lastSeenAt": null, "stage": "new", "potentiallyStale": true`, []string{"overdue"}},
		{`"createdAt": "2026-11-20T00:00:00.000Z", "lastSeenAt": null, "stage": "to-remove"`, []string{"to-remove"}},
		{
			`"createdAt": "2026-11-20T00:00:00.000Z", "lastSeenAt": null, "stage": "complete", "potentiallyStaleAt": "2026-12-30"`,
			[]string{"complete"},
		},
		// Its type has no lifetime: it is to stay.
		{`"createdAt": "2026-11-20T00:00:00.000Z", "lastSeenAt": null, "stage": "complete", "potentiallyStaleAt": null`, []string{}},
	}
	input, want := []json.RawMessage{}, [][]string{}
	for _, test := range tests {
		input = append(input, json.RawMessage("{"+test.toggle+"}"))
		want = append(want, test.want)
	}
	assert.Equal(t, want, runModule[[][]string](t, "usage-counts.js", input,
		`input.map((toggle) => removalReasons(toggle, firstDay(30, Date.parse('2026-11-23T09:30:00Z'))))`))
}

// The usage of hours adds up per hour or day, application and variant. What is outside of the period is left out.
func TestUsage(t *testing.T) {
	t.Parallel()
	const data = `[
		{"timestamp": "2026-11-22T09:00:00.000Z", "appName": "shop", "yes": 100, "no": 0},
		{"timestamp": "2026-11-22T10:00:00.000Z", "appName": "shop", "yes": 1, "no": 2, "variants": {"blue": 1}},
		{"timestamp": "2026-11-23T09:00:00.000Z", "appName": "shop", "yes": 3, "no": 0, "variants": {"blue": 1, "green": 2}},
		{"timestamp": "2026-11-23T09:00:00.000Z", "appName": "blog", "yes": 0, "no": 4},
		{"timestamp": "2026-11-23T09:00:00.000Z", "appName": "idle", "yes": 0, "no": 0}]`
	for expression, want := range map[string]string{
		`byTime(input, 1, now).parts.filter(({yes, no}) => yes + no).map(({start, yes, no}) => [new Date(start).toISOString(), yes, no])`: `[` +
			`["2026-11-22T10:00:00.000Z",1,2],["2026-11-23T09:00:00.000Z",3,4]]`,
		`byTime(input, 90, now).parts.slice(-2).map(({start, yes, no}) => [new Date(start).toISOString(), yes, no])`: `[` +
			`["2026-11-22T00:00:00.000Z",101,2],["2026-11-23T00:00:00.000Z",3,4]]`,
		`[1, 7, 90].map((days) => byTime(input, days, now).parts.length)`: `[24,168,90]`,
		`byApplication(input.slice(1)).map(({name, yes, no, last}) => [name, yes, no, last])`: `[` +
			`["shop",4,2,"2026-11-23T09:00:00.000Z"],["blog",0,4,"2026-11-23T09:00:00.000Z"]]`,
		`byVariant(input).map(({name, count}) => [name, count])`: `[["blue",2],["green",2]]`,
	} {
		got := runModule[json.RawMessage](t, "usage-counts.js", json.RawMessage(data),
			`((now) => `+expression+`)(Date.parse('2026-11-23T09:30:00Z'))`)
		assert.Equal(t, want, string(got))
	}
}
