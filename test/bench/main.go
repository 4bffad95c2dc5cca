// Command bench measures the service and prints Markdown tables. Run it on a quiet machine (make bench). Machines
// differ by a factor of three, so compare the ratios: each is measured side by side in one run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// suite is a group of measurements.
type suite struct {
	name, measures string
	byDefault      bool
	run            func(context.Context, options)
}

var suites = []suite{
	{"functions", "start, size, memory and processor time of each built function", true, measureFunctions},
	{"http", "requests through make run, compared with a read of the engine", true, measureHTTP},
	{"start", "the start of make run", true, measureStart},
	{"delivery", "delay of a change, calls, compilation and memory of the delivery", true, measureDelivery},
	{"signin", "sign-in with an OpenID Connect issuer", false, measureSignIn},
	{"authorizer", "the authorizer, compared with the binary of an earlier one (--earlier)", false, measureAuthorizer},
	{"pipelines", "the authorizer with an ID token of a pipeline, and with a stored token", false, measurePipelines},
	{"hang", "concurrency while DynamoDB does not respond", false, measureHang},
	{"traffic", "recording of traffic", false, measureTraffic},
	{"staleness", "re-evaluation after a change of a lifetime", false, measureStaleness},
	{"lag", "the time from a change of a lifetime to the events of the flags", false, measureLag},
	{"toggles", "searches of 10,000 toggles", false, measureToggles},
	{"events", "searches of the event log", false, measureEvents},
	{"evaluation", "evaluations of toggles", false, measureEvaluation},
	{"usage", "usage of toggles", false, measureUsage},
	{"console", "the page Toggles with 10,000 toggles in a Chromium ($CHROMIUM)", false, measureConsole},
	{"teams", "pages of 500 projects, 2,000 people and 200 groups in a Chromium, and requests", false, measureTeams},
	{"changes", "change requests with 30 changes, and lists of 10,000 closed ones", false, measureChanges},
	{"ascode", "toggleadmin plan and apply of 1,000 toggles", false, measureAsCode},
	{"unleash", "the delivery, compared with Unleash on PostgreSQL", false, measureUnleash},
}

// options are the command line, and two temporary folders.
type options struct {
	Suites  []string      `arg:"" optional:"" help:"Suites to run."`
	Rounds  int           `default:"3" help:"Rounds of each measurement; the median counts."`
	Length  time.Duration `default:"3s" help:"Length of one run of the suite http."`
	Clients []int         `default:"1,16" help:"Numbers of connections of the suite http."`
	Toggles int           `default:"1000000" help:"Toggles of the suite staleness."`
	Events  int           `default:"400000" help:"Events of the suite events."`
	Earlier string        `type:"path" help:"Binary of an earlier authorizer, for the suite authorizer."`
	Changes int           `default:"1000" help:"Changes of the suite delivery, at most 1,000."`

	disk, memory string
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("bench"), kong.Description(description()))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// description returns the help of the command, with a line for each suite.
func description() string {
	var text strings.Builder
	text.WriteString("Measures the service, side by side with its baseline.\n\nSuites:\n\n")
	for _, s := range suites {
		name := s.name
		if s.byDefault {
			name += " (by default)"
		}
		fmt.Fprintf(&text, "  - %s: %s\n", name, s.measures)
	}
	return text.String()
}

// selected returns the suites with the names or, without names, the default ones.
func selected(names []string) (all []suite, err error) {
	for _, s := range suites {
		if names == nil && s.byDefault {
			all = append(all, s)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no suite %q; see --help", name)
		}
		all = append(all, suites[i])
	}
	return all, nil
}

func run(ctx context.Context, o options) (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case failure:
			err = cause.error
		default:
			panic(cause)
		}
	}()
	for folder, parent := range map[*string]string{&o.disk: "", &o.memory: "/dev/shm"} {
		*folder = must(os.MkdirTemp(parent, "bench"))
		defer os.RemoveAll(*folder) //nolint:errcheck // a temporary folder
	}
	all, err := selected(o.Suites)
	if err != nil {
		return err
	}
	for _, s := range all {
		s.run(ctx, o)
	}
	return nil
}

// failure is the panic of check, with which a measurement ends. Deferred calls stop what it has started, and run
// returns the error.
type failure struct{ error }

// check ends the measurement if there is an error. Only the goroutine of run may call it, and must.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}
