package local

import (
	"cmp"
	"context"
	"log/slog"
	"net"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/terminal"
)

// Run serves the template's API until the context ends, which is not an error, or the engine cannot be started again.
// Everything that it started has ended when it returns. Its errors are single lines that state what to do.
//
// It has three phases: validate the configuration; prepare the engine, its tables, the functions and the
// triggers; serve.
func Run(ctx context.Context, c Config) error {
	s := &service{Config: c.withDefaults(), endpoint: c.DynamoDBEndpoint}
	s.out = terminal.New(s.Stderr, terminal.Options{Terminal: s.Terminal, Color: s.Color, Now: s.Now})
	defer s.close()
	if err := s.check(ctx); err != nil {
		return err
	}
	if s.endpoint != "" {
		return s.run(ctx)
	}
	e, err := engine.Start(ctx, engine.Options{Program: s.program, Dir: s.DataDir, Logger: s.logger()})
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
	err = s.run(running)
	return cmp.Or(e.Err(), err)
}

// close closes what Run has opened.
func (s *service) close() {
	for _, listener := range []net.Listener{s.listener, s.clientListener} {
		if listener != nil {
			_ = listener.Close()
		}
	}
	_ = s.lock.Close()
}

// logger is the logger for what is neither a request nor a function's.
func (s *service) logger() *slog.Logger { return s.out.Logger(slog.LevelInfo) }
