package operator_test

import (
	"testing"
	"time"

	"toggleadmin/pkg/operator"
	"toggleadmin/test/helper/assert"
)

// A toggle is unused since a time if it existed then, and no application has used it later.
func TestUnusedSince(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	const before, after = "2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.001Z"
	for _, test := range []struct {
		createdAt  string
		lastSeenAt *string
		want       bool
	}{
		{before, nil, true},
		{before, new(before), true},
		{before, new(after), false},
		{after, nil, false},
		{after, new(after), false},
	} {
		toggle := operator.Toggle{CreatedAt: test.createdAt, LastSeenAt: test.lastSeenAt}
		assert.Equal(t, test.want, toggle.UnusedSince(since))
	}
}
