package deploy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/test/process"
)

const (
	region = "eu-west-1"
	// key is id and secret of the emulator's root user, to whom no policy applies.
	key = "test"
	// patience bounds every wait. Usual are seconds.
	patience = 90 * time.Second
)

// emulator is a running ministack.
type emulator struct {
	tools  tools
	url    string
	dir    string // for its state and log, and for sam's files
	holder io.Closer
	group  int // its process group, which its functions are in
	ended  chan struct{}
	log    *os.File
}

// start starts an empty emulator with policies enforced, until the test ends.
func start(t *testing.T, tools tools) *emulator {
	t.Helper()
	port := freePort(t)
	e := &emulator{tools: tools, url: "http://127.0.0.1:" + strconv.Itoa(port), dir: t.TempDir(), ended: make(chan struct{})}
	log, err := os.Create(filepath.Join(e.dir, "ministack.log"))
	if err != nil {
		t.Fatal(err)
	}
	e.log = log
	t.Cleanup(func() { log.Close() })
	launcher, err := filepath.Abs("launch.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), tools.python, launcher)
	// Functions inherit all of it: a clean one, so that no setting of this machine leads them elsewhere.
	cmd.Env = append(e.environment(),
		"STATE="+e.dir, "GATEWAY_PORT="+strconv.Itoa(port), "BIND_HOST=127.0.0.1", "AUTH=true", "MINISTACK_REGION="+region,
		"STATE_DIR="+filepath.Join(e.dir, "state"), "S3_DATA_DIR="+filepath.Join(e.dir, "s3"),
		"DOCKER_HOST=unix://"+filepath.Join(e.dir, "none"), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if e.holder, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the emulator: %v", err)
	}
	e.group = cmd.Process.Pid
	go func() {
		defer close(e.ended)
		_ = cmd.Wait() // it ends by killing itself
	}()
	t.Cleanup(func() { e.stop(t) })
	e.awaitReady(t)
	return e
}

// stop ends the emulator and its functions.
func (e *emulator) stop(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.Logf("the end of the emulator's log:\n%s", e.tail())
	}
	e.holder.Close()
	select {
	case <-e.ended:
	case <-time.After(patience):
		t.Error("the emulator did not end by itself")
		_ = syscall.Kill(-e.group, syscall.SIGKILL)
		<-e.ended
	}
	await(t, "the end of the emulator's functions", func() bool { return syscall.Kill(-e.group, 0) != nil })
}

func (e *emulator) awaitReady(t *testing.T) {
	t.Helper()
	await(t, "the emulator's first answer", func() bool {
		select {
		case <-e.ended:
			t.Fatalf("the emulator has ended:\n%s", e.tail())
		default:
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"/_ministack/health", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// tail gives the end of the emulator's log.
func (e *emulator) tail() string {
	const most, longest = 20, 300
	content, err := os.ReadFile(e.log.Name())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		lines[i] = line[:min(len(line), longest)]
	}
	return strings.Join(lines, "\n")
}

// environment is how a program reaches the emulator and nothing else: nothing of this process's own environment is in it.
func (e *emulator) environment() []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + e.dir, "TMPDIR=" + e.dir, "LANG=C.UTF-8",
		"AWS_ENDPOINT_URL=" + e.url, "AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + key,
		"AWS_REGION=" + region, "AWS_DEFAULT_REGION=" + region, "AWS_EC2_METADATA_DISABLED=true",
		"SAM_CLI_TELEMETRY=0", "SAM_CLI_POLL_DELAY=1", "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}
}

// config is the same for AWS's SDK.
func (e *emulator) config() aws.Config {
	return aws.Config{
		Region: region, Credentials: credentials.NewStaticCredentialsProvider(key, key, ""), BaseEndpoint: aws.String(e.url),
	}
}

// sam runs the SAM CLI and gives what it printed, and an error with what matters of it. Questions are answered with yes.
func (e *emulator) sam(ctx context.Context, args ...string) (string, error) {
	const enough = 10 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.tools.sam, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = e.environment(), e.dir, strings.NewReader(strings.Repeat("y\n", 10))
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return output.String(), fmt.Errorf("sam %s: %w\n%s", args[0], err, whatFailed(output.String()))
	}
	return output.String(), nil
}

// whatFailed gives the events of resources that failed, and errors; where there are none, the end of what sam printed.
func whatFailed(output string) string {
	if found := regexp.MustCompile(`(?m)^(?:(?:CREATE|UPDATE|DELETE)_FAILED|Error).*(?:\n {20,}.*)*`).FindAllString(output, -1); found != nil {
		return strings.Join(found, "\n")
	}
	const most = 30
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// freePort gives a TCP port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%s is no TCP address", listener.Addr())
	}
	return address.Port
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	process.Await(t, what, 200*time.Millisecond, patience, holds)
}
