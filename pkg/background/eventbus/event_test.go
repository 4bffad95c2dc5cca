package eventbus_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

func at() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

// logged returns an event of the log at the time of the tests.
func logged(t eventlog.Type, subject eventlog.Subject, by eventlog.Actor, data, preData string) eventlog.Event {
	e := eventlog.Event{ID: eventlog.FirstID(at()), Type: t, Subject: subject, By: by}
	if data != "" {
		e.Data = json.RawMessage(data)
	}
	if preData != "" {
		e.PreData = json.RawMessage(preData)
	}
	return e
}

func sent(tb testing.TB, e eventlog.Event) eventbus.Event {
	tb.Helper()
	s, err := eventbus.New("my-stack", e)
	assert.OK(tb, err)
	return s
}

func expiring(tb testing.TB, id int) eventbus.Event {
	tb.Helper()
	return sent(tb, logged(eventlog.TokenExpiring, eventlog.Subject(fmt.Sprint("pat:", id)), eventlog.System, fmt.Sprintf(
		`{"id":%d,"userId":4,"description":"pipeline","expiresAt":"2026-12-04T05:39:00.123Z","days":14}`, id), ""))
}

func expiringClientToken(tb testing.TB) eventbus.Event {
	tb.Helper()
	return sent(tb, logged(eventlog.TokenExpiring, "client-token:AQEBAQEBAQEBAQEBAQEBAQ", eventlog.System,
		`{"id":"AQEBAQEBAQEBAQEBAQEBAQ","tokenName":"shop","type":"backend","environment":"production","projects":["*"],`+
			`"expiresAt":"2026-12-04T05:39:00.123Z","days":14}`, ""))
}

// TestForms checks the data of each form. Consumers depend on them. docs/events.md contains the same examples.
func TestForms(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/events.md")
	assert.OK(t, err)
	ada := eventlog.Actor{Name: "Ada", UserID: 1, TokenID: "5"}
	apiToken := eventlog.Actor{Name: "API token ci", TokenID: "s"}
	operator := eventlog.Actor{Name: "operator ada"}
	const checkout = `"featureName":"checkout","project":"default","featureType":"release","lifetimeDays":40,` +
		`"createdAt":"2026-10-11T05:39:00.123Z"`
	var all []eventbus.Event
	for _, test := range []struct {
		kind    eventlog.Type
		subject eventlog.Subject
		by      eventlog.Actor
		data    string
		preData string
		want    string // the data that are sent
	}{
		{
			kind:    eventlog.FeaturePotentiallyStaleOn,
			subject: "toggle:checkout",
			by:      eventlog.System,
			data:    `{` + checkout + `,"causedBy":7}`,
			want:    `{` + checkout + `}`,
		},
		{
			kind:    eventlog.FeaturePotentiallyStaleOff,
			subject: "toggle:checkout",
			by:      ada,
			data:    `{` + checkout + `,"reason":"archived"}`,
			want:    `{` + checkout + `,"reason":"archived"}`,
		},
		{
			kind:    eventlog.FeatureTypeUpdated,
			subject: "type:release",
			by:      ada,
			data:    `{"id":"release","lifetimeDays":60}`,
			preData: `{"id":"release","lifetimeDays":40}`,
			want: `{"id":"release","lifetimeDays":60,"previousLifetimeDays":40,` +
				`"changedBy":{"type":"user","id":1}}`,
		},
		{
			kind:    eventlog.FeatureTypeUpdated,
			subject: "type:release",
			by:      apiToken,
			data:    `{"id":"release","lifetimeDays":null}`,
			preData: `{"id":"release","lifetimeDays":40}`,
			want: `{"id":"release","lifetimeDays":null,"previousLifetimeDays":40,` +
				`"changedBy":{"type":"api-token","id":"s"}}`,
		},
		{
			kind:    eventlog.FeatureTypeUpdated,
			subject: "type:release",
			by:      operator,
			data:    `{"id":"release","lifetimeDays":1}`,
			preData: `{"id":"release","lifetimeDays":null}`,
			want: `{"id":"release","lifetimeDays":1,"previousLifetimeDays":null,` +
				`"changedBy":{"type":"operator","id":"operator ada"}}`,
		},
		{
			kind:    eventlog.ContextFieldUpdated,
			subject: "field:plan",
			by:      ada,
			data:    `{"name":"plan","stickiness":true}`,
			preData: `{"name":"plan","stickiness":false}`,
			want: `{"createdBy":"Ada","createdByUserId":1,"createdByTokenId":"5","project":null,"featureName":null,` +
				`"environment":null,"data":{"name":"plan","stickiness":true},` +
				`"preData":{"name":"plan","stickiness":false}}`,
		},
	} {
		e := sent(t, logged(test.kind, test.subject, test.by, test.data, test.preData))
		all = append(all, e)
		got, err := json.Marshal(e)
		assert.OK(t, err)
		_, subject, _ := strings.Cut(string(test.subject), ":")
		assert.Equal(t, fmt.Sprintf(`{"specversion":"1.0","id":"%s","source":"my-stack","type":"toggleadmin.%s",`+
			`"time":"2026-11-20T05:39:00.123Z",`+
			`"subject":"%s","sequence":"1436122512098400","datacontenttype":"application/json","data":%s}`,
			e.ID, test.kind, subject, test.want), string(got))
	}
	for _, example := range []any{all[0], all[5].Data, expiring(t, 17).Data, expiringClientToken(t).Data} {
		text, err := json.MarshalIndent(example, "", "  ")
		assert.OK(t, err)
		if want := "```json\n" + string(text) + "\n```\n"; !strings.Contains(string(page), want) {
			t.Errorf("docs/events.md does not contain\n%s", want)
		}
	}
}

// TestID checks that the id is the same each time, and that it depends on the source and the event.
func TestID(t *testing.T) {
	t.Parallel()
	e := logged(eventlog.ContextFieldDeleted, "field:plan", eventlog.System, "", "")
	if first := sent(t, e); first.ID != "3d4ec756-f851-5d1b-b620-f861b3c40b89" || sent(t, e).ID != first.ID {
		t.Errorf("id %s", first.ID)
	}
	other, err := eventbus.New("other", e)
	if err != nil || other.ID == sent(t, e).ID {
		t.Error(other.ID, err)
	}
	e.ID++
	if sent(t, e).ID == other.ID {
		t.Error("two events have one id")
	}
}

func TestDefaultTypes(t *testing.T) {
	t.Parallel()
	want := []eventlog.Type{"feature-potentially-stale-off", "feature-potentially-stale-on", "feature-type-updated",
		"token-expiring"}
	assert.Equal(t, want, eventbus.DefaultTypes())
}
