package local

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"strconv"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/terminal"
)

// Run serves the template's API until the context ends, which is not an error, or the engine cannot be started again.
// Everything that it started has ended when it returns. Its errors are single lines that state what to do.
//
// It has three phases: validate the configuration; prepare the engine, its tables, the functions and the
// triggers; serve.
func Run(ctx context.Context, c Config) error {
	s := newService(c)
	defer s.close()
	if err := s.check(ctx); err != nil {
		return err
	}
	return s.withEngine(ctx, s.run)
}

// WithTables creates and seeds the tables, writes local.json, and calls use, which returns before or when its context
// ends. It serves nothing. BaseURL is the address on which use serves the API: the port of the configuration.
// Everything that it started has ended when it returns.
func WithTables(ctx context.Context, c Config, use func(ctx context.Context, r *Running) error) error {
	s := newService(c)
	defer s.close()
	if err := cmp.Or(s.loadTemplate(), s.checkData(ctx)); err != nil {
		return err
	}
	return s.withEngine(ctx, func(ctx context.Context) error {
		kept := readLocalJSON(s.DataDir)
		credentials, err := s.seed(ctx, awsConfig(s.endpoint), kept.Credentials)
		if err != nil {
			return err
		}
		r := &Running{
			BaseURL:          "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)),
			Credentials:      credentials,
			DynamoDBEndpoint: s.endpoint,
			Tables:           s.template.TableNames(),
			WebhookSecret:    kept.WebhookSecret,
			MaxTokenDays:     s.MaxTokenDays,
		}
		if err := writeLocalJSON(s.DataDir, r); err != nil {
			return err
		}
		return use(ctx, r)
	})
}

func newService(c Config) *service {
	s := &service{Config: c.withDefaults(), endpoint: c.DynamoDBEndpoint}
	s.out = terminal.New(s.Stderr, terminal.Options{Terminal: s.Terminal, Color: s.Color, Now: s.Now})
	return s
}

// withEngine calls use while the engine runs: the one at DYNAMODB_ENDPOINT, or one of its own. If that one ends, the
// context of use ends.
func (s *service) withEngine(ctx context.Context, use func(context.Context) error) error {
	if s.endpoint != "" {
		return use(ctx)
	}
	e, err := engine.Start(ctx, engine.Options{
		Program: s.program, Host: s.EngineHost, Dir: s.DataDir, Logger: s.logger(),
	})
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
	err = use(running)
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
