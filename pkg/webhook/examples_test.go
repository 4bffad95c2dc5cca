package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

// github is the part of GitHub's API for issues that the recipe uses.
type github struct {
	mu     sync.Mutex
	issues []map[string]any
	fail   bool // the next creation has no response
}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var in map[string]any
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	var out any
	switch r.Method {
	case http.MethodGet:
		query := r.URL.Query()
		page, _ := strconv.Atoi(query.Get("page"))
		size, _ := strconv.Atoi(query.Get("per_page"))
		if query.Get("state") != "all" || query.Get("labels") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		begin := min((page-1)*size, len(g.issues))
		out = g.issues[begin:min(begin+size, len(g.issues))]
	case http.MethodPost:
		in["number"], in["state"] = len(g.issues)+1, "open"
		g.issues = append(g.issues, in)
		if out = in; g.fail {
			g.fail = false
			w.WriteHeader(http.StatusBadGateway)
			return
		}
	case http.MethodPatch:
		number, err := strconv.Atoi(path.Base(r.URL.Path))
		if err != nil || number < 1 || number > len(g.issues) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		maps.Copy(g.issues[number-1], in)
		out = in
	}
	_ = json.NewEncoder(w).Encode(out)
}

// TestTicketRecipe runs the recipe for tickets with repeated, concurrent and reordered events, and more issues than a page has.
func TestTicketRecipe(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	_, receiver, _ := strings.Cut(string(page), "```js\n")
	receiver, _, _ = strings.Cut(receiver, "```")
	_, recipe, _ := strings.Cut(string(page), "### A ticket\n")
	_, recipe, _ = strings.Cut(recipe, "```js\n")
	recipe, _, _ = strings.Cut(recipe, "```")
	handle := regexp.MustCompile(`(?ms)^async function handle.*?^}\n`)
	if !handle.MatchString(receiver) || !handle.MatchString(recipe) {
		t.Fatal("the receiver or the recipe has no function handle")
	}
	api := &github{fail: true}
	for i := range 150 {
		api.issues = append(api.issues, map[string]any{
			"number": i + 1, "title": fmt.Sprint("Remove the toggle old-", i), "state": "open", "body": "<!-- sequence 5 -->",
		})
	}
	server := httptest.NewServer(api)
	defer server.Close()
	dir, port := t.TempDir(), freePort(t)
	modules, err := filepath.Abs("../../node_modules")
	if err == nil {
		err = errors.Join(os.Symlink(modules, filepath.Join(dir, "node_modules")),
			os.WriteFile(filepath.Join(dir, "receiver.mjs"), []byte(handle.ReplaceAllLiteralString(receiver, recipe)), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "receiver.mjs"))
	command.Env = append(os.Environ(), "SECRET="+secret, "PORT="+port, "GITHUB_API_URL="+server.URL, "REPOSITORY=a/b", "GITHUB_TOKEN=x")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}()
	client := newClient(t, "http://127.0.0.1:"+port)
	send := func(toggle, kind string, sequence int) error {
		id := fmt.Sprint(toggle, sequence)
		event := fmt.Sprintf(`{"id":%q,"type":"toggleadmin.feature-potentially-stale-%s","subject":%q,"sequence":"%d","data":{}}`, id, kind, toggle, sequence)
		return client.Send(t.Context(), id, []byte(event), secrets(t, secret))
	}
	process.Await(t, "the receiver", 10*time.Millisecond, time.Minute, func() bool { // again after the creation without a response
		return send("new", "on", 1) == nil
	})
	var sending sync.WaitGroup
	for range 3 {
		sending.Go(func() {
			if err := send("same", "on", 1); err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
	for _, e := range []struct {
		toggle, kind string
		sequence     int
	}{{"new", "on", 1}, {"late", "off", 4}, {"late", "on", 3}, {"old-149", "off", 6}, {"old-149", "on", 5}, {"same", "off", 2}, {"same", "on", 3}} {
		if err := send(e.toggle, e.kind, e.sequence); err != nil {
			t.Error(err)
		}
	}
	got := map[string][]any{}
	for _, issue := range api.issues {
		name := strings.TrimPrefix(fmt.Sprint(issue["title"]), "Remove the toggle ")
		got[name] = append(got[name], issue["state"])
	}
	for name, want := range map[string]string{"new": "[open]", "late": "[closed]", "old-149": "[closed]", "old-0": "[open]", "same": "[open]"} {
		if fmt.Sprint(got[name]) != want {
			t.Errorf("%s: the issues are %v, want %s", name, got[name], want)
		}
	}
}
