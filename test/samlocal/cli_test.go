package samlocal_test

import (
	"errors"
	"io"
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
