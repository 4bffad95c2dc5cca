package main_test

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// typeTokens runs `tokens revoke -`, types each answer after its prompt, a regular expression, and prints what the
// terminal has shown.
func typeTokens(ts *testscript.TestScript, _ bool, args []string) {
	executable, err := os.Executable()
	ts.Check(err)
	process := exec.Cmd{
		Path: executable, Args: []string{"toggleadmin", "tokens", "revoke", "-", "--local"},
		Env: []string{"DATA_DIR=" + ts.Getenv("DATA_DIR")},
	}
	master, err := pty.Start(&process)
	ts.Check(err)
	defer master.Close()
	timeout := time.AfterFunc(time.Minute, func() { _ = process.Process.Kill() })
	defer timeout.Stop()
	var shown strings.Builder
	buffer := make([]byte, 1000)
	for seen := 0; ; {
		n, err := master.Read(buffer)
		shown.Write(buffer[:n])
		if len(args) > 1 {
			if found := regexp.MustCompile(args[0]).FindStringIndex(shown.String()[seen:]); found != nil {
				seen += found[1]
				_, err := master.WriteString(args[1] + "\n")
				ts.Check(err)
				args = args[2:]
			}
		}
		if err != nil { // EIO: the process has ended
			break
		}
	}
	_, err = ts.Stdout().Write([]byte(strings.ReplaceAll(shown.String(), "\r", "")))
	ts.Check(errors.Join(err, process.Wait()))
}
