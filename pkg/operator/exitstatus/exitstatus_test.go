package exitstatus_test

import (
	"errors"
	"fmt"
	"testing"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
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

func TestExplain(t *testing.T) {
	t.Parallel()
	unreachable := errors.New("connection refused")
	for _, tt := range []struct {
		err    error
		status exitstatus.Status
		text   string
	}{
		{apierror.New(apierror.NotFound, `There is no toggle with the name "X.Y".`), exitstatus.NotFound,
			`there is no toggle with the name "X.Y"`},
		{fmt.Errorf("add: %w", apierror.New(apierror.NoAccess, "The maximum (1) is reached. Delete one first.")),
			exitstatus.Rejected, "the maximum (1) is reached: delete one first"},
		{apierror.New(apierror.NameExists, "It exists."), exitstatus.Rejected, "it exists"},
		{apierror.New(apierror.Conflict, "It is in use."), exitstatus.Rejected, "it is in use"},
		{apierror.New(apierror.ContentTooLarge, "It is too large."), exitstatus.Rejected, "it is too large"},
		{unreachable, exitstatus.Failure, "connection refused"},
	} {
		err := exitstatus.Explain(tt.err)
		assert.Equal(t, tt.status, exitstatus.Of(err))
		assert.Equal(t, tt.text, err.Error())
	}
	assert.OK(t, exitstatus.Explain(nil))
}
