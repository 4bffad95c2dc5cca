// Package stack_test tests that scripts/stack.sh rejects wrong arguments before it runs the SAM CLI. The commands themselves run in
// `make test-deploy`.
package stack_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/test/process"
)

const root = "../../"

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	process.DependOn(t, root+"scripts", root+"functions")
	folders, err := filepath.Glob(root + "functions/*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range folders {
		folders[i] = filepath.Base(folders[i])
	}
	const (
		environment = "unknown ENV 'production': dev, staging or prod\n"
		notDeleted  = "This deletes the stack toggleadmin-prod and its API. The tables are kept.\nEnter the name of the stack to continue: " +
			"not deleted: this is not the name of the stack\n"
	)
	functions := ": one of " + strings.Join(folders, " ") + "\n"
	for _, tt := range []struct{ arguments, stdin, want string }{
		{"deploy production", "", environment},
		{"check production", "", environment},
		{"deploy ''", "", "unknown ENV '': dev, staging or prod\n"},
		{"destroy dev", "", "unknown action 'destroy': check, deploy, sync, logs, outputs or delete\n"},
		{"sync prod", "", "sync bypasses alarms and confirmation: use it only with ENV=dev, not 'prod'\n"},
		{"logs dev ''", "", "unknown FN ''" + functions},
		{"logs dev authorize", "", "unknown FN 'authorize'" + functions},
		{"logs dev 'authorizer not-found'", "", "unknown FN 'authorizer not-found'" + functions},
		{"delete prod", "yes\n", notDeleted},
		{"delete prod", "", notDeleted},
	} {
		t.Run(tt.arguments, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "sh", "-c", "exec "+root+"scripts/stack.sh "+tt.arguments)
			command.Stdin = strings.NewReader(tt.stdin)
			output, _ := command.CombinedOutput()
			if status := command.ProcessState.ExitCode(); status != 2 || string(output) != tt.want {
				t.Errorf("status %d, %q, want status 2, %q", status, output, tt.want)
			}
		})
	}
}
