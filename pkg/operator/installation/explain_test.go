package installation_test

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	api := func(code string) error {
		return fmt.Errorf("put: %w", &smithy.GenericAPIError{Code: code, Message: "message of AWS"})
	}
	explain := func(err error) error { return installation.Explain(`the stack "x"`, false, err) }
	assert.Equal(t, `7 a permission is missing on the stack "x": api error AccessDeniedException: message of AWS
6 AWS rejects the credentials: log in again, or name another profile with --profile: api error ExpiredTokenException: message of AWS
5 a table of the stack "x" does not exist: run ~toggleadmin doctor~ to see which one: api error ResourceNotFoundException: message of AWS
1 put: api error InternalServerError: message of AWS
6 the stack "x" cannot be reached: check the region (--region) and the network: get: context deadline exceeded
6 the stack "x" cannot be reached: check the region (--region) and the network: dial: connection refused
1 write out: no space left on device
4 no
0 <nil>
6 the local service cannot be reached: check that ~make run~ is running, or restart it: context deadline exceeded
`, statuses(
		explain(api("AccessDeniedException")),
		explain(api("ExpiredTokenException")),
		explain(api("ResourceNotFoundException")),
		explain(api("InternalServerError")),
		explain(fmt.Errorf("get: %w", context.DeadlineExceeded)),
		explain(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}),
		explain(&fs.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC}),
		explain(exitstatus.Errorf(exitstatus.Rejected, "no")),
		explain(nil),
		installation.Explain("the local service", true, context.DeadlineExceeded),
	))
}

// statuses returns a line for each error: its exit status and its message, in which ~ stands for a backquote.
func statuses(errs ...error) (lines string) {
	for _, err := range errs {
		lines += fmt.Sprintf("%d %v\n", exitstatus.Of(err), err)
	}
	return strings.ReplaceAll(lines, "`", "~")
}
