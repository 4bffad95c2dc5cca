package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
	"golang.org/x/term"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/accesstable"
)

// target selects the installation.
type target struct {
	Stack   string `placeholder:"NAME" xor:"target" help:"Use the installation that was deployed as this stack."`
	Local   bool   `xor:"target,region,profile" help:"Use the service that make run started on this machine."`
	Region  string `placeholder:"REGION" xor:"region" help:"AWS region of the stack."`
	Profile string `placeholder:"NAME" xor:"profile" help:"AWS profile."`
	DataDir string `default:".local" env:"DATA_DIR" placeholder:"DIR" help:"Folder of the local service's data (default .local)."`

	url string // of commands with apiOptions; "": none
}

// stepTimeout limits what a command does between questions. Failed calls of DynamoDB are repeated until then.
const stepTimeout = time.Minute

// session is the run of one command.
type session struct {
	streams
	*cli

	ctx    context.Context //nolint:containedctx // ends with the process
	now    func() time.Time
	random io.Reader
	names  eventsearch.Names // of the installation that is open
}

// step returns a context for the next calls.
func (s *session) step() context.Context {
	ctx, cancel := context.WithTimeout(s.ctx, stepTimeout)
	context.AfterFunc(s.ctx, cancel)
	return ctx
}

// revokeUnprinted revokes a token that could not be printed, even if the process received a signal to end. It returns
// an error that reports this, and names the command that creates another one.
func (s *session) revokeUnprinted(printing error, create string, revoke func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), stepTimeout)
	defer cancel()
	if err := revoke(ctx); err != nil {
		return fmt.Errorf("the token could not be printed and could not be revoked, revoke it: %w",
			errors.Join(printing, err))
	}
	return fmt.Errorf("the token could not be printed, so it was revoked: create another one with `toggleadmin "+
		"%s`: %w", create, printing)
}

// name is what errors call the installation.
func (s *session) name() string {
	if s.Local {
		return "the local service"
	}
	if s.usesURL() {
		return s.url
	}
	return fmt.Sprintf("the stack %q", s.Stack)
}

// open opens the installation, which may not be initialized. Changes are recorded as made by the operator.
func (s *session) open() (*installation.Installation, error) {
	i, err := s.openTarget()
	if err == nil {
		s.ctx = eventlog.WithActor(s.ctx, eventlog.Actor{Name: i.Operator})
	}
	return i, err
}

func (s *session) openTarget() (*installation.Installation, error) {
	i, err := s.find()
	if err == nil {
		s.names = eventsearch.NewNames(user.NewNames(i.Client, i.Tables), accesstable.NewReader(i.Client, i.Tables))
	}
	return i, err
}

func (s *session) find() (*installation.Installation, error) {
	ctx := s.step()
	if s.Local {
		return installation.OpenLocal(ctx, s.DataDir)
	}
	if s.usesURL() {
		return nil, errTables
	}
	if s.Stack == "" {
		return nil, exitstatus.Errorf(exitstatus.Usage,
			"no installation is selected: use --stack NAME, --local for the service that make run started, or --url URL if the command has it")
	}
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithRegion(s.Region), config.WithSharedConfigProfile(s.Profile), config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Unreachable, "the AWS configuration cannot be used: %v", err)
	}
	return installation.OpenStack(ctx, cfg, s.Stack)
}

// operator opens the installation, which must be initialized.
func (s *session) operator() (*operator.Operator, error) {
	i, err := s.open()
	if err != nil {
		return nil, err
	}
	if _, err := i.Initialization(s.step()); err != nil {
		return nil, err
	}
	return operator.New(i, s.now, s.random), nil
}

// maxSecret is more than the length of a token.
const maxSecret = 1000

// readSecret reads all of stdin, or one line of a terminal, which does not show it.
func (s *session) readSecret(prompt string) (secret []byte, err error) {
	if !s.terminal {
		s.interactive = false // stdin cannot be read again
		input, err := io.ReadAll(io.LimitReader(s.in, maxSecret))
		return decode(input), err
	}
	stdin := int(os.Stdin.Fd())
	before, err := term.MakeRaw(stdin) // before the prompt, so that nothing typed after it is shown
	if err != nil {
		return nil, err
	}
	defer fmt.Fprintln(s.err)
	defer func() { err = errors.Join(err, term.Restore(stdin, before)) }()
	fmt.Fprint(s.err, prompt)
	type result struct {
		line []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // reading from a terminal cannot be interrupted
		line, err := term.ReadPassword(stdin)
		read <- result{line, err}
	}()
	select {
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	case r := <-read:
		return r.line, r.err
	}
}

// decode returns a text in UTF-8 without a byte order mark. PowerShell writes such marks, and UTF-16.
func decode(text []byte) []byte {
	decoded, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), text)
	if err != nil {
		return text
	}
	return decoded
}

// confirm asks for confirmation. It returns an error unless the user confirms.
func (s *session) confirm(format string, args ...any) error {
	if s.Yes {
		return nil
	}
	if !s.interactive {
		return exitstatus.Errorf(exitstatus.Rejected,
			"this requires confirmation, and there is no terminal: use --yes to confirm; nothing was changed")
	}
	fmt.Fprint(s.err, printable(fmt.Sprintf(format, args...))+" [y/N] ")
	line := make(chan string, 1)
	go func() { // reading from a terminal cannot be interrupted
		text, _ := bufio.NewReader(s.in).ReadString('\n')
		line <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-s.ctx.Done():
		fmt.Fprintln(s.err)
	case text := <-line:
		if text == "y" || text == "yes" {
			return nil
		}
	}
	return exitstatus.Errorf(exitstatus.Rejected, "not confirmed; nothing was changed")
}
