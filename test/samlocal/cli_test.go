package samlocal_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"toggleadmin/test/assert"
	"toggleadmin/test/samlocal"
)

// If sam cannot start, it ends. The caller must not wait for it.
func TestSAMThatEnds(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"true", "false"} {
		cli := samlocal.CLI{Program: program, Root: root}
		if _, err := cli.StartAPI(t.Context(), 0, io.Discard); !errors.Is(err, samlocal.ErrEnded) {
			t.Errorf("%s: the error is %v", program, err)
		}
		if response, err := cli.Invoke(t.Context(), "NotFoundFunction", "events/not-found.json"); err == nil {
			t.Errorf("%s: the response is %q", program, response)
		}
	}
}

func TestRelay(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	relay, err := samlocal.StartRelay(t.Context(), server.URL)
	assert.OK(t, err)
	t.Cleanup(relay.Close)
	url := "http://" + relay.Address
	response, err := http.Get(url) //nolint:noctx // of this machine
	if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusNotFound {
		t.Errorf("relayed: %+v, %v", response, err)
	}
	relay.Close()
	if response, err = http.Get(url); err == nil { //nolint:noctx // of this machine
		response.Body.Close()
		t.Error("relayed after its end")
	}
}
