package webhook_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/background/webhook"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/process"
)

const receivers = "../../../docs/receivers/"

// TestReceivers runs the receivers in Go and JavaScript, and in Python if the library is installed. The program is kept:
// if nothing has changed, go build does not link it.
func TestReceivers(t *testing.T) {
	t.Parallel()
	program, err := filepath.Abs("../../../.cache/receiver")
	assert.OK(t, err)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, receivers+"receiver.go").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commands := []*exec.Cmd{
		exec.CommandContext(t.Context(), program),
		exec.CommandContext(t.Context(), "node", receivers+"receiver.mjs"),
	}
	if exec.CommandContext(t.Context(), "python3", "-c", "import standardwebhooks").Run() == nil {
		commands = append(commands, exec.CommandContext(t.Context(), "python3", receivers+"receiver.py"))
	}
	for _, receiver := range commands {
		var out process.Output
		receiver.Stdout, receiver.Stderr = &out, &out
		client := start(t, receiver)
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s: %s", receiver, &out)
			}
		})
		process.Await(t, "the receiver", 10*time.Millisecond, time.Minute, func() bool {
			return send(t, client, second+" "+secret) == nil && strings.Contains(out.String(), "toggleadmin.token-expiring")
		})
		if err := send(t, client, webhook.NewSecret(make([]byte, 32))); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("%s with another secret: %v", receiver, err)
		}
		want := http.StatusRequestEntityTooLarge
		if receiver == commands[0] { // it does not tell the client why
			want = http.StatusUnauthorized
		}
		if status := sendUnsigned(t, receiver, 1<<20+1); status != want {
			t.Errorf("%s with a body above the limit: status %d, want %d", receiver, status, want)
		}
		if err := send(t, client, secret); err != nil {
			t.Errorf("%s after these requests: %v", receiver, err)
		}
	}
}

// sendUnsigned sends a body without a signature to a receiver, and returns the status of the response.
func sendUnsigned(t *testing.T, receiver *exec.Cmd, size int) int {
	t.Helper()
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+variable(receiver, "PORT"))
	assert.OK(t, err)
	defer connection.Close()
	request := fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size,
		strings.Repeat("a", size))
	_, _ = io.WriteString(connection, request) // fails if the receiver closes the connection first
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	assert.OK(t, err)
	response.Body.Close()
	return response.StatusCode
}

// variable returns the value of a variable of a command's environment.
func variable(command *exec.Cmd, name string) (value string) {
	for _, entry := range command.Env {
		if text, found := strings.CutPrefix(entry, name+"="); found {
			value = text
		}
	}
	return value
}

// start starts a receiver, stops it at the end of the test, and returns a client for it.
func start(t *testing.T, receiver *exec.Cmd) *webhook.Client {
	t.Helper()
	process.DependOn(t, receivers)
	port := process.FreePort(t)
	receiver.Env = append(append(os.Environ(), "SECRET="+secret, "PORT="+port), receiver.Env...)
	assert.OK(t, receiver.Start())
	t.Cleanup(func() {
		_ = receiver.Process.Kill()
		_ = receiver.Wait()
	})
	return newClient(t, "http://127.0.0.1:"+port)
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
	_ = json.NewDecoder(r.Body).Decode(&in) // GET has no body
	var out any = in
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
		if g.fail {
			g.fail = false
			w.WriteHeader(http.StatusBadGateway)
			return
		}
	case http.MethodPatch:
		number, _ := strconv.Atoi(path.Base(r.URL.Path))
		maps.Copy(g.issues[number-1], in)
	}
	_ = json.NewEncoder(w).Encode(out)
}

// TestTickets runs ticket.mjs with repeated, concurrent and reordered events, and more issues than a page has.
func TestTickets(t *testing.T) {
	t.Parallel()
	api := &github{fail: true}
	for i := range 150 {
		api.issues = append(api.issues, map[string]any{
			"number": i + 1, "title": fmt.Sprint("Remove the toggle old-", i), "state": "open", "body": "<!-- sequence 5 -->",
		})
	}
	server := httptest.NewServer(api)
	defer server.Close()
	command := exec.CommandContext(t.Context(), "node", receivers+"receiver.mjs", "ticket.mjs")
	command.Env = []string{"GITHUB_API_URL=" + server.URL, "REPOSITORY=a/b", "GITHUB_TOKEN=x"}
	client := start(t, command)
	tell := func(toggle, kind, sequence string) error {
		id := toggle + sequence
		event := fmt.Sprintf(`{"id":%q,"type":"toggleadmin.feature-potentially-stale-%s","subject":%q,"sequence":%q,`+
			`"data":{}}`, id, kind, toggle, sequence)
		return client.Send(t.Context(), id, []byte(event), secrets(t, secret))
	}
	// again after the creation without a response
	process.Await(t, "the receiver", 10*time.Millisecond, time.Minute, func() bool {
		return tell("new", "on", "1") == nil
	})
	var sending sync.WaitGroup
	for range 3 {
		sending.Go(func() { assert.OK(t, tell("same", "on", "1")) })
	}
	sending.Wait()
	for _, test := range []struct{ toggle, change, sequence string }{
		{"new", "on", "1"},
		{"late", "off", "4"},
		{"late", "on", "3"},
		{"old-149", "off", "6"},
		{"old-149", "on", "5"},
		{"same", "off", "2"},
		{"same", "on", "3"},
	} {
		assert.OK(t, tell(test.toggle, test.change, test.sequence))
	}
	got := map[string][]any{}
	for _, issue := range api.issues[148:] {
		name := strings.TrimPrefix(fmt.Sprint(issue["title"]), "Remove the toggle ")
		got[name] = append(got[name], issue["state"])
	}
	assert.Equal(t, map[string][]any{"new": {"open"}, "late": {"closed"}, "old-148": {"open"}, "old-149": {"closed"},
		"same": {"open"}}, got)
}

// TestChat runs chat.mjs: who asks for a review is in a message with a link.
func TestChat(t *testing.T) {
	t.Parallel()
	messages := make(chan string, 10)
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var in struct{ Text string }
		assert.OK(t, json.NewDecoder(r.Body).Decode(&in))
		messages <- in.Text
	}))
	defer chat.Close()
	command := exec.CommandContext(t.Context(), "node", receivers+"receiver.mjs", "chat.mjs")
	command.Env = []string{"CHAT_URL=" + chat.URL, "CONSOLE_URL=https://toggles.example.com/console"}
	client := start(t, command)
	for _, test := range []struct{ event, want string }{
		{`{"type":"toggleadmin.feature-potentially-stale-on","data":{"featureName":"banner","project":"shop","lifetimeDays":40}}`,
			"Toggle banner (shop) is older than 40 days. Can it be removed?"},
		{`{"type":"toggleadmin.change-request-sent-to-review","data":{"createdBy":"Ada","project":"shop",` +
			`"data":{"id":7,"title":"Sale","environment":"production"}}}`,
			"Ada asks for a review: Sale, production of shop: https://toggles.example.com/console/#/projects/shop/change-requests/7"},
		{`{"type":"toggleadmin.change-request-sent-to-review","data":{"createdBy":"Ada","project":"shop",` +
			`"data":{"id":8,"environment":"production"}}}`,
			"Ada asks for a review: change request 8, production of shop: " +
				"https://toggles.example.com/console/#/projects/shop/change-requests/8"},
	} {
		process.Await(t, "the receiver", 10*time.Millisecond, time.Minute, func() bool {
			return client.Send(t.Context(), "1", []byte(test.event), secrets(t, secret)) == nil
		})
		assert.Equal(t, test.want, <-messages)
	}
}
