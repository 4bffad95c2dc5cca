// Package httpfuzz_test sends valid, malformed and hostile bytes to the port of the local service. Each request must
// get a response of the contract or a closed connection: never a crash, a connection that stays open, or a 5xx status,
// except the 501 and 505 of net/http.
package httpfuzz_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/test/localtest"
)

// start serves, and returns a function that replaces {TOKEN} by the token of an administrator.
func start(tb testing.TB) (base string, fill func(string) []byte) {
	tb.Helper()
	service := localtest.Start(tb, local.Config{})
	return service.BaseURL,
		func(text string) []byte { return []byte(strings.ReplaceAll(text, "{TOKEN}", service.Users[0].PAT)) }
}

func TestEveryRequestGetsAResponseOrAClosedConnection(t *testing.T) {
	t.Parallel()
	base, fill := start(t)
	t.Cleanup(func() { // the service still works after all cases
		if got := send(t, base, fill(get+end)); len(got) != 1 || got[0].StatusCode != http.StatusOK {
			t.Errorf("a valid request gets %v", got)
		}
	})
	for _, row := range cases(t) {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range send(t, base, fill(row[1])) {
				got = append(got, strconv.Itoa(r.StatusCode))
			}
			if diff := cmp.Diff(row[2], strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzBytes(f *testing.F) {
	base, fill := start(f)
	for _, row := range cases(f) {
		if len(row[1]) < 4096 {
			f.Add([]byte(row[1]))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) { send(t, base, fill(string(sent))) })
}
