// Command local serves the whole API on this machine. `make run` starts it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"toggleadmin/pkg/local"
)

// flags are the options. Each can also be set by an environment variable.
type flags struct {
	Port             port   `default:"3000" env:"PORT" help:"Port of 127.0.0.1 to serve on. 0 is a free one."`
	DataDir          string `default:".local" env:"DATA_DIR" help:"Folder of the data and of local.json."`
	DynamoDBEndpoint string `name:"dynamodb-endpoint" env:"DYNAMODB_ENDPOINT" help:"URL of a running engine to use instead of starting one."`
	Template         string `default:"template.yaml" env:"TEMPLATE" help:"SAM template to serve."`
}

// port is an int with an error message of its own. local.Run checks its range.
type port int

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *port) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return fmt.Errorf("PORT %q is not a port: choose one from 1 to 65535, or 0 for a free one", text)
	}
	*p = port(n)
	return nil
}

// gcPercent trades memory for a tenth of the time. The heap stays below 30 MB under load.
const gcPercent = 400

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status.
func run(args []string, stdout, stderr *os.File) int {
	var f flags
	status, ended := parse(&f, args, stdout, stderr)
	if ended {
		return status
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	terminal := term.IsTerminal(int(stderr.Fd()))
	err := local.Run(ctx, local.Config{
		Template: f.Template, Port: int(f.Port), DataDir: f.DataDir, DynamoDBEndpoint: f.DynamoDBEndpoint,
		Stdout: stdout, Stderr: stderr, Terminal: terminal, Color: terminal && os.Getenv("NO_COLOR") == "",
	})
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(stderr, "local: "+oneLine(err))
		return 1
	}
	return 0
}

// parse reads the flags. If ended is true, the program exits with the status.
func parse(f *flags, args []string, stdout, stderr io.Writer) (status int, ended bool) {
	exit := func(code int) { status, ended = code, true }
	parser, err := kong.New(f, kong.Name("local"), kong.Description("Serves the API on this machine."),
		kong.Writers(stdout, stderr), kong.Exit(exit))
	if err == nil {
		_, err = parser.Parse(args)
	}
	switch {
	case ended: // by --help
		return status, true
	case err != nil:
		fmt.Fprintln(stderr, "local: "+oneLine(err)+"; see --help")
		return 2, true
	case f.DataDir == "":
		fmt.Fprintln(stderr, "local: "+oneLine(errNoDataDir))
		return 2, true
	}
	return 0, false
}

var errNoDataDir = errors.New("DATA_DIR is empty: choose a folder, or unset it for .local")

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
