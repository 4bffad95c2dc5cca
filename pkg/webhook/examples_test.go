package webhook_test

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/webhook"
	"toggleadmin/test/process"
)

// TestReceivers runs the receivers of docs/events.md in Go and JavaScript.
func TestReceivers(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs("../../node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, language, file string
		program              func(dir, file string) *exec.Cmd
	}{
		{"Go", "go", "main.go", func(dir, file string) *exec.Cmd {
			program := filepath.Join(dir, "receiver")
			if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, file).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return exec.CommandContext(t.Context(), program)
		}},
		{"JavaScript", "js", "receiver.mjs", func(dir, file string) *exec.Cmd {
			if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			return exec.CommandContext(t.Context(), "node", file)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, tt.file)
			_, code, _ := strings.Cut(string(page), "```"+tt.language+"\n")
			code, _, _ = strings.Cut(code, "```")
			if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			port := freePort(t)
			var out process.Output
			receiver := tt.program(dir, file)
			receiver.Env, receiver.Stdout, receiver.Stderr = append(os.Environ(), "SECRET="+secret, "PORT="+port), &out, &out
			if err := receiver.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = receiver.Process.Kill()
				_ = receiver.Wait()
			}()
			client := newClient(t, "http://127.0.0.1:"+port)
			process.Await(t, "the receiver", 10*time.Millisecond, time.Minute, func() bool {
				return client.Send(t.Context(), "1", []byte(body), secrets(t, second+" "+secret)) == nil &&
					strings.Contains(out.String(), "toggleadmin.token-expiring")
			})
			wrong := secrets(t, webhook.NewSecret(make([]byte, 32)))
			if err := client.Send(t.Context(), "1", []byte(body), wrong); err == nil || !strings.Contains(err.Error(), "401") {
				t.Errorf("with another secret: %v", err)
			}
		})
	}
}

// freePort returns a free port that the system assigns to no other program: one below the ports that it assigns.
func freePort(t *testing.T) string {
	t.Helper()
	for {
		port := strconv.Itoa(20000 + rand.N(10000))
		if listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			listener.Close()
			return port
		}
	}
}
