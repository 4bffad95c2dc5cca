package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/alecthomas/kong"
)

// options are the command line.
type options struct {
	Suites  []string      `arg:"" optional:"" enum:"${suites}" help:"Default: functions, http, start."`
	Rounds  int           `default:"3" help:"Rounds of each measurement; the median counts."`
	Length  time.Duration `default:"3s" help:"Length of one run of the suite http."`
	Cases   []string      `help:"Only these cases of the suite http."`
	Toggles int           `default:"1000000" help:"Toggles of the suite staleness."`
	Events  bool          `help:"Send the events of the suite staleness to a bus."`
	Before  string        `type:"existingfile" help:"The authorizer of an earlier version, for the suite signin."`
	Clients []int         `default:"1,16,64" help:"Numbers of connections of the suite http."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("bench"), kong.Description("Measures the service, side by side with its baseline."),
		kong.Vars{"suites": "functions,http,start,signin,hang,traffic,staleness,lag,toggles"})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	work, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a temporary folder
	suites := map[string]func(context.Context, options, string) error{
		"functions": measureFunctions, "http": measureHTTP, "start": measureStart, "signin": measureSignIn,
		"hang":    measureHang,
		"traffic": measureTraffic, "staleness": measureStaleness, "lag": measureLag,
		"toggles": measureToggles,
	}
	if len(o.Suites) == 0 {
		o.Suites = []string{"functions", "http", "start"}
	}
	for _, name := range o.Suites {
		if err := suites[name](ctx, o, work); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
