package exitstatus_test

import (
	"errors"
	"fmt"
	"testing"

	"toggleadmin/pkg/operator/exitstatus"
)

// TestNumbers checks the documented exit statuses.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, status := range []exitstatus.Status{
		exitstatus.Success, exitstatus.Failure, exitstatus.Usage, exitstatus.NotFound, exitstatus.Rejected,
		exitstatus.Uninitialized,
		exitstatus.Unreachable, exitstatus.Denied,
	} {
		if err := fmt.Errorf("wrapped: %w", exitstatus.Errorf(status, "text")); int(exitstatus.Of(err)) != want {
			t.Errorf("the status is %d, want %d", exitstatus.Of(err), want)
		}
	}
	if err := errors.New("other"); exitstatus.Of(err) != exitstatus.Failure {
		t.Errorf("an error without a status has %d", exitstatus.Of(err))
	}
	if got := exitstatus.Of(nil); got != exitstatus.Success {
		t.Errorf("the status of nil is %d", got)
	}
}
