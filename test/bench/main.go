// Command bench measures the service and prints Markdown tables. Run it on a quiet machine (make bench). Machines
// differ by a factor of three, so compare the ratios: each is measured side by side in one run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/alecthomas/kong"
)

// options are the command line, and two temporary folders.
type options struct {
	Suites  []string      `arg:"" optional:"" help:"Default: functions http start delivery. Others: ${others}."`
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
	kong.Parse(&o, kong.Name("bench"), kong.Description("Measures the service, side by side with its baseline."),
		kong.Vars{"others": "signin authorizer pipelines hang traffic staleness lag toggles events evaluation usage console teams changes " +
			"ascode unleash"})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
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
	suites := map[string]func(context.Context, options){
		"functions": measureFunctions, "http": measureHTTP, "start": measureStart, "signin": measureSignIn,
		"authorizer": measureAuthorizer, "pipelines": measurePipelines,
		"hang": measureHang, "traffic": measureTraffic, "staleness": measureStaleness, "lag": measureLag,
		"toggles": measureToggles, "events": measureEvents, "evaluation": measureEvaluation,
		"delivery": measureDelivery, "unleash": measureUnleash, "usage": measureUsage, "console": measureConsole,
		"teams": measureTeams, "changes": measureChanges, "ascode": measureAsCode,
	}
	if o.Suites == nil {
		o.Suites = []string{"functions", "http", "start", "delivery"}
	}
	for _, name := range o.Suites {
		if suites[name] == nil {
			return fmt.Errorf("there is no suite %q; see --help", name)
		}
	}
	for _, name := range o.Suites {
		suites[name](ctx, o)
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
