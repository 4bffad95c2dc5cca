package deploy_test

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
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
	port := process.FreePort(t)
	e := &emulator{tools: needTools(t), ctx: t.Context(), url: "http://127.0.0.1:" + port, dir: t.TempDir()}
	e.config = aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider(key, key, ""),
		BaseEndpoint: &e.url}
	cmd := exec.CommandContext(t.Context(), e.python, absolute(t, "test/deploy/launch.py"))
	cmd.Env = append(e.environment(), // functions inherit it
		"STATE="+e.dir, "GATEWAY_PORT="+port, "BIND_HOST=127.0.0.1", "AUTH=true", "MINISTACK_REGION="+region,
		"STATE_DIR="+filepath.Join(e.dir, "state"), "S3_DATA_DIR="+filepath.Join(e.dir, "s3"),
		"DOCKER_HOST=unix://"+filepath.Join(e.dir, "none"), "PYTHONDONTWRITEBYTECODE=1")
	var log process.Output
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	holder, err := cmd.StdinPipe()
	assert.OK(t, err)
	cmd.Cancel, cmd.WaitDelay = holder.Close, timeout // it ends by killing its process group
	assert.OK(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it was killed
	}()
	t.Cleanup(func() {
		<-ended
		if t.Failed() {
			t.Logf("the end of the emulator's log:\n%s", tail(log.String()))
		}
		await(t, "the end of the emulator's functions", func() bool { return syscall.Kill(-cmd.Process.Pid, 0) != nil })
	})
	await(t, "the emulator's first response", func() bool {
		select {
		case <-ended:
			t.Fatalf("the emulator has ended:\n%s", tail(log.String()))
		default:
		}
		return get(e.url+"/_ministack/health") == http.StatusOK
	})
	return e
}

// tail returns the end of a text.
func tail(text string) string { return text[max(0, len(text)-10_000):] }

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

// run runs sam, or a program of its virtual environment, in a folder, with yes as the answer to questions. It returns
// the output.
func (e *emulator) run(folder, program string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(e.ctx, time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(e.sam), program), arguments...)
	cmd.Env, cmd.Dir, cmd.Stdin = e.environment(), folder, strings.NewReader(strings.Repeat("y\n", 10))
	output, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", program, arguments[0], err, tail(string(output)))
	}
	return string(output), err
}

// get returns the status of a response; 0: there is none.
func get(url string) int {
	response, err := http.Get(url) //nolint:noctx // of this machine
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}
