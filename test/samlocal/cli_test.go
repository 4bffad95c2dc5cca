package samlocal_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.Copy(w, r.Body)
	}))
	t.Cleanup(server.Close)
	relay, err := samlocal.StartRelay(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	post := func() (string, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+relay.Address,
			strings.NewReader("ping"))
		if err != nil {
			return "", err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
	if got, err := post(); got != "ping" || err != nil {
		t.Errorf("relayed: %q, %v", got, err)
	}
	relay.Close()
	if got, err := post(); err == nil {
		t.Errorf("relayed after its end: %q", got)
	}
}
