package toggleadmin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"toggleadmin/test/process"
)

// newTerminal makes a terminal: what is written to one end is typed at the other.
func newTerminal() (keyboard, screen *os.File, err error) {
	keyboard, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(keyboard.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return keyboard, screen, err
}

// terminal types the answer once the program asks.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 3, "terminal ANSWER N program …")
	keyboard, screen, err := newTerminal()
	ts.Check(err)
	defer keyboard.Close()
	bin, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator)) // where every script has the program
	command := exec.Command(filepath.Join(bin, args[2]), args[3:]...)         //nolint:noctx // it ends with the answer
	command.Stdin, command.Stdout, command.Stderr = screen, screen, screen
	command.Env = append(os.Environ(), "DATA_DIR="+ts.Getenv("DATA_DIR"))
	ts.Check(command.Start())
	defer func() { _ = command.Process.Kill() }() // where it has not ended by itself
	screen.Close()
	var shown process.Output // what the terminal has shown so far
	read := make(chan struct{})
	asked := make(chan struct{}, 1)
	go func() {
		defer close(read)
		buffer := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buffer)
			_, _ = shown.Write(buffer[:n])
			if strings.Contains(shown.String(), "[y/N]") {
				select {
				case asked <- struct{}{}:
				default:
				}
			}
			if err != nil { // the program has ended
				return
			}
		}
	}()
	select {
	case <-asked:
		_, err := keyboard.WriteString(args[0] + "\n")
		ts.Check(err)
	case <-read:
		ts.Fatalf("it did not ask: %s", shown.String())
	case <-time.After(time.Minute):
		ts.Fatalf("it neither asked nor ended: %s", shown.String())
	}
	err = command.Wait()
	<-read
	ts.Logf("%s", shown.String())
	checkStatus(ts, err, args[1])
}
