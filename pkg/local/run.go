package local

import (
	"cmp"
	"context"
	"log/slog"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/terminal"
)

// Run serves the template's API until the context ends, which is not an error, or the engine cannot be started again.
// Everything that it started has ended when it returns. Its errors are single lines that state what to do.
//
// It has three phases: check everything that can be wrong; prepare the engine, its tables, the functions and the
// triggers; serve.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	checked, err := check(ctx, &c)
	if err != nil {
		return err
	}
	defer checked.Close()
	out := terminal.New(c.Stderr, terminal.Options{Terminal: c.Terminal, Color: c.Color, Now: c.Now})
	defer out.Close()
	s := &service{Config: c, template: checked.template, endpoint: c.DynamoDBEndpoint, out: out}
	if s.endpoint != "" {
		return s.run(ctx, checked.listener)
	}
	e, err := engine.Start(ctx, engine.Options{Program: checked.program, Dir: c.DataDir, Logger: s.logger()})
	if err != nil {
		return err
	}
	defer e.Stop()
	s.endpoint = e.Endpoint()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-e.Done()
		cancel()
	}()
	err = s.run(running, checked.listener)
	return cmp.Or(e.Err(), err)
}

// logger is the logger for what is neither a request nor a function's.
func (s *service) logger() *slog.Logger { return s.out.Logger(slog.LevelInfo) }
