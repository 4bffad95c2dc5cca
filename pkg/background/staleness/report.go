package staleness

import (
	"context"
	"log/slog"
	"time"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/logging"
	"toggleadmin/pkg/toggle"
)

// The triggers of a run, in the log.
const (
	onStream   = "stream"
	onSchedule = "schedule"
)

// logResult logs one line for a type, which also contains its metrics: a warning if something is left, an error if a
// call failed. A sweep that finds nothing to do logs at level Debug. changed is the time at which the lifetime changed,
// if that triggered the run.
func (h *Handler) logResult(ctx context.Context, trigger string, r *Result, changed time.Time) {
	attributes := []slog.Attr{slog.String("trigger", trigger), slog.String("featureType", r.Type.ID)}
	if !r.Found {
		attributes = append(attributes, slog.Bool("found", false))
	}
	if r.Type.LifetimeDays != nil {
		attributes = append(attributes, slog.Int64("lifetimeDays", *r.Type.LifetimeDays))
	}
	if cutoff := toggle.Cutoff(r.Type.LifetimeDays, r.Now); cutoff != nil {
		attributes = append(attributes, slog.String("cutoff", datetime.Format(*cutoff)))
	}
	attributes = append(attributes,
		slog.Int("flagged", r.Flagged), slog.Int("unflagged", r.Unflagged), slog.Int("left", r.Left),
		slog.Int("superseded", r.Superseded),
		slog.Int("read", r.Read), slog.Int("pages", r.Pages), slog.Int("writes", r.Writes),
		slog.Int("throttled", r.Throttled), slog.Int("retried", r.Retried),
		slog.Float64("milliseconds", logging.Milliseconds(r.Took)))
	if !changed.IsZero() && !r.LastFlip.IsZero() {
		attributes = append(attributes, slog.Float64("lagMilliseconds", logging.Milliseconds(max(r.LastFlip.Sub(changed), 0))))
	}
	level := slog.LevelInfo
	if r.Err != nil {
		level = slog.LevelError
		attributes = append(attributes, logging.Cause(r.Err))
	} else if r.Left > 0 {
		level = slog.LevelWarn
	} else if trigger == onSchedule && r.Read == 0 {
		level = slog.LevelDebug
	}
	attributes = append(attributes, logging.Metrics("ToggleAdmin/Staleness", h.Function, r.Now.Add(r.Took), attributes,
		logging.Metric{Name: "flagged", Unit: "Count"}, logging.Metric{Name: "unflagged", Unit: "Count"},
		logging.Metric{Name: "left", Unit: "Count"}, logging.Metric{Name: "lagMilliseconds", Unit: "Milliseconds"})...)
	h.Logger.LogAttrs(ctx, level, "toggles re-evaluated", attributes...)
}
