// Command toggleadmin is the operator's program: it initialises an installation, manages its accounts, tokens and toggles, and checks its
// health. This folder holds flags, tables and questions; the work is done in pkg/operator, pkg/doctor and pkg/seed.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/outcome"
)

// cli is the whole command line.
type cli struct {
	target

	JSON bool `name:"json" help:"Print JSON, whose members stay as they are documented."`
	Yes  bool `short:"y" help:"Do not ask before what cannot be undone."`

	Init            initCmd    `cmd:"" help:"Fill the tables of a new stack and print an API token, once."`
	Users           usersCmd   `cmd:"" help:"People: list, add, disable, enable."`
	ServiceAccounts serviceCmd `cmd:"" help:"Service accounts: list, add, disable, enable."`
	Tokens          tokensCmd  `cmd:"" help:"API tokens and personal access tokens: list, create, revoke."`
	Features        toggleCmd  `cmd:"" help:"Feature toggles: list, put, archive, restore, stale, delete."`
	Doctor          doctorCmd  `cmd:"" help:"Check an installation and say what to do."`
	Completion      shellCmd   `cmd:"" help:"Print the script that completes commands in a shell."`
}

// terminals are where a person reads and answers.
type terminals struct {
	in       io.Reader
	out, err io.Writer
	asks     bool // in and err are a terminal
}

func main() {
	t := terminals{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	t.asks = term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write: a token that nobody has read is revoked
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], t))
}

const description = `Operates an installation of the feature-toggle administration API.

Name the installation by --stack NAME or --local. A stack's region and credentials come from the usual places of AWS tools
(AWS_REGION, AWS_PROFILE, …), or --region and --profile.

Exit status: 0 done, 1 failed (doctor: a problem), 2 wrong usage, 3 not found, 4 refused, 5 not initialised, 6 not reachable,
7 a permission is missing.`

// run is main without the process: it gives the exit status.
func run(ctx context.Context, args []string, t terminals) (status int) {
	var c cli
	ended := false
	parser, err := kong.New(&c, kong.Name("toggleadmin"), kong.Description(description),
		kong.Writers(t.out, t.err), kong.Exit(func(code int) { status, ended = code, true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(t.err, "toggleadmin: "+oneLine(err))
		return outcome.Failure.Status()
	}
	if len(args) > 0 && args[0] == completeCommand {
		complete(t.out, parser.Model, args[1:])
		return 0
	}
	parsed, err := parser.Parse(args)
	if ended { // by --help
		return status
	}
	if err != nil {
		fmt.Fprintln(t.err, "toggleadmin: "+oneLine(err)+"; see --help")
		return outcome.Usage.Status()
	}
	s := &session{terminals: t, ctx: ctx, cli: &c, now: time.Now, random: rand.Reader}
	if err := parsed.Run(s); err != nil {
		err = installation.Explain(s.name(), err)
		fmt.Fprintln(t.err, "toggleadmin: "+oneLine(err))
		return outcome.Of(err).Status()
	}
	return 0
}

// oneLine is an error as one line that is safe to print.
func oneLine(err error) string {
	return printable(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}
