package deploy_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestOperator runs the operator's command line on a new stack, from init to doctor: the scripts of cmd/toggleadmin for stacks, and those
// that need an emulator, with wrong names, missing tables and missing permissions.
func TestOperator(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t, needTools(t))
	var s *stack
	step(t, "sam deploy", func(t *testing.T) { s = e.deploy(t, deployment{environment: "default", name: "operated"}) })
	step(t, "toggleadmin", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", "^(TestStack|TestEmulator)$", "./cmd/toggleadmin")
		cmd.Dir = absolute("")
		// No profile of this machine leads it elsewhere.
		cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
		for _, pair := range e.environment() {
			if strings.HasPrefix(pair, "AWS_") || strings.HasPrefix(strings.ToUpper(pair), "NO_PROXY=") {
				cmd.Env = append(cmd.Env, pair)
			}
		}
		cmd.Env = append(cmd.Env, "STACK="+s.name, "API_URL="+s.baseURL)
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if !strings.Contains(string(output), "--- PASS: TestStack/operator") || strings.Contains(string(output), "--- SKIP") {
			t.Errorf("it ran no script:\n%s", output)
		}
	})
}
