package app_test

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/helper/assert"
)

// The functions of no domain need nothing of their environment, and read nothing.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"not-found": `"statusCode":404.*The path you were looking for is not available\.`,
		"health":    `"statusCode":200.*"body":"{\\\"health\\\":\\\"GOOD\\\"}"`,
	} {
		env := &app.Env{Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			Random: strings.NewReader(strings.Repeat("x", 16))}
		handler, err := app.Find(app.Functions(), name)(env)
		assert.OK(t, err)
		got, err := handler.Invoke(t.Context(), []byte(`{}`))
		assert.OK(t, err)
		if !regexp.MustCompile(want).Match(got) {
			t.Errorf("%s does not match %s", got, want)
		}
	}
}
