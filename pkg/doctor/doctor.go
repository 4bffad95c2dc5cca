// Package doctor checks an installation from outside: that its tables are as the service needs them, that what feeds them is switched on,
// and that a credential made a moment ago opens the API.
//
// The one concept: a check reads, and gives one finding, with what to do where something is wrong. A check that cannot be made, for want of
// a permission, say, is a problem itself. Only the last check writes: a credential of five minutes, which it removes again.
//
// What the tables must look like stands here, since an operator's program has no template.yaml beside it; a test holds the two against
// each other.
package doctor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"toggleadmin/pkg/installation"
)

// Status is how a check ended.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Problem Status = "problem"
	Skipped Status = "skipped" // it does not apply to this installation
)

// Finding is what one check says.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do about a problem
}

// Config is what Examine takes from outside.
type Config struct {
	Installation *installation.Installation
	APIURL       string // where to call the API; empty: the installation's own
	HTTP         *http.Client
	Now          func() time.Time
	Random       io.Reader // cryptographically secure
	Report       func(Finding)
}

// checkTime bounds one check.
const checkTime = 20 * time.Second

type doctor struct {
	Config
	problems int
}

// Examine makes all checks, reports each as it ends, and gives the number of problems. Once the context has ended it makes no more.
func Examine(ctx context.Context, c Config) int {
	d := &doctor{Config: c}
	if c.Installation.IsLocal() {
		d.tables(ctx)
		for _, check := range []string{"event source mapping", "schedule", "log subscription"} {
			d.Report(Finding{Check: check, Status: Skipped, Detail: "make run plays it in its own process, and says on its console where one fails"})
		}
		for _, check := range []string{"alarms", "account logging role", "failure queues"} {
			d.Report(Finding{Check: check, Status: Skipped, Detail: "only AWS has it"})
		}
	} else {
		d.run(ctx, "stack", d.stack)
		d.tables(ctx)
		d.surroundings(ctx)
	}
	d.run(ctx, "seeds", d.seeds)
	d.run(ctx, "tokens", d.tokens)
	d.run(ctx, "token round trip", d.roundTrip)
	return d.problems
}

// trouble is a problem with its advice.
type trouble struct{ detail, advice string }

func (t *trouble) Error() string { return t.detail }

func problem(detail, advice string) error { return &trouble{detail, advice} }

// errSkip ends a check that does not apply; what it gives as its detail says why.
var errSkip = errors.New("does not apply")

// run makes one check: it gives what it found good, or an error.
func (d *doctor) run(ctx context.Context, name string, check func(context.Context) (string, error)) {
	if ctx.Err() != nil {
		return
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	detail, err := check(ctx)
	if whole.Err() != nil { // what was interrupted says nothing of the installation
		return
	}
	f := Finding{Check: name, Status: OK, Detail: detail}
	if errors.Is(err, errSkip) {
		f.Status = Skipped
	} else if err != nil {
		f.Status = Problem
		d.problems++
		if found, ok := errors.AsType[*trouble](err); ok {
			f.Detail, f.Advice = found.detail, found.advice
		} else {
			f.Detail = d.Installation.Explain(err).Error()
			f.Advice = "mend that and run doctor again; docs/toggleadmin.md lists the permissions that doctor needs"
		}
	}
	d.Report(f)
}
