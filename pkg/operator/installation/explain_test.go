package installation_test

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	api := func(code string) error {
		return fmt.Errorf("put: %w", &smithy.GenericAPIError{Code: code, Message: "message of AWS"})
	}
	for _, tt := range []struct {
		name string
		err  error
		want exitstatus.Status
		text string
	}{
		{"DynamoDB denies", api("AccessDeniedException"), exitstatus.Denied,
			`on the stack "x": api error AccessDeniedException: message`},
		{"expired credentials", api("ExpiredTokenException"), exitstatus.Unreachable,
			"AWS rejects the credentials: log in again"},
		{"no table", api("ResourceNotFoundException"), exitstatus.Uninitialized, "does not exist"},
		{"another response", api("InternalServerError"), exitstatus.Failure, "message of AWS"},
		{"timeout", fmt.Errorf("get: %w", context.DeadlineExceeded), exitstatus.Unreachable,
			`the stack "x" cannot be reached`},
		{"refused connection", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, exitstatus.Unreachable,
			"cannot be reached"},
		{"full disk", &fs.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC}, exitstatus.Failure, "no space left"},
		{"error with a status", exitstatus.Errorf(exitstatus.Rejected, "no"), exitstatus.Rejected, "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, installation.Explain(`the stack "x"`, false, tt.err), tt.want, tt.text)
		})
	}
	check(t, installation.Explain("the local service", true, context.DeadlineExceeded), exitstatus.Unreachable,
		"the local service cannot be reached: check that `make run` is running")
	if err := installation.Explain("x", false, nil); err != nil {
		t.Error(err)
	}
}
