package browser_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"

	"toggleadmin/test/helper/assert"
)

// issuer is a process that runs an issuer. Each line that it gets replaces the issuer's signing key.
type issuer struct {
	url    string
	stdin  io.Writer
	stdout *bufio.Scanner
}

// startIssuer starts an issuer, which ends with the test.
func startIssuer(tb testing.TB, algorithm string) *issuer {
	tb.Helper()
	command := exec.CommandContext(tb.Context(), "node", "issuer.mjs", algorithm)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	assert.OK(tb, err)
	stdout, err := command.StdoutPipe()
	assert.OK(tb, err)
	assert.OK(tb, command.Start())
	i := &issuer{stdin: stdin, stdout: bufio.NewScanner(stdout)}
	i.stdout.Scan()
	i.url = i.stdout.Text()
	return i
}

// rotateKey replaces the issuer's signing key.
func (b *tab) rotateKey() {
	b.t.Helper()
	_, err := io.WriteString(b.service.issuer.stdin, "\n")
	assert.OK(b.t, err)
	b.service.issuer.stdout.Scan()
}
