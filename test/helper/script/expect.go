package script

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mismatch is an assertion that does not hold. A script expects it with !.
type mismatch string

// Error implements error.
func (m mismatch) Error() string { return string(m) }

func assert(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return mismatch(fmt.Sprintf(format, args...))
}

func (s *session) status(args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	return assert(strconv.Itoa(s.last.status) == args[0], "the status is %d", s.last.status)
}

func (s *session) header(args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	values := s.last.header.Values(args[0])
	got := strings.Join(values, ", ")
	if args[1] == "absent" {
		return assert(len(values) == 0, "the header %s is %q", args[0], redact(got))
	}
	holds, err := got == strings.Join(args[1:], " "), error(nil)
	if args[1] == "matches" {
		holds, err = regexp.MatchString(strings.Join(args[2:], " "), got)
	}
	return errors.Join(err, assert(len(values) == 1 && holds, "the header %s is %q", args[0], redact(got)))
}

func (s *session) json(args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	body, err := s.last.json()
	if err != nil {
		return err
	}
	value, exists := lookup(body, args[0])
	var holds bool
	switch args[1] {
	case "absent":
		return assert(!exists, "%s is %s", args[0], redact(show(value)))
	case "matches":
		holds, err = regexp.MatchString(strings.Join(args[2:], " "), show(value))
	case "members":
		holds = hasMembers(value, args[2:])
	default:
		holds = equal(value, strings.Join(args[1:], " "))
	}
	if !exists {
		return assert(false, "%s does not exist", args[0])
	}
	return errors.Join(err, assert(holds, "%s is %s", args[0], redact(show(value))))
}

func (s *session) body(args []string) error {
	if len(args) != 1 || args[0] != "empty" {
		return errUsage
	}
	return assert(len(s.last.body) == 0, "the body has %d bytes, want 0", len(s.last.body))
}

func (s *session) error(args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	switch want := strings.Join(args[2:], " "); args[1] {
	case "names":
		return s.last.errorObject(args[0], func(message string) bool {
			return slices.Equal(pointers(message), slices.Sorted(slices.Values(args[2:])))
		})
	case "matches":
		expression, err := regexp.Compile(want)
		if err != nil {
			return err
		}
		return s.last.errorObject(args[0], expression.MatchString)
	default:
		return s.last.errorObject(args[0], func(message string) bool { return message == strings.Join(args[1:], " ") })
	}
}

func (s *session) unauthenticated([]string) error { return s.environment.unauthenticated(s.last) }

func (s *session) capture(args []string) error {
	if len(args) != 3 || args[1] != "json" && args[1] != "header" {
		return errUsage
	}
	value, exists := any(s.last.header.Get(args[2])), s.last.header.Get(args[2]) != ""
	if args[1] == "json" {
		body, err := s.last.json()
		if err != nil {
			return err
		}
		value, exists = lookup(body, args[2])
	}
	s.ts.Setenv(args[0], show(value))
	return assert(exists, "%s does not exist", args[2])
}
