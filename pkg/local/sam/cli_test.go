package sam_test

import (
	"errors"
	"io"
	"testing"

	"toggleadmin/pkg/local/sam"
)

// If sam cannot start, it ends. The caller must not wait for it.
func TestSAMThatEnds(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"true", "false"} {
		cli := sam.CLI{Program: program}
		if _, err := cli.StartAPI(t.Context(), 1, io.Discard); !errors.Is(err, sam.ErrEnded) {
			t.Errorf("%s: the error is %v", program, err)
		}
		if response, err := cli.Invoke(t.Context(), "NotFoundFunction", "events/not-found.json", io.Discard); err == nil {
			t.Errorf("%s: the response is %q", program, response)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ endpoint, hostAddress, onHost, inContainer string }{
		{"http://127.0.0.1:8000", "172.17.0.1", "http://172.17.0.1:8000", "http://172.17.0.1:8000"},
		{"http://localhost:8000", "127.0.0.1", "http://127.0.0.1:8000", "http://host.docker.internal:8000"},
		{"http://[::1]:8000/", "172.17.0.1", "http://172.17.0.1:8000/", "http://172.17.0.1:8000/"},
		{"http://127.0.0.1", "127.0.0.1", "http://127.0.0.1", "http://host.docker.internal"},
		{"http://engine.example.com:8000", "172.17.0.1", "http://engine.example.com:8000", "http://engine.example.com:8000"},
	} {
		onHost := sam.OnHost(row.endpoint, row.hostAddress)
		if got := sam.InContainer(onHost); onHost != row.onHost || got != row.inContainer {
			t.Errorf("%s with %s: %s on the host, %s in containers", row.endpoint, row.hostAddress, onHost, got)
		}
	}
}
