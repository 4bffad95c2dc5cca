package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"toggleadmin/test/script"
)

// check is something that holds for a deployed and seeded stack. It may be tried again on the same stack.
type check struct {
	name string
	// try waits for what comes later, but for no more than patience. An error says what does not hold.
	try func(ctx context.Context, s *stack, patience time.Duration) error
}

// checks is all that a stack must do.
func checks() []check {
	return []check{
		{"the end-to-end scripts over HTTP", tryScripts(0)},
		{"a token that was used has been seen", trySeen},
		{"lines of the access log are counted", tryTraffic},
		{"lifetimes reach the flags by the stream", tryStream},
		{"the sweep flags what is due", trySweep},
	}
}

// tryScripts runs the end-to-end scripts, up to so many failures; with 0 all.
func tryScripts(enough int) func(ctx context.Context, s *stack, _ time.Duration) error {
	return func(ctx context.Context, s *stack, _ time.Duration) error {
		ground, err := s.ground()
		if err != nil {
			return err
		}
		failed, err := script.Failures(ctx, ground, absolute(filepath.Join("test", "e2e", "testdata")), enough)
		errs := []error{err}
		for _, f := range failed {
			errs = append(errs, fmt.Errorf("the script %s failed:\n%s", f.Script, f.Log))
		}
		return errors.Join(errs...)
	}
}

// checkAll makes a step of each check. Of one that fails the test says what functions logged.
func (s *stack) checkAll(t *testing.T) {
	t.Helper()
	for _, c := range checks() {
		step(t, c.name, func(t *testing.T) {
			started := time.Now()
			if err := c.try(t.Context(), s, patience); err != nil {
				t.Error(err)
				for _, fault := range s.faults(t, started) {
					t.Error(fault)
				}
			}
		})
	}
}

// within tries until there is no error or patience has ended, and gives the last error.
func within(ctx context.Context, patience time.Duration, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", patience, err)
		case <-tick.C:
		}
	}
}

// put changes something over HTTP as the administrator.
func (s *stack) put(ctx context.Context, path, body string) error {
	_, err := s.request(ctx, http.MethodPut, path, s.credentials.Users[0].PAT, body, http.StatusOK)
	return err
}
