package eventlog

import "toggleadmin/pkg/platform/app"

// Open returns the log to which a function writes. The function uses the table Events.
func Open(d *app.Deps) *Log {
	return New(d.DynamoDB, d.Tables, d.Now, int(d.Number("EVENT_LOG_DAYS", 0, MaxDays)))
}
