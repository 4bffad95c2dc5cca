package trigger

import (
	"encoding/json"
	"log/slog"
	"maps"
)

// failure is an event that a function has failed to process.
type failure struct {
	requestID   string // of the last invocation
	functionARN string
	condition   string
	attempts    int
}

// discard reports that an event is discarded and sends its on-failure record to a queue. No queue means that the
// function has none. Source: lambda/latest/dg/invocation-async-retain-records.html and
// lambda/latest/dg/services-dynamodb-errors.html.
func (t *Triggers) discard(queue, source string, f failure, details map[string]any) error {
	log := t.Logger.With(slog.String("event", source), slog.String("queue", queue))
	if queue == "" {
		log.Error("an event is discarded and lost: its function has no on-failure queue")
		return nil
	}
	record := map[string]any{
		"version":   "1.0",
		"timestamp": t.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"requestContext": map[string]any{
			"requestId": f.requestID, "functionArn": f.functionARN, "condition": f.condition,
			"approximateInvokeCount": f.attempts,
		},
		"responseContext": map[string]any{"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
	}
	maps.Copy(record, details)
	line, err := json.Marshal(record)
	if err == nil {
		err = t.Bus.Discard(queue, string(line))
	}
	if err != nil {
		log.Error("an on-failure record cannot be written: the event is delivered again", slog.Any("cause", err))
		return err
	}
	log.Error("an event is discarded")
	return nil
}
