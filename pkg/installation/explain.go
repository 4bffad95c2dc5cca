package installation

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"

	"github.com/aws/smithy-go"

	"toggleadmin/pkg/outcome"
)

// Explain says in an error's place what it means for the operator, where AWS or the network says no. Other errors, nil among them, stay
// as they are.
func (i *Installation) Explain(err error) error { return Explain(i.Name, err) }

// Explain is Installation.Explain where none is open yet; name is what was to be reached.
func Explain(name string, err error) error {
	if err == nil {
		return nil
	}
	if _, explained := errors.AsType[*outcome.Error](err); explained {
		return err
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch code := api.ErrorCode(); {
		case slices.Contains(denied(), code):
			return outcome.New(outcome.Denied, "a permission is missing on %s: %s", name, message(api))
		case slices.Contains(noCredentials(), code):
			return outcome.New(outcome.Unreachable, "AWS refuses the credentials: log in again, or name another profile by --profile: %s", message(api))
		case code == "ResourceNotFoundException":
			return outcome.New(outcome.Uninitialised,
				"a table of %s is not there, was it deleted by hand?: run `toggleadmin doctor` to see which: %s", name, message(api))
		}
		return err
	}
	if isNetwork(err) || errors.Is(err, context.DeadlineExceeded) {
		return outcome.New(outcome.Unreachable, "no answer from %s: check the region (--region) and the network: %v", name, err)
	}
	return err
}

// isNetwork says whether the network failed. An errno by itself, as of a full disk or a closed pipe, has a net.Error's methods, too.
func isNetwork(err error) bool {
	found, ok := errors.AsType[net.Error](err)
	if !ok {
		return false
	}
	_, errno := found.(syscall.Errno)
	return !errno
}

func message(api smithy.APIError) string {
	if api.ErrorMessage() == "" {
		return api.ErrorCode()
	}
	return api.ErrorMessage()
}

// The services' codes for a missing permission.
func denied() []string {
	return []string{"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "NotAuthorized"}
}

// The services' codes for credentials that are no good.
func noCredentials() []string {
	return []string{
		"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException",
		"SignatureDoesNotMatch", "InvalidSignatureException", "IncompleteSignature", "MissingAuthenticationToken", "OptInRequired",
	}
}
