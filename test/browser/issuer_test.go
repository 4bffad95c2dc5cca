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

// newIssuer starts an issuer whose client is "console", and returns its URL. Logins are also the subjects.
func newIssuer(tb testing.TB, algorithm string) (url string) {
	tb.Helper()
	issuers.once.Do(func() { issuers.err = issuers.start() })
	must(tb, issuers.err)
	return issuers.post(tb, "/", map[string]any{"algorithm": algorithm, "accounts": map[string]map[string]any{
		// the seeded admin, in other letter case
		"grace": {"email": "Admin@Example.com", "email_verified": true, "name": "Grace"},
		"alan":  {"email": "admin@example.com", "email_verified": false, "name": "Alan"},
		"ada":   {"name": "Ada <b>L.</b>"},
	}})
}

// rotateKey replaces the issuer's signing key.
func (b *tab) rotateKey() {
	b.t.Helper()
	issuers.post(b.t, "/rotate", map[string]any{"issuer": b.service.issuer})
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

func (p *issuerProcess) post(tb testing.TB, path string, body any) (issuer string) {
	tb.Helper()
	sent, err := json.Marshal(body)
	must(tb, err)
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, p.control+path, bytes.NewReader(sent))
	must(tb, err)
	request.Close = true // Node.js may close a connection that is kept, while the request is sent
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatalf("%v\n%s", err, p.stderr.String())
	}
	defer response.Body.Close()
	var answer struct{ Issuer string }
	must(tb, json.NewDecoder(response.Body).Decode(&answer))
	return answer.Issuer
}
