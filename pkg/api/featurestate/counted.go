package featurestate

import (
	"context"
	"sync"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/apierror"
)

// countedFor is how long requests that store nothing use a count of the toggles.
const countedFor = 10 * time.Second

// counted is the last check of the number of toggles. It is for requests that store nothing: a plan has one for each
// toggle, and a count reads all keys of the table.
type counted struct {
	limit int64
	now   func() time.Time

	mu    sync.Mutex
	until time.Time
	err   error
}

// check is feature.Reader.CheckLimit, of which it repeats a result.
func (c *counted) check(ctx context.Context, features *feature.Reader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Before(c.until) {
		return c.err
	}
	err := features.CheckLimit(ctx, c.limit)
	if err == nil || apierror.KindOf(err) == apierror.NoAccess {
		c.err, c.until = err, c.now().Add(countedFor)
	}
	return err
}
