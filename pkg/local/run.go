package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/local/console"
	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/pkg/samtemplate"
)

// drainTimeout is how long requests in flight may take to end after the signal. With the engine's own second it stays below two.
const drainTimeout = 700 * time.Millisecond

// Run serves the template's API until the context ends, which is no error, or the engine fails for good. Everything that it starts has
// ended when it returns.
func Run(ctx context.Context, c Config) error {
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	template, err := samtemplate.Load(c.Template, samtemplate.Settings{Region: region, AccountID: accountID, StackName: stackName})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no template %s: start in the project's folder, or name the file by TEMPLATE", c.Template)
	case err != nil:
		return fmt.Errorf("the template cannot be used, correct it: %w", err)
	}
	if c.DataDir != "" {
		release, err := lockDataDir(c.DataDir)
		if err != nil {
			return err
		}
		defer release()
	}
	listener, err := listen(ctx, c.Port)
	if err != nil {
		return err
	}
	defer listener.Close()
	out := console.New(c.Stderr, console.Options{Terminal: c.Terminal, Color: c.Color, Now: c.Now})
	defer out.Close()
	data, err := startServer(ctx, &c, out)
	if err != nil {
		return err
	}
	defer data.Stop()
	cfg := awsConfig(data.Endpoint())
	seeded, err := prepare(ctx, &c, cfg, data.Endpoint(), template.Tables)
	if err != nil {
		return err
	}
	if seeded.Renewed > 0 && !seeded.New {
		out.Own().Warn("seeded credentials were gone, not valid or not readable: new ones are made, the old ones revoked",
			slog.Int("made", seeded.Renewed))
	}
	functions, err := makeFunctions(template.Functions, c.Functions, func(f *samtemplate.Function) *app.Env {
		return environment(&c, f, cfg, data.Endpoint(), out)
	})
	if err != nil {
		return err
	}
	triggers, err := newTriggers(&c, template, functions, cfg, data.Endpoint(), out)
	if err != nil {
		return err
	}
	defer triggers.Close()
	api, err := makeGateway(&c, template, functions, triggers, out) //nolint:contextcheck // it logs requests, which have contexts of their own
	if err != nil {
		return err
	}
	defer triggers.Start(ctx, drainTimeout)() // ends after the last request
	warnOfOpenPort(&c, data.Endpoint(), out)
	service := Running{
		BaseURL:     "http://" + listener.Addr().String(),
		Credentials: seeded.Credentials,
		DynamoDB:    DynamoDB{Endpoint: data.Endpoint(), Tables: tableNames(template.Tables)},
		EnginePID:   data.PID(),
	}
	return serve(ctx, &c, listener, api, &service, data, out)
}

// listen takes the port, before anything else is started.
func listen(ctx context.Context, port int) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("PORT %d is in use: stop what listens there, or choose another one (0 is a free one)", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("PORT %d may not be used by you: choose one from 1024 (0 is a free one)", port)
	case err != nil:
		return nil, fmt.Errorf("listen on port %d: %w", port, err)
	}
	return listener, nil
}

// makeGateway makes the API in front of the functions.
func makeGateway(
	c *Config, template *samtemplate.Template, functions map[string]*invoke.Function, triggers *trigger.Triggers, out *console.Console,
) (*gateway.Gateway, error) {
	api, err := gateway.New(gateway.Config{
		API: template.API, Functions: functions,
		Region: region, AccountID: accountID, APIID: apiID,
		Now: c.Now, NewID: func() string { return uuid.Must(uuid.NewRandomFromReader(c.Random)).String() },
		AccessLog: func(line []byte, at time.Time) {
			triggers.AccessLog(line, at)
			out.AccessLog(line, at)
		},
		OnRequest: func(r gateway.Record) {
			out.Request(&console.Request{
				Method: r.Method, Path: r.Path, Status: r.Status, Function: r.Function, Duration: r.Duration, ID: r.RequestID,
				Cause: cause(r.Err),
			})
		},
	})
	if err != nil {
		return nil, fmt.Errorf("the template's API cannot be played, correct it: %w", err)
	}
	return api, nil
}

// cause is what the console says of an answer that the gateway made itself for a fault.
func cause(err error) string {
	if err == nil {
		return ""
	}
	if p, ok := errors.AsType[*invoke.PanicError](err); ok {
		return p.Error() + "\n" + string(p.Stack)
	}
	return err.Error()
}

// environment is what one function is given from outside.
func environment(c *Config, f *samtemplate.Function, cfg aws.Config, endpoint string, out *console.Console) *app.Env {
	vars := maps.Clone(f.Environment)
	if _, uses := vars["DYNAMODB_ENDPOINT"]; uses { // the template's parameter for it, which is known only now
		vars["DYNAMODB_ENDPOINT"] = endpoint
	}
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), c.APIOptions...)
	if c.OnDynamoDB != nil {
		cfg.APIOptions = append(cfg.APIOptions, meter(f.Name, c.OnDynamoDB))
	}
	logger := out.Logger(f.Name)
	if len(f.Streams)+len(f.Schedules)+len(f.LogSubscriptions) > 0 {
		logger = out.EventLogger(f.Name, routine(f))
	}
	return &app.Env{Vars: vars, AWS: cfg, Now: c.Now, Random: c.Random, Logger: logger}
}

// serve answers requests, says so, and ends everything in order: first the requests in flight, then (by Run) the engine.
func serve(
	ctx context.Context, c *Config, listener net.Listener, api http.Handler, service *Running, data server, out *console.Console,
) error {
	s := gateway.NewServer(api)
	s.ErrorLog = slog.NewLogLogger(out.Own().Handler(), slog.LevelWarn)
	served := make(chan error, 1)
	go func() { served <- s.Serve(gateway.NewListener(listener)) }()
	defer func() { // the context has ended, or something else is broken: whoever is still being answered gets a moment
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if s.Shutdown(drain) != nil {
			_ = s.Close()
		}
	}()
	if err := writeLocalJSON(c.DataDir, service); err != nil {
		return err
	}
	if err := welcome(c.Stdout, c.DataDir, service); err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready(*service)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-data.Done():
		return data.Err()
	case err := <-served:
		return fmt.Errorf("serve requests: %w", err)
	}
}
