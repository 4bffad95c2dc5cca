// Command toggleadmin manages an installation of the service: it initializes it, manages accounts, tokens and toggles,
// and checks its health. docs/toggleadmin.md describes it.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/version"
)

// cli is the command line.
type cli struct {
	target

	Version kong.VersionFlag `help:"Print the version."`

	JSON bool `name:"json" help:"Print JSON. Its properties do not change."`
	Yes  bool `short:"y" help:"Do not ask for confirmation."`

	Features       featuresCmd       `cmd:"" group:"Toggles" aliases:"toggles" help:"Manage feature toggles."`
	Evaluate       evaluateCmd       `cmd:"" group:"Toggles" help:"Print whether a toggle is on for a context, and why."`
	Snapshot       snapshotCmd       `cmd:"" group:"Toggles" help:"Print what applications download."`
	ChangeRequests changeRequestsCmd `cmd:"" group:"Toggles" help:"Approve, apply and schedule changes that need approvals."`
	Plan           planCmd           `cmd:"" group:"Toggles" help:"Print what would make toggles as files describe them. docs/ascode.md describes the files."`
	Apply          applyCmd          `cmd:"" group:"Toggles" help:"Make toggles as files describe them. Exit status 4: somebody else changed something since the plan, and the rest is applied."`
	Schema         schemaCmd         `cmd:"" group:"Toggles" help:"Print the JSON Schema of the files of plan and apply, for editors."`
	ClientTokens   clientTokensCmd   `cmd:"" group:"Toggles" help:"Manage the tokens with which applications get toggles."`
	CodeReferences codeReferencesCmd `cmd:"" group:"Toggles" help:"Find the names of toggles in source code."`

	Users           usersCmd           `cmd:"" group:"Access" help:"Manage people."`
	ServiceAccounts serviceAccountsCmd `cmd:"" group:"Access" help:"Manage service accounts."`
	Groups          groupsCmd          `cmd:"" group:"Access" help:"Manage groups of accounts."`
	Roles           rolesCmd           `cmd:"" group:"Access" help:"Manage roles."`
	Projects        projectsCmd        `cmd:"" group:"Access" help:"Manage projects."`
	Access          accessCmd          `cmd:"" group:"Access" help:"Manage who has which roles in a project."`
	Tokens          tokensCmd          `cmd:"" group:"Access" help:"Manage API tokens and personal access tokens."`
	Console         consoleCmd         `cmd:"" group:"Access" help:"Print the URL of the console. With --local, it signs the admin in, once."`

	Init    initCmd    `cmd:"" group:"Installation" help:"Initialize a new stack and print an API token."`
	Doctor  doctorCmd  `cmd:"" group:"Installation" help:"Check an installation and advise what to do."`
	Events  eventsCmd  `cmd:"" group:"Installation" help:"List and follow the event log, and send events again."`
	Import  importCmd  `cmd:"" group:"Installation" help:"Import from Unleash or from a file."`
	Compare compareCmd `cmd:"" group:"Installation" help:"Evaluate toggles of Unleash and of this installation for many contexts, and print those with other results. Exit status 3: there are some."`
	Export  exportCmd  `cmd:"" group:"Installation" help:"Print everything but secrets as JSON, which import file reads."`
	Restore restoreCmd `cmd:"" group:"Installation" help:"Replace the items of all tables with those of restored copies, and repair differences between them."`

	Help         helpCmd       `cmd:"" group:"This program" help:"Print the help of a command."`
	Completion   completionCmd `cmd:"" group:"This program" help:"Print a script that completes commands and options in a shell."`
	PrintVersion versionCmd    `cmd:"" group:"This program" name:"version" help:"Print the version."`
}

// streams are the standard streams of the process.
type streams struct {
	in          io.Reader
	out, err    io.Writer
	terminal    bool // in is a terminal
	interactive bool // in and err are
	errTerminal bool // err is
	width       int  // of the terminal out; 0: out is not a terminal
}

