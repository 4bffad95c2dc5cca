package deploy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

const (
	region = "eu-west-1"
	// key is the access key and the secret of the emulator's root user, who is subject to no policy.
	key = "test"
)

// emulator is a running ministack.
type emulator struct {
	tools
	ctx    context.Context //nolint:containedctx // that of the test
	url    string
	dir    string // state, log and the files of sam
	config aws.Config
}

// start starts an emulator that enforces policies. It ends with the test.
func start(t *testing.T) *emulator {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())
	e := &emulator{tools: needTools(t), ctx: t.Context(), url: "http://" + address, dir: t.TempDir()}
	e.config = aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider(key, key, ""),
		BaseEndpoint: &e.url}
	log, err := os.Create(filepath.Join(e.dir, "ministack.log"))
	must(t, err)
	t.Cleanup(func() { log.Close() })
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), e.python, absolute(t, "test/deploy/launch.py"))
	_, port, _ := net.SplitHostPort(address)
	cmd.Env = append(e.environment(), // functions inherit it
		"STATE="+e.dir, "GATEWAY_PORT="+port, "BIND_HOST=127.0.0.1", "AUTH=true", "MINISTACK_REGION="+region,
		"STATE_DIR="+filepath.Join(e.dir, "state"), "S3_DATA_DIR="+filepath.Join(e.dir, "s3"),
		"DOCKER_HOST=unix://"+filepath.Join(e.dir, "none"), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	holder, err := cmd.StdinPipe() // the emulator ends when it is closed
	must(t, err)
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it ends by killing its process group
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the emulator's log:\n%s", tail(log.Name()))
		}
		stop(t, cmd.Process.Pid, holder, ended)
	})
	await(t, "the emulator's first response", func() bool {
		select {
		case <-ended:
			t.Fatalf("the emulator has ended:\n%s", tail(log.Name()))
		default:
		}
		_, _, err := exchange(t.Context(), http.MethodGet, e.url+"/_ministack/health", "", "", http.StatusOK)
		return err == nil
	})
	return e
}

// stop ends the emulator and its functions, which are in one process group.
func stop(t *testing.T, group int, holder io.Closer, ended <-chan struct{}) {
	t.Helper()
	holder.Close()
	select {
	case <-ended:
	case <-time.After(timeout):
		t.Error("the emulator did not end")
		_ = syscall.Kill(-group, syscall.SIGKILL)
		<-ended
	}
	await(t, "the end of the emulator's functions", func() bool { return syscall.Kill(-group, 0) != nil })
}

// tail returns the last lines of a file.
func tail(file string) string {
	const most = 6000
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-most):])
}

// environment returns the whole environment of sam and of the emulator.
func (e *emulator) environment() []string {
	return append(e.awsVariables(), "PATH=/usr/local/bin:/usr/bin:/bin", "HOME="+e.dir, "TMPDIR="+e.dir, "LANG=C.UTF-8",
		"SAM_CLI_TELEMETRY=0", "SAM_CLI_POLL_DELAY=1")
}

// awsVariables returns the variables with which a program uses the emulator.
func (e *emulator) awsVariables() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + e.url, "AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + key, "AWS_REGION=" + region,
		"AWS_DEFAULT_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true", "NO_PROXY=127.0.0.1,localhost",
		"no_proxy=127.0.0.1,localhost",
	}
}

var failedResource = regexp.MustCompile(`(?m)^(?:(?:CREATE|UPDATE|DELETE)_FAILED|Error).*(?:\n {20,}.*)*`)

// runSAM runs the SAM CLI, which gets yes as the answer to its questions, and returns its output. An error contains the
// failed resources.
func (e *emulator) runSAM(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(e.ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.sam, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = e.environment(), e.dir, strings.NewReader(strings.Repeat("y\n", 10))
	output, err := cmd.CombinedOutput()
	if err != nil {
		problems := failedResource.FindAllString(string(output), -1)
		if problems == nil {
			problems = []string{string(output)}
		}
		err = fmt.Errorf("sam %s: %w\n%s", args[0], err, strings.Join(problems, "\n"))
	}
	return string(output), err
}

// exchange sends a request, which must return the status.
func exchange(ctx context.Context, method, url, credential, body string, status int) (http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if credential != "" {
		r.Header.Set("Authorization", credential)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != status {
		err = fmt.Errorf("%s %s: status %d, want %d: %s", method, url, response.StatusCode, status, received)
	}
	return response.Header, received, err
}
