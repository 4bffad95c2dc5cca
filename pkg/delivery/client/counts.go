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
