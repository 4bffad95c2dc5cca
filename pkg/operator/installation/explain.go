package installation

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/operator/exitstatus"
)

var (
	// deniedCodes are the error codes of AWS services for a missing permission.
	deniedCodes = []string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError",
		"NotAuthorized"}
	// credentialCodes are the error codes of AWS services for invalid credentials.
	credentialCodes = []string{
		"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException",
		"SignatureDoesNotMatch", "InvalidSignatureException", "IncompleteSignature", "MissingAuthenticationToken",
		"OptInRequired",
	}
)

// Explain replaces an error of AWS or the network by one that states what an operator can do. It returns other errors,
// and nil, unchanged. name is the installation that was called; local reports whether it is the local service.
func Explain(name string, local bool, err error) error {
	if exitstatus.Of(err) != exitstatus.Failure {
		return err
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch code := api.ErrorCode(); {
		case slices.Contains(deniedCodes, code):
			return exitstatus.Errorf(exitstatus.Denied, "a permission is missing on %s: %v", name, api)
		case slices.Contains(credentialCodes, code):
			return exitstatus.Errorf(exitstatus.Unreachable,
				"AWS rejects the credentials: log in again, or name another profile with --profile: %v", api)
		case code == "ResourceNotFoundException":
			return exitstatus.Errorf(exitstatus.Uninitialized,
				"a table of %s does not exist: run `toggleadmin doctor` to see which one: %v", name, api)
		}
		return err
	}
	if isNetwork(err) || errors.Is(err, context.DeadlineExceeded) {
		advice := "check the region (--region) and the network"
		if local {
			advice = "check that `make run` is running, or restart it"
		}
		return exitstatus.Errorf(exitstatus.Unreachable, "%s cannot be reached: %s: %v", name, advice, err)
	}
	return err
}

// isNetwork reports whether the network failed. A bare errno, such as of a full disk, implements net.Error too.
func isNetwork(err error) bool {
	found, ok := errors.AsType[net.Error](err)
	if !ok {
		return false
	}
	_, errno := found.(syscall.Errno)
	return !errno
}
