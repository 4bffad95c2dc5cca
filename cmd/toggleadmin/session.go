package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/outcome"
)

// target says which installation.
type target struct {
	Stack   string `placeholder:"NAME" help:"The installation that was deployed as this stack."`
	Local   bool   `help:"The service that make run has started on this machine."`
	Region  string `placeholder:"REGION" help:"AWS region of the stack, if not the environment's or the profile's."`
	Profile string `placeholder:"NAME" help:"AWS profile, if not the environment's."`
	DataDir string `default:".local" env:"DATA_DIR" placeholder:"DIR" help:"Folder of the local service's data (default .local)."`
}

// workTime bounds what a command does between questions: DynamoDB is asked again and again until then.
const workTime = time.Minute

// session is one command's run.
type session struct {
	terminals
	*cli

	ctx    context.Context //nolint:containedctx // it lives as long as the process; the commands of the parser have no other way to get it
	now    func() time.Time
	random io.Reader
}

// work gives a context for what follows.
func (s *session) work() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, workTime)
}

// takingBack gives a context for undoing what cannot be used, also when the process has been told to end.
func (s *session) takingBack() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(s.ctx), workTime)
}

// name is the installation as errors call it before it is open.
func (s *session) name() string {
	if s.Local {
		return "the local service"
	}
	return fmt.Sprintf("the stack %q", s.Stack)
}

// check refuses a target that is none.
func (s *session) check() error {
	switch {
	case s.Local && s.Stack != "":
		return outcome.New(outcome.Usage, "both --stack and --local are given: name one installation")
	case !s.Local && s.Stack == "":
		return outcome.New(outcome.Usage, "no installation is named: give --stack NAME, or --local for the service that make run has started")
	case s.Local && (s.Region != "" || s.Profile != ""):
		return outcome.New(outcome.Usage, "--region and --profile are a stack's, the local service has none")
	}
	return nil
}

// open opens the installation, initialised or not.
func (s *session) open(ctx context.Context) (*installation.Installation, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Local {
		return installation.OpenLocal(ctx, s.DataDir)
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.Region), config.WithSharedConfigProfile(s.Profile),
		config.WithLogger(logging.Nop{})) // what went wrong comes as an error
	if err != nil {
		return nil, outcome.New(outcome.Unreachable, "the AWS configuration cannot be used: %v", err)
	}
	return installation.OpenStack(ctx, cfg, s.Stack)
}

// operator opens an installation that is initialised.
func (s *session) operator(ctx context.Context) (*operator.Operator, error) {
	i, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.MustBeInitialised(ctx); err != nil {
		return nil, err
	}
	return operator.New(i, s.now, s.random), nil
}

// confirm asks before what cannot be undone. It gives an error of kind Refused unless the answer is yes.
func (s *session) confirm(format string, args ...any) error {
	if s.Yes {
		return nil
	}
	if !s.asks {
		return outcome.New(outcome.Refused,
			"this asks for a confirmation, and there is no terminal to ask on: say --yes if you mean it; nothing was changed")
	}
	fmt.Fprint(s.err, printable(fmt.Sprintf(format, args...))+" [y/N] ")
	answer := make(chan string, 1)
	go func() { // reading a terminal cannot be interrupted; the process ends with the command
		line, _ := bufio.NewReader(s.in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-s.ctx.Done():
		fmt.Fprintln(s.err)
	case text := <-answer:
		if text == "y" || text == "yes" {
			return nil
		}
	}
	return outcome.New(outcome.Refused, "not confirmed, nothing was changed")
}
