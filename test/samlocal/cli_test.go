package samlocal_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/samlocal"
)

func TestLogicalIDs(t *testing.T) {
	t.Parallel()
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, function := range template.Functions {
		want[function.Name] = function.LogicalID
		got[function.Name] = samlocal.LogicalID(function.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("logical ids (-template +got):\n%s", diff)
	}
}

// What sam says when it cannot start is in its log; that it has ended must not look like an API that takes its time.
func TestSAMThatEnds(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"true", "false"} {
		cli := samlocal.CLI{Program: program, Root: root}
		if _, err := cli.StartAPI(t.Context(), 0, io.Discard); !errors.Is(err, samlocal.ErrEnded) {
			t.Errorf("%s: the error is %v", program, err)
		}
		if answer, err := cli.Invoke(t.Context(), "not-found"); err == nil {
			t.Errorf("%s: the answer is %q", program, answer)
		}
	}
}

func TestRelay(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(server.Close)
	relay, err := samlocal.StartRelay(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	var dialer net.Dialer
	connection, err := dialer.DialContext(t.Context(), "tcp", relay.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	const request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nping"
	const answer = "HTTP/1.1 200 OK\r\n"
	if _, err := io.WriteString(connection, request); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(answer))
	if _, err := io.ReadFull(connection, got); err != nil || string(got) != answer {
		t.Fatalf("the answer is %q, %v", got, err)
	}
	relay.Close()                          // an open connection does not hold it up
	_, _ = io.Copy(io.Discard, connection) // it ends, one way or another
	if late, err := dialer.DialContext(t.Context(), "tcp", relay.Address()); err == nil {
		_ = late.Close()
		t.Error("it listens on after its end")
	}
}
