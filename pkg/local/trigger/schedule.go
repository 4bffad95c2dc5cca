package trigger

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/samtemplate"
)

// runSchedule invokes a function at once, and then at a fixed rate, until the context ends. If the end of the program
// interrupts an invocation, the first one after the next start replaces it.
func (t *Triggers) runSchedule(ctx context.Context, f *samtemplate.Function, s samtemplate.Schedule) {
	var running sync.WaitGroup
	defer running.Wait()
	ticker := time.NewTicker(s.Every)
	defer ticker.Stop()
	for {
		event := &events.EventBridgeEvent{ // of a schedule without Input
			Version: "0", ID: t.NewID(), DetailType: "Scheduled Event", Source: "aws.scheduler", AccountID: t.AccountID,
			Region:    t.Region,
			Time:      t.Now().UTC().Truncate(time.Second),
			Resources: []string{"arn:aws:scheduler:" + t.Region + ":" + t.AccountID + ":schedule/default/" + s.Name},
			Detail:    json.RawMessage(`"{}"`),
		}
		running.Go(func() { _ = t.async(ctx, f, "schedule "+s.Name, event) })
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
