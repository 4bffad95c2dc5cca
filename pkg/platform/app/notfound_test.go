package app_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/app"
)

func TestNotFound(t *testing.T) {
	t.Parallel()
	env := &app.Env{Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Random: strings.NewReader(strings.Repeat("x", 16))}
	handler, err := app.NewNotFoundFunction(env)
	if err != nil {
		t.Fatal(err)
	}
	got, err := handler.Invoke(t.Context(), []byte(`{}`))
	if err != nil || !bytes.Contains(got, []byte(`"statusCode":404`)) ||
		!bytes.Contains(got, []byte("The path you were looking for is not available.")) {
		t.Errorf("got %s, %v", got, err)
	}
}
