// Package exitstatus defines the exit statuses of toggleadmin, and errors that have one.
//
// The texts of these errors are for operators: they state what is wrong and what to do. They may name tables and quote
// what AWS returned, but they contain no secrets.
package exitstatus

import (
	"errors"
	"fmt"
	"strings"

	"toggleadmin/pkg/platform/apierror"
)

// Status is an exit status. Scripts depend on the numbers, so they never change.
type Status int

// The exit statuses.
const (
	Success       Status = iota
	Failure              // any other failure; for doctor: a problem was found
	Usage                // invalid arguments or input
	NotFound             // what the command names does not exist; for import: something was lost
	Rejected             // already exists, limit reached, or not confirmed
	Uninitialized        // the installation is not initialized, or a table is missing
	Unreachable          // the installation does not exist or cannot be reached
	Denied               // a permission is missing
)

// Lost is the status of an import that has ended, but lost something.
const Lost = NotFound

// Changes is the status of plan --detailed-exitcode if something would change.
const Changes = Usage

type statusError struct {
	status Status
	text   string
}

func (e *statusError) Error() string { return e.text }

// Errorf returns an error with a status.
func Errorf(status Status, format string, args ...any) error {
	return &statusError{status, fmt.Sprintf(format, args...)}
}

// Of returns the status of an error: Success for nil, Failure for an error without a status.
func Of(err error) Status {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	if err != nil {
		return Failure
	}
	return Success
}

// Explain returns the error of a command for an error of a store, which has a kind and a message for clients of the API.
// Other errors stay as they are.
func Explain(err error) error {
	var status Status
	switch apierror.KindOf(err) {
	case apierror.NotFound:
		status = NotFound
	case apierror.NoAccess, apierror.ContentTooLarge, apierror.NameExists, apierror.Conflict:
		status = Rejected
	default:
		return err
	}
	return Errorf(status, "%s", asClauses(apierror.From(err).Message))
}

// asClauses returns the sentences of a message in the form of a command's errors: "It exists. Delete it." becomes
// "it exists: delete it". The names in messages have no spaces.
func asClauses(message string) string {
	clauses := strings.Split(strings.TrimSuffix(message, "."), ". ")
	for i, c := range clauses {
		clauses[i] = strings.ToLower(c[:1]) + c[1:]
	}
	return strings.Join(clauses, ": ")
}
