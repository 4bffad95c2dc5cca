package installation_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/outcome"
)

var errOther = errors.New("something else")

func TestExplain(t *testing.T) {
	t.Parallel()
	api := func(code string) error {
		return fmt.Errorf("put: %w", apierror.NewUnavailable(&smithy.GenericAPIError{Code: code, Message: "what AWS says"}))
	}
	for _, tt := range []struct {
		name string
		err  error
		want outcome.Kind
		text string
	}{
		{"DynamoDB's denial", api("AccessDeniedException"), outcome.Denied, `a permission is missing on the stack "x": what AWS says`},
		{"CloudFormation's denial", api("AccessDenied"), outcome.Denied, "what AWS says"},
		{"old credentials", api("ExpiredTokenException"), outcome.Unreachable, "AWS refuses the credentials: log in again"},
		{"wrong credentials", api("UnrecognizedClientException"), outcome.Unreachable, "AWS refuses the credentials"},
		{"a table is gone", api("ResourceNotFoundException"), outcome.Uninitialised, "was it deleted by hand?"},
		{"another answer", api("InternalServerError"), outcome.Failure, "what AWS says"},
		{"no connection", fmt.Errorf("get: %w", &net.OpError{Op: "dial", Err: errOther}), outcome.Unreachable, `no answer from the stack "x"`},
		{"no answer in time", fmt.Errorf("get: %w", context.DeadlineExceeded), outcome.Unreachable, `no answer from the stack "x"`},
		{"a full disk", fmt.Errorf("print: %w", &fs.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC}), outcome.Failure, "no space left"},
		{"a refused connection", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, outcome.Unreachable, `no answer from the stack "x"`},
		{"a defect of ours", errOther, outcome.Failure, "something else"},
		{"explained already", outcome.New(outcome.Refused, "no"), outcome.Refused, "no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := installation.Explain(`the stack "x"`, tt.err)
			if outcome.Of(err) != tt.want || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%d, %v", outcome.Of(err), err)
			}
		})
	}
	if err := installation.Explain("x", nil); err != nil {
		t.Error(err)
	}
}
