// Package sam runs functions with `sam local`, in containers. The data are in an engine on this machine.
package sam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startTimeout = 10 * time.Minute // the first start may download an image
	stopTimeout  = time.Minute      // sam stops its containers one after another
)

// ErrEnded means that sam ended by itself. Its log has the reason.
var ErrEnded = errors.New("sam local start-api has ended")

// CLI runs sam. It is safe for concurrent use.
type CLI struct {
	Program     string   // sam
	Root        string   // folder of the repository
	Template    string   // built by sam; empty: the one of `sam build --config-env local`
	Endpoint    string   // of DynamoDB, as containers reach it
	Environment []string // of this process
}

// command returns a command of `sam local`. The end of the context ends it and its containers.
func (c CLI) command(ctx context.Context, arguments ...string) *exec.Cmd {
	arguments = append([]string{"local"}, arguments...)
	architecture := "x86_64"
	if runtime.GOARCH == "arm64" {
		architecture = "arm64"
	}
	arguments = append(arguments, "--config-env", "local", "--parameter-overrides",
		"Architecture="+architecture+" DynamoDBEndpoint="+c.Endpoint)
	if c.Template != "" { // with which sam searches samconfig.toml in the template's folder
		config, _ := filepath.Abs(filepath.Join(c.Root, "samconfig.toml"))
		arguments = append(arguments, "--template-file", c.Template, "--config-file", config)
	}
	command := exec.CommandContext(ctx, c.Program, arguments...) //nolint:gosec // the program of the caller
	command.Dir = c.Root
	// sam passes credentials, region and profile to the containers.
	own := slices.DeleteFunc(slices.Clone(c.Environment),
		func(variable string) bool { return strings.HasPrefix(variable, "AWS_") })
	command.Env = append(own, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "SAM_CLI_TELEMETRY=0")
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTimeout
	return command
}

// Invoke calls a function, given by its logical ID, with an event from a file, and returns its response. sam succeeds
// even if the function fails. It takes seconds. The output of sam and of the function is written to log.
func (c CLI) Invoke(ctx context.Context, logicalID, eventFile string, log io.Writer) ([]byte, error) {
	var stdout bytes.Buffer
	command := c.command(ctx, "invoke", logicalID, "--event", eventFile)
	command.Stdout, command.Stderr = &stdout, log
	err := command.Run()
	if err == nil && stdout.Len() == 0 {
		err = errors.New("there is no response")
	}
	if err != nil {
		return nil, fmt.Errorf("invoke %s: %w", logicalID, err)
	}
	return stdout.Bytes(), nil
}

// API is a running `sam local start-api`.
type API struct {
	URL   string
	Ended <-chan struct{} // closed when sam has ended

	stop context.CancelFunc
	err  error // set before Ended is closed
}

// StartAPI serves the API on a free port of 127.0.0.1 and waits until it accepts connections. The output of sam and of
// the functions is written to log.
func (c CLI) StartAPI(ctx context.Context, port int, log io.Writer) (*API, error) {
	number := strconv.Itoa(port)
	address := net.JoinHostPort("127.0.0.1", number)
	ctx, stop := context.WithCancel(ctx)
	command := c.command(ctx, "start-api", "--host", "127.0.0.1", "--port", number)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		stop()
		return nil, fmt.Errorf("start sam: %w", err)
	}
	ended := make(chan struct{})
	api := &API{URL: "http://" + address, Ended: ended, stop: stop}
	go func() {
		defer close(ended)
		if err := command.Wait(); ctx.Err() == nil {
			api.err = errors.Join(ErrEnded, err)
		}
	}()
	if err := api.awaitReady(ctx, address); err != nil {
		return nil, errors.Join(err, api.Stop())
	}
	return api, nil
}

// Stop ends sam and its containers. It returns ErrEnded if sam had ended by itself.
func (a *API) Stop() error {
	a.stop()
	<-a.Ended
	return a.err
}

func (a *API) awaitReady(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-a.Ended:
			return errors.New("sam local start-api did not become ready")
		case <-ctx.Done():
			return fmt.Errorf("wait for sam local start-api: %w", ctx.Err())
		case <-tick.C:
		}
	}
}
