// Package httpfuzz_test sends valid, malformed and hostile bytes to the port of the local service. Each request must
// get a response of the contract or a closed connection: never a crash, a connection that stays open, or a 5xx status,
// except the 501 and 505 of net/http.
package httpfuzz_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
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
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := []int{}
			for _, r := range send(t, base, fill(tt.sent)) {
				got = append(got, r.StatusCode)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzBytes(f *testing.F) {
	base, fill := start(f)
	for _, c := range cases {
		if len(c.sent) < 4096 {
			f.Add([]byte(c.sent))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) { send(t, base, fill(string(sent))) })
}
