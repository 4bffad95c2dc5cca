package feature

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
)

// usageKept is how long a process uses what it read of the running hour.
const usageKept = 10 * time.Second

// hourUsage is how often toggles were on and off in the running hour, by toggle and environment, without variants.
type hourUsage map[string]map[string]usage.Counts

// runningHour reads the usage of the running hour. It is safe for concurrent use.
type runningHour struct {
	client *dynamodb.Client
	table  string
	now    func() time.Time

	mu     sync.Mutex
	read   hourUsage
	readAt time.Time
}

// WithUsage returns a copy of the reader with which responses have the usage of toggles in the running hour. Without
// it, their usage is 0.
func (r *Reader) WithUsage(now func() time.Time) *Reader {
	counting := *r
	counting.hour = &runningHour{client: r.client, table: r.usage, now: now}
	return &counting
}

// get returns the usage, which is at most usageKept old.
func (h *runningHour) get(ctx context.Context) (hourUsage, error) {
	if h == nil {
		return hourUsage{}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if h.read != nil && now.Sub(h.readAt) < usageKept && usage.HourOf(now).Equal(usage.HourOf(h.readAt)) {
		return h.read, nil
	}
	read := hourUsage{}
	hour := usage.HourOf(now)
	err := usagetable.WalkTallies(ctx, h.client, h.table, hour, func(part usagetable.Part, tally usage.Tally) {
		for feature, byApplication := range tally.Features {
			if read[feature] == nil {
				read[feature] = map[string]usage.Counts{}
			}
			sum := read[feature][part.Environment]
			for _, counts := range byApplication {
				sum = sum.Plus(usage.Counts{Yes: counts.Yes, No: counts.No}) // without variants
			}
			read[feature][part.Environment] = sum
		}
	})
	if err := usagetable.ExceptIncomplete(err); err != nil {
		return nil, fmt.Errorf("read the usage of toggles: %w", err)
	}
	h.read, h.readAt = read, now
	return read, nil
}

// start begins to read the usage. The returned function waits for it.
func (h *runningHour) start(ctx context.Context) func() (hourUsage, error) {
	var read hourUsage
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		read, err = h.get(ctx)
	}()
	return func() (hourUsage, error) {
		<-done
		return read, err
	}
}
