package local

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/local/trigger"
)

// newTriggers prepares the delivery of events to functions. With RequestsOnly there are none.
func newTriggers(
	c *Config, template *samtemplate.Template, functions map[string]*invoke.Function, events *bus.Bus,
	writes *trigger.Writes, cfg aws.Config,
	endpoint string, out *terminal.Output,
) (*trigger.Triggers, error) {
	if c.RequestsOnly {
		template = &samtemplate.Template{}
	}
	quiet := map[string]bool{}
	for i := range template.Functions {
		f := &template.Functions[i]
		quiet[f.Name] = routine(f) || len(f.Schedules) > 0
	}
	newID := newSortedID(c)
	return trigger.New(trigger.Config{
		Template: template, Functions: functions, Tables: samtemplate.TableNames(template.Tables), DataDir: c.DataDir,
		Queue:  events.Queue,
		Writes: writes,
		Invoker: invoke.NewInvoker(invoke.Config{
			NewID: newID, Now: time.Now,
			Ended: func(i *invoke.Invocation) {
				out.Log(&terminal.Entry{
					Method: "event", Path: i.Trigger, Function: i.Function, ID: i.ID, Duration: i.Duration, Cause: cause(i.Err),
					Quiet: quiet[i.Function],
				})
			},
		}),
		AWS: cfg, Endpoint: endpoint, Region: region, AccountID: accountID,
		Now: time.Now, NewID: newID, Logger: ownLogger(out),
	})
}

// routine reports whether a function is invoked every second while there are requests, for lines of the access log.
func routine(f *samtemplate.Function) bool { return len(f.LogSubscriptions) > 0 }
