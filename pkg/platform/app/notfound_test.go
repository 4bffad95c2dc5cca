package app_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/test/assert"
)

func TestNotFound(t *testing.T) {
	t.Parallel()
	env := &app.Env{Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Random: strings.NewReader(strings.Repeat("x", 16))}
	handler, err := app.Find(app.Functions(), "not-found")(env)
	assert.OK(t, err)
	got, err := handler.Invoke(t.Context(), []byte(`{}`))
	assert.OK(t, err)
	for _, want := range []string{`"statusCode":404`, "The path you were looking for is not available."} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s does not contain %s", got, want)
		}
	}
}
