package apierror_test

import (
	"errors"
	"fmt"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

// dependencyError reports whether it is true.
type dependencyError bool

func (dependencyError) Error() string { return "connection refused" }

func (e dependencyError) Unavailable() bool { return bool(e) }

func TestFrom(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"NotFoundError: no \"x\"":                     apierror.Errorf(apierror.NotFound, "no %q", "x"),
		"NotFoundError: m":                            fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "m")),
		"ServiceUnavailable: get: connection refused": fmt.Errorf("get: %w", dependencyError(true)),
		"InternalError: get: connection refused":      fmt.Errorf("get: %w", dependencyError(false)),
		"InternalError: m":                            errors.New("m"),
	} {
		got := apierror.From(err)
		if got.Error() != want || got.Cause != nil && !errors.Is(got, err) {
			t.Errorf("got %v, want %s", got, want)
		}
		assert.Equal(t, got.Kind, apierror.KindOf(err))
	}
	assert.Equal(t, apierror.Internal, apierror.KindOf(nil))
}

func TestIgnoreNotFound(t *testing.T) {
	t.Parallel()
	assert.OK(t, apierror.IgnoreNotFound(nil))
	assert.OK(t, apierror.IgnoreNotFound(fmt.Errorf("get: %w", apierror.New(apierror.NotFound, "There is none."))))
	for _, err := range []error{errors.New("x"), apierror.New(apierror.Conflict, "x"), apierror.NewUnavailable(nil)} {
		assert.ErrorIs(t, apierror.IgnoreNotFound(err), err)
	}
}
