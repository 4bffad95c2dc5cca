package schedule

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/app"
)

// Functions returns the function that applies scheduled change requests.
func Functions() []app.Function {
	return []app.Function{{
		Name: "sweep-change-requests",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(append(changerequest.Tables(), apitoken.Table)...)
			options, days := changerequest.OptionsOf(d), d.Number("EVENT_LOG_DAYS", 0, eventlog.MaxDays)
			s := &Sweeper{
				Open: func(now func() time.Time) *changerequest.Store {
					timed := options
					timed.Log = eventlog.New(d.DynamoDB, d.Tables, now, int(days))
					return changerequest.NewStore(d.DynamoDB, d.Tables, timed)
				},
				Now:    d.Now,
				Logger: d.Logger,
			}
			return app.Event(s.Sweep)
		},
	}}
}
