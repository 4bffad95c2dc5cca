package browser_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"toggleadmin/test/process"
)

// issuers is the process that runs the issuers of all tests. It starts with the first test that needs it.
var issuers = &issuerProcess{}

type issuerProcess struct {
	once    sync.Once
	command *exec.Cmd
	stdin   io.Closer // the process ends with it
	stderr  process.Output
	control string // URL
	err     error
}

// claims are what the issuer knows about an account.
type claims map[string]any

// newIssuer starts an issuer whose client is "console", and returns its URL. accounts are by login, which is also the
// subject.
func newIssuer(t *testing.T, algorithm string, accounts map[string]claims) (url string) {
	t.Helper()
	issuers.once.Do(func() { issuers.err = issuers.start() })
	must(t, issuers.err)
	return issuers.post(t, "/", map[string]any{"algorithm": algorithm, "accounts": accounts})
}

// rotateKey replaces the issuer's signing key.
func rotateKey(t *testing.T, issuer string) {
	t.Helper()
	issuers.post(t, "/rotate", map[string]any{"issuer": issuer})
}

func (p *issuerProcess) start() error {
	p.command = exec.Command("node", "issuer.mjs") //nolint:noctx // it ends with its standard input
	p.command.Stderr = &p.stderr
	stdin, err := p.command.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.command.Start(); err != nil {
		return err
	}
	p.stdin = stdin
	p.control, err = bufio.NewReader(stdout).ReadString('\n')
	p.control = strings.TrimSpace(p.control)
	return err
}

func (p *issuerProcess) close() {
	if p.stdin != nil {
		_ = p.stdin.Close()
		_ = p.command.Wait()
	}
}

func (p *issuerProcess) post(t *testing.T, path string, body any) (issuer string) {
	t.Helper()
	sent, err := json.Marshal(body)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.control+path, bytes.NewReader(sent))
	must(t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.stderr.String())
	}
	defer response.Body.Close()
	var answer struct{ Issuer string }
	must(t, json.NewDecoder(response.Body).Decode(&answer))
	return answer.Issuer
}