func main() {
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	s.terminal = term.IsTerminal(int(os.Stdin.Fd()))
	s.errTerminal = term.IsTerminal(int(os.Stderr.Fd()))
	s.interactive = s.terminal && s.errTerminal
	s.width, _, _ = term.GetSize(int(os.Stdout.Fd()))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// writing to a closed pipe must return an error: a token that was not printed is revoked
	signal.Ignore(syscall.SIGPIPE)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	os.Exit(int(run(ctx, os.Args[1:], s)))
}

const description = `Manages an installation of the feature-toggle administration API.

Select the installation with --stack NAME or --local. The region and the credentials of a stack come from the usual AWS
settings (AWS_REGION, AWS_PROFILE, …), or from --region and --profile. Commands with the option --url also work over the
API, with the rights of a token.

Exit status: 0 success, 1 failure (doctor: a problem was found), 2 invalid usage, 3 not found (import: something was
lost; compare: something differs), 4 rejected, 5 not initialized, 6 not reachable, 7 a permission is missing.`

func run(ctx context.Context, args []string, std streams) exitstatus.Status {
	var c cli
	helped := false
	parser := kong.Must(&c, kong.Name("toggleadmin"), kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(std.out, std.err), kong.Exit(func(int) { helped = true }), kong.Vars{"version": versionText()},
		kong.Bind(&c.target), kong.BindToProvider((*session).operator), kong.BindToProvider((*session).manager))
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if helped { // --help and --version have printed their text
		return exitstatus.Success
	}
	if err == nil {
		err = checkEmpty(command.Flags())
	}
	if err != nil && slices.Contains(args, "--detailed-exitcode") {
		return fail(std.err, exitstatus.Errorf(exitstatus.Failure, "%v; see --help", err))
	}
	if err != nil {
		text := missingValue.ReplaceAllString(err.Error(), "a value is missing")
		if text == "unknown flag --url" {
			return fail(std.err, errTables)
		}
		return fail(std.err, exitstatus.Errorf(exitstatus.Usage, "%s; see --help", text))
	}
	s := &session{streams: std, ctx: ctx, cli: &c, now: time.Now, random: rand.Reader}
	if err := command.Run(s); err != nil {
		return fail(std.err, installation.Explain(s.name(), s.Local, err))
	}
	return exitstatus.Success
}

type (
	helpCmd struct {
		Command []string `arg:"" optional:"" help:"Command, such as tokens create."`
	}
	versionCmd struct{}
)

// Run prints the help of a command, as --help does.
func (c *helpCmd) Run(k *kong.Context) error {
	command, err := kong.Trace(k.Kong, c.Command)
	if err != nil {
		return err
	}
	if command.Error != nil {
		return exitstatus.Errorf(exitstatus.Usage, "%v; see --help", command.Error)
	}
	return command.PrintUsage(false)
}

// Run prints the version, as --version does.
func (versionCmd) Run(s *session) error {
	return s.result(map[string]string{"version": version.String()}, "%s", versionText())
}

func versionText() string { return "toggleadmin " + version.String() }

// missingValue is kong's text for an option without a value at the end of the command line.
var missingValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`)

// checkEmpty returns an error for an option with an empty value, which often comes from an unset shell variable.
func checkEmpty(flags []*kong.Flag) error {
	for _, f := range flags {
		switch v := reflect.Indirect(f.Target); v.Kind() { //nolint:exhaustive // the others have no empty value
		case reflect.String, reflect.Slice:
			if f.Set && v.Len() == 0 {
				return fmt.Errorf("--%s is empty: omit it or give it a value", f.Name)
			}
		}
	}
	return nil
}

// fail prints an error as one line and returns its status.
func fail(stderr io.Writer, err error) exitstatus.Status {
	fmt.Fprintln(stderr, "toggleadmin: "+printable(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")))
	return exitstatus.Of(err)
}
