package eventsearch_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

func TestEveryTypeHasALabelAndASummary(t *testing.T) {
	t.Parallel()
	for _, kind := range eventlog.Types() {
		e := eventlog.Event{Type: kind, Subject: "kind:x", By: eventlog.Actor{Name: "Ada"}}
		if s := eventsearch.Summary(e); kind.Label() == "" || strings.Contains(s, string(kind)) || strings.Contains(s, "%!") ||
			!strings.HasSuffix(s, ".") {
			t.Errorf("%s: label %q, summary %q", kind, kind.Label(), s)
		}
	}
}

// A change in an environment names it.
func TestSummaryInAnEnvironment(t *testing.T) {
	t.Parallel()
	for kind, want := range map[eventlog.Type]string{
		"feature-environment-enabled":  "Ada turned on the toggle a in production.",
		"feature-environment-disabled": "Ada turned off the toggle a in production.",
		"feature-strategy-add":         "Ada added a strategy to the toggle a in production.",
		"feature-strategy-update":      "Ada updated a strategy of the toggle a in production.",
		"feature-strategy-remove":      "Ada removed a strategy of the toggle a in production.",
		"strategy-order-changed":       "Ada changed the order of the strategies of the toggle a in production.",
	} {
		e := eventlog.Event{Type: kind, Subject: "toggle:a", FeatureName: "a", Environment: "production",
			By: eventlog.Actor{Name: "Ada"}}
		assert.Equal(t, want, eventsearch.Summary(e))
	}
	e := eventlog.Event{Type: "environment-created", Subject: "environment:production", Environment: "production",
		By: eventlog.Actor{Name: "Ada"}}
	assert.Equal(t, "Ada created the environment production.", eventsearch.Summary(e))
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind          eventlog.Type
		subject       eventlog.Subject
		data, preData string
		want          string
	}{
		{"feature-type-updated", "type:release", `{"lifetimeDays":1}`, `{"lifetimeDays":null}`,
			"Ada (user 1) changed the lifetime of the toggle type release from never to 1 day."},
		{"feature-tagged", "toggle:a", `{"type":"team","value":"checkout"}`, "",
			"Ada (user 1) added the tag team:checkout to the toggle a."},
		{"feature-untagged", "toggle:a", "", `{"type":"team","value":"checkout"}`,
			"Ada (user 1) removed the tag team:checkout from the toggle a."},
		{"project-environment-added", "project:shop", `{"environment":"staging"}`, "",
			"Ada (user 1) added the environment staging to the project shop."},
		{"project-environment-removed", "project:shop", "", `{"environment":"staging"}`,
			"Ada (user 1) removed the environment staging from the project shop."},
		{"token-expiring", "pat:7", `{"description":"ci","days":1}`, "", "The token 7 (ci) expires in at most 1 day."},
		{"token-expiring", "client-token:AQEB", `{"tokenName":"shop","days":7}`, "",
			"The token AQEB (shop) expires in at most 7 days."},
		{"token-expiring", "pat:7", `{"days":14}`, "", "The token 7 expires in at most 14 days."},
		{"feature-potentially-stale-off", "toggle:a", `{"reason":"archived"}`, "",
			"The toggle a is no longer potentially stale (archived)."},
		{"change-request-scheduled", "change-request:7", `{"schedule":{"scheduledAt":"2026-12-31T09:00:00.000Z"}}`, "",
			"Ada (user 1) scheduled the change request 7 for 2026-12-31T09:00:00.000Z."},
		{"change-request-schedule-suspended", "change-request:7", `{"schedule":{"reason":"The environment is frozen: Sale"}}`, "",
			"The change request 7 was not applied at its time: The environment is frozen: Sale."},
		{"change-request-schedule-failed", "change-request:7", `{"schedule":{"reason":"It has conflicts."}}`, "",
			"The change request 7 could not be applied at its time: It has conflicts."},
		{"feature-archived", "toggle:a", `{"archived":true}`, `{"archived":false}`, "Ada (user 1) archived the toggle a."},
		{"feature-stale-on", "toggle:a", `{"stale":true}`, `{"stale":false}`, "Ada (user 1) marked the toggle a as stale."},
		{"feature-updated", "toggle:a", `{"name":"A","project":"p","type":"x"}`, `{"name":"A","project":"q"}`,
			"Ada (user 1) updated the toggle a: project, type."},
		{"context-field-updated", "field:f", `{"description":"b","legalValues":{"length":100}}`,
			`{"description":"a","legalValues":{"length":100}}`, "Ada (user 1) updated the context field f: description."},
		{"user-updated", "user:7", `{"disabled":true,"changed":["email","name"]}`, `{"disabled":false}`,
			"Ada (user 1) updated the person 7 (Bob): disabled (now true), email, name."},
		{"service-account-updated", "account:7", `{"name":"CI","rootRole":{"name":"Editor"}}`, `{"name":"CI","rootRole":{"name":"Admin"}}`,
			"Ada (user 1) updated the service account 7 (CI): rootRole (now Editor)."},
		{"other", "x:1", "", "", "Ada (user 1): other."},
	} {
		e := eventlog.Event{Type: tt.kind, Subject: tt.subject, By: eventlog.Actor{Name: "Ada", UserID: 1},
			Data: []byte(tt.data), PreData: []byte(tt.preData)}
		if e.Subject == "user:7" {
			e.SubjectName = "Bob"
		}
		assert.Equal(t, tt.want, eventsearch.Summary(e))
	}
}
