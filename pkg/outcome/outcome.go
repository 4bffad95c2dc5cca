// Package outcome is how an operator's command ends: the kinds of failure with their exit statuses, and errors that say in one
// text what is wrong and what to do.
//
// The texts are for the person at the terminal. They hold no secrets, but they may name tables and what AWS said: whoever reads them has
// access to all of it.
package outcome

import (
	"errors"
	"fmt"
)

// Kind is a kind of failure. Its number is the exit status, which scripts know: none ever changes.
type Kind int

// The kinds.
const (
	Failure       Kind = iota + 1 // whatever is none of the others; also what `doctor` found
	Usage                         // the command line, or what was given on stdin
	NotFound                      // what the command names is not there
	Refused                       // what is there does not allow it, or nobody has confirmed it
	Uninitialised                 // the installation's tables are not filled, or not all there
	Unreachable                   // no such installation, or no way to it
	Denied                        // a permission is missing
)

// Status is the process's exit status: 0 is success, these follow.
func (k Kind) Status() int { return int(k) }

// Error is a failure of a kind.
type Error struct {
	Kind Kind
	text string
}

// New makes an error; its text says what is wrong and what to do about it.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, text: fmt.Sprintf(format, args...)}
}

// Error is the text.
func (e *Error) Error() string { return e.text }

// Of is the kind of an error; Failure where it says none.
func Of(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failure
}
