package trigger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toggleadmin/test/helper/assert"
)

// files returns the names of the access log's files.
func (h *harness) files() []string {
	h.Helper()
	names, err := filepath.Glob(filepath.Join(h.dir, "events", "access-log-DoThings", "*"))
	assert.OK(h, err)
	return names
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	inBubble(t, "log 0 0", nil, func(h *harness) {
		h.run(5*time.Second, 200*time.Millisecond, `{"a": "ü\n"}`, 700*time.Millisecond, "second", 700*time.Millisecond,
			"third")
		assert.Equal(h, []string{`1s {"a": "ü\n"},second`, "2s third"}, h.invocations)
		assert.Equal(h, `{Owner:123456789012 LogGroup:AccessLogs LogStream:5e2d1a7b9c4f4e0d8a6b3c1f0e9d8c7b `+
			`SubscriptionFilters:[DoThings] MessageType:DATA_MESSAGE LogEvents:[{ID:id-002 Timestamp:946684800200 `+
			`Message:{"a": "ü\n"}} {ID:id-003 Timestamp:946684800900 Message:second}]}`, h.payloads[0])
		assert.Equal(h, "", strings.Join(h.files(), " ")+h.log.String())
	})
}

func TestAccessLogRestart(t *testing.T) {
	t.Parallel()
	inBubble(t, "log 0 0", nil, func(h *harness) {
		h.responses = []string{"1m"}
		// the third line is in the next batch, which is not delivered any more
		h.run(1500*time.Millisecond, "first", "second", 1200*time.Millisecond, "third")
		names := h.files()
		assert.Equal(h, 2, len(names))
		content, err := os.ReadFile(names[1])
		assert.OK(h, err, os.WriteFile(names[1], append(content, `{"id":"x","mess`...), 0o600))
		h.responses = []string{""}
		h.run(1500*time.Millisecond, "fourth")
		assert.Equal(h, []string{"1s first,second", "3.7s first,second", "3.7s third", "4.7s fourth"}, h.invocations)
		assert.Equal(h, h.payloads[0], h.payloads[1])
	})
}

func TestAccessLogUnwritable(t *testing.T) {
	t.Parallel()
	inBubble(t, "log 0 0", nil, func(h *harness) {
		folder := filepath.Join(h.dir, "events", "access-log-DoThings")
		h.run(2*time.Second, func() error { return os.RemoveAll(folder) }, "lost",
			func() error { return os.Mkdir(folder, 0o700) }, "kept")
		assert.Equal(h, []string{"1s kept"}, h.invocations)
		assert.Equal(h, 1, strings.Count(h.log.String(),
			`level=ERROR msg="the access log cannot be written: a request is not counted"`))
	})
}
