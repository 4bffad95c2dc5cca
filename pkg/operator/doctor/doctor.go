// Package doctor checks an installation: its tables, its event sources, subscriptions, alarms and queues, its data, and
// whether the API accepts a new credential. Each check returns one finding, with advice if there is a problem.
//
// Only the last check writes: it creates a credential and deletes it again. With Config.Fix, others repair
// inconsistencies.
package doctor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"toggleadmin/pkg/operator/installation"
)

// Status is the result of a check.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Problem Status = "problem" // or the check was not possible, such as without a permission
	Skipped Status = "skipped" // the check does not apply to the installation
)

// Finding is what a check found.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do about a problem
}

// Config is the input of Examine.
type Config struct {
	Installation *installation.Installation
	HTTP         *http.Client
	Now          func() time.Time
	Random       io.Reader // cryptographically secure
	Report       func(Finding)
	Fix          bool // repair inconsistencies between items

	// Settle is how long a change can take to arrive in the snapshots. A difference is a problem if it lasts longer.
	Settle time.Duration
}

// Limits of one check, without and with Config.Fix. The second one is below the limit of dynamo.Transact.
const (
	checkTimeout  = 20 * time.Second
	repairTimeout = 5 * time.Minute
)

type doctor struct {
	Config
	problems int
}

// Examine runs all checks, reports each finding, and returns the number of problems. It stops when the context ends.
func Examine(ctx context.Context, c Config) int {
	d := &doctor{Config: c}
	if !c.Installation.IsLocal() {
		d.run(ctx, "stack", d.stack)
	}
	d.tables(ctx)
	d.resources(ctx)
	d.run(ctx, "seeds", d.seeds)
	d.consistency(ctx)
	d.run(ctx, "deletions", d.deletions)
	d.run(ctx, "deletions of environments", d.deletionsOfEnvironments)
	d.run(ctx, "times of events", d.eventTimes)
	d.run(ctx, "OpenID Connect issuer", d.issuer)
	d.run(ctx, "token round trip", d.roundTrip)
	return d.problems
}

// Repair runs the checks of the consistency of items, with Config.Fix, and returns the number of problems that it left.
func Repair(ctx context.Context, c Config) int {
	c.Fix = true
	d := &doctor{Config: c}
	d.consistency(ctx)
	return d.problems
}

// problemError is a problem with advice. Other errors mean that a check was not possible.
type problemError struct{ detail, advice string }

func (e *problemError) Error() string { return e.detail }

func problem(detail, advice string) error { return &problemError{detail, advice} }

// errSkip means that a check does not apply. The detail contains the reason.
var errSkip = errors.New("does not apply")

func (d *doctor) run(ctx context.Context, name string, check func(context.Context) (detail string, err error)) {
	if ctx.Err() != nil {
		return
	}
	timeout := checkTimeout
	if d.Fix {
		timeout = repairTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	detail, err := check(limited)
	if ctx.Err() != nil { // the result of an interrupted check is not valid
		return
	}
	f := Finding{Check: name, Status: OK, Detail: detail}
	switch found, ok := errors.AsType[*problemError](err); {
	case err == nil:
	case errors.Is(err, errSkip):
		f.Status = Skipped
	case ok:
		f.Status, f.Detail, f.Advice = Problem, found.detail, found.advice
	default:
		f.Status, f.Detail = Problem, installation.Explain(d.Installation.Name, d.Installation.IsLocal(), err).Error()
		f.Advice = "resolve this and run doctor again; docs/toggleadmin.md lists the permissions that doctor needs"
	}
	if f.Status == Problem {
		d.problems++
	}
	d.Report(f)
}
