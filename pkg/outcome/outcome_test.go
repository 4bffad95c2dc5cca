package outcome_test

import (
	"errors"
	"fmt"
	"testing"

	"toggleadmin/pkg/outcome"
)

// TestStatus holds the documented exit statuses.
func TestStatus(t *testing.T) {
	t.Parallel()
	for kind, want := range map[outcome.Kind]int{
		outcome.Failure: 1, outcome.Usage: 2, outcome.NotFound: 3, outcome.Refused: 4, outcome.Uninitialised: 5, outcome.Unreachable: 6, outcome.Denied: 7,
	} {
		err := fmt.Errorf("wrapped: %w", outcome.New(kind, "%d", want))
		if got := outcome.Of(err).Status(); got != want {
			t.Errorf("kind %d: %d, want %d", kind, got, want)
		}
	}
	if got := outcome.Of(errors.New("none")).Status(); got != 1 {
		t.Errorf("an error of no kind: %d", got)
	}
}
