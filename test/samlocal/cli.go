package samlocal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long sam may take to end after SIGTERM: it stops its containers one after the other.
const stopTimeout = time.Minute

// CLI runs sam on the build of `make build-local`. It is safe for concurrent use.
type CLI struct {
	Program  string // sam
	Image    string // that the containers are made of; empty: AWS's own, which sam gets by itself
	Root     string // the repository's folder
	Endpoint string // of DynamoDB, as the containers reach it
}

// Invoke runs a function, named by its folder, once with its sample event, events/<function>.json, and gives what it answered: nothing else
// tells how it went, for sam succeeds whatever the function does. It takes seconds. The error holds sam's log, with the function's.
func (c CLI) Invoke(ctx context.Context, function string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command := c.command(ctx, "invoke", LogicalID(function), "--event", filepath.Join("events", function+".json"))
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("invoke %s: %w\n%s", function, err, &stderr)
	}
	if stdout.Len() == 0 {
		return nil, fmt.Errorf("invoke %s: it has not answered\n%s", function, &stderr)
	}
	return stdout.Bytes(), nil
}

// LogicalID is the name in the template of the function with this folder: ListFeatureTypesFunction for list-feature-types.
func LogicalID(function string) string {
	var id strings.Builder
	for word := range strings.SplitSeq(function, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String() + "Function"
}

// command is `sam local` with what each of its commands needs. The end of the context ends it, and its containers.
func (c CLI) command(ctx context.Context, arguments ...string) *exec.Cmd {
	arguments = append([]string{"local"}, arguments...)
	arguments = append(arguments, "--config-env", "local", "--parameter-overrides", "Architecture=x86_64 DynamoDBEndpoint="+c.Endpoint)
	if c.Image != "" {
		arguments = append(arguments, "--invoke-image", c.Image)
	}
	command := exec.CommandContext(ctx, c.Program, arguments...)
	command.Dir = c.Root
	command.Env = environment(os.Environ())
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTimeout
	return command
}

// environment takes a developer's own credentials, region and profile out of an environment: sam would hand them to the containers.
func environment(all []string) []string {
	own := slices.DeleteFunc(slices.Clone(all), func(variable string) bool { return strings.HasPrefix(variable, "AWS_") })
	return append(own, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "SAM_CLI_TELEMETRY=0")
}
