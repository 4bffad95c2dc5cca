package client

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/logging"
)

// countsEvery is how often a process logs its counts. A line for each response would cost as much as the response, and
// a flood of invalid tokens would fill the log.
const countsEvery = time.Minute

// counts are the numbers of responses that a process has not logged yet. It is safe for concurrent use.
type counts struct {
	mu          sync.Mutex
	loggedAt    time.Time
	full        int // downloads of toggles with 200
	notModified int // downloads of toggles with 304
	rejected    int // responses with 401 and 403

	staleLoggedAt time.Time
	stale         int     // responses from a reading that was not confirmed for staleAfter
	last          reading // of the last one
}

// staleAfter is how long a reading can be unconfirmed before the responses from it are counted. A single read that fails
// is no fault: the next one, after a pause, succeeds.
const staleAfter = 10 * time.Second

func (c *counts) addReading(r reading, now time.Time) {
	if r.behind == nil || now.Sub(r.current) < staleAfter {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale++
	c.last = r
}

func (c *counts) addFeatures(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if status == http.StatusNotModified {
		c.notModified++
	} else {
		c.full++
	}
}

func (c *counts) addError(err error) {
	switch apierror.KindOf(err) { //nolint:exhaustive // the others are not counted
	case apierror.AuthenticationRequired, apierror.NoAccess:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rejected++
	}
}

// log logs the counts if the last line is a minute old, with metrics of the function, which can be empty. The counts of
// the last minute of a process are lost.
func (c *counts) log(ctx context.Context, logger *slog.Logger, function string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full+c.notModified+c.rejected == 0 || now.Sub(c.loggedAt) < countsEvery {
		return
	}
	line := []slog.Attr{
		slog.Int("full", c.full), slog.Int("notModified", c.notModified), slog.Int("rejectedTokens", c.rejected),
	}
	line = append(line, logging.Metrics("ToggleAdmin/Delivery", function, now, line,
		logging.Metric{Name: "full", Unit: "Count"}, logging.Metric{Name: "notModified", Unit: "Count"},
		logging.Metric{Name: "rejectedTokens", Unit: "Count"})...)
	logger.LogAttrs(ctx, slog.LevelInfo, "responses", line...)
	c.loggedAt, c.full, c.notModified, c.rejected = now, 0, 0, 0
}

// logStale logs why applications get what the process has read before, if the last line is a minute old.
func (c *counts) logStale(ctx context.Context, logger *slog.Logger, function string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale == 0 || now.Sub(c.staleLoggedAt) < countsEvery {
		return
	}
	line := []slog.Attr{
		slog.Int("stale", c.stale), slog.String("environment", c.last.token.Environment),
		slog.Time("since", c.last.current), logging.Cause(c.last.behind),
	}
	line = append(line, logging.Metrics("ToggleAdmin/Delivery", function, now, line,
		logging.Metric{Name: "stale", Unit: "Count"})...)
	logger.LogAttrs(ctx, slog.LevelError, "applications get an earlier state", line...)
	c.staleLoggedAt, c.stale, c.last = now, 0, reading{}
}
