package template_test

import (
	"regexp"
	"testing"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/template"
)

// TestEventTypes checks that the parameter WebhookEvents accepts each type of event.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	all, _ := template.Parameters(t, file)
	accepted := regexp.MustCompile(all["WebhookEvents"].AllowedPattern)
	for _, kind := range eventlog.Types() {
		if !accepted.MatchString(string(kind)) {
			t.Errorf("WebhookEvents does not accept %s", kind)
		}
	}
	if accepted.MatchString("feature-renamed") {
		t.Error("WebhookEvents accepts a type that does not exist")
	}
}
