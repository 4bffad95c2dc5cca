package deploy_test

import (
	"testing"
)

// TestDeploy takes a stack through its life.
func TestDeploy(t *testing.T) { //nolint:paralleltest // steps of one story
	tools := needTools(t)
	var e *emulator
	var s *stack
	e = start(t, tools)
	step(t, "sam deploy", func(t *testing.T) { s = e.deploy(t, deployment{environment: "default"}) })
	step(t, "seed", func(t *testing.T) {
		if err := s.seed(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	s.checkAll(t)
	step(t, "sam delete", func(t *testing.T) { s.delete(t) })
}
