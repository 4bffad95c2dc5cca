package anybytes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
)

// start serves, and gives what fills {TOKEN}, an administrator's, into the bytes to send.
func start(tb testing.TB) (base string, fill func(string) []byte) {
	tb.Helper()
	service := localtest.Start(tb, local.Config{})
	return service.BaseURL, func(text string) []byte { return []byte(strings.ReplaceAll(text, "{TOKEN}", service.Users[0].PAT)) }
}

// checkAlive sends what everybody sends.
func checkAlive(tb testing.TB, base string, fill func(string) []byte) {
	tb.Helper()
	answers := converse(tb, base, fill(get+end))
	if len(answers) != 1 || answers[0].StatusCode != http.StatusOK {
		tb.Errorf("the service answers %v", answers)
	}
}

func TestAnyBytesGetAnAnswerOrAClosedConnection(t *testing.T) {
	t.Parallel()
	base, fill := start(t)
	t.Cleanup(func() { checkAlive(t, base, fill) }) // when all have been sent
	for _, tt := range cases() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := []int{}
			for _, a := range converse(t, base, fill(tt.sent)) {
				got = append(got, a.StatusCode)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzBytes sends whatever the fuzzer makes of the cases.
func FuzzBytes(f *testing.F) {
	base, fill := start(f)
	for _, c := range cases() {
		if len(c.sent) < 4096 {
			f.Add([]byte(c.sent))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		converse(t, base, fill(string(sent)))
	})
}
