package logging_test

import (
	"errors"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/logging"
)

func TestCause(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", 4096)
	for text, want := range map[string]string{longest: longest, longest + "y": longest + "…"} {
		if got := logging.Cause(errors.New(text)); got.Key != "cause" || got.Value.String() != want {
			t.Errorf("%d bytes: %s", len(text), got)
		}
	}
}
