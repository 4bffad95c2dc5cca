package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/google/uuid"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/pkg/platform/app"
)

// drainTimeout is how long requests may take to end after a signal. With the time that the engine has to stop it is
// well below two seconds.
const drainTimeout = 500 * time.Millisecond

// Run serves the template's API until the context ends, which is not an error, or the engine fails for good. Everything
// that it started has ended when it returns. Its errors are single lines that state what to do.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	if err := errors.Join(checkIssuer(&c), checkWebhookEvents(&c)); err != nil {
		return err
	}
	template, err := samtemplate.Load(c.Template, samtemplate.Settings{
		Region: region, AccountID: accountID, StackName: stackName, Parameters: parameters(&c),
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("TEMPLATE %s does not exist: start in the project's folder, or name another file", c.Template)
	case err != nil:
		return fmt.Errorf("TEMPLATE %s cannot be used, correct it: %w", c.Template, err)
	}
	if err := checkWebhook(&c); err != nil {
		return err
	}
	listener, err := listen(ctx, c.Port)
	if err != nil {
		return err
	}
	defer listener.Close()
	program := ""
	if c.DynamoDBEndpoint != "" {
		err = checkEndpoint(ctx, c.DynamoDBEndpoint)
	} else {
		program, err = engine.Find(filepath.Dir(c.Template))
	}
	if err != nil {
		return err
	}
	if c.DataDir != "" { // last, so that a start with an invalid configuration leaves no folder
		lock, err := lockDataDir(c.DataDir)
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	out := terminal.New(c.Stderr, terminal.Options{Terminal: c.Terminal, Color: c.Color, Now: c.Now})
	defer out.Close()
	if c.DynamoDBEndpoint != "" {
		return serve(ctx, &c, template, listener, c.DynamoDBEndpoint, out)
	}
	e, err := engine.Start(ctx, engine.Options{Program: program, Dir: c.DataDir, Logger: ownLogger(out)})
	if err != nil {
		return err
	}
	defer e.Stop()
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-e.Done()
		cancel()
	}()
	err = serve(serving, &c, template, listener, e.Endpoint(), out)
	return cmp.Or(e.Err(), err)
}

// ownLogger is the logger for what is neither a request nor a function's.
func ownLogger(out *terminal.Output) *slog.Logger { return out.Logger(slog.LevelInfo) }

// listen opens the port.
func listen(ctx context.Context, port int) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("PORT %d is in use: stop the process that listens there, or choose another port (0 is a "+
			"free one)", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("PORT %d is not permitted: choose one from 1024 (0 is a free one)", port)
	case err != nil:
		return nil, fmt.Errorf("listen on PORT %d: %w", port, err)
	}
	return listener, nil
}

// serve prepares the tables, the functions and the API, and serves requests until the context ends.
func serve(
	ctx context.Context, c *Config, template *samtemplate.Template, listener net.Listener, endpoint string,
	out *terminal.Output,
) error {
	cfg := awsConfig(endpoint)
	seeded, err := prepare(ctx, c, cfg, endpoint, template.Tables)
	if err != nil {
		return explain(err, c)
	}
	if seeded.Renewed > 0 && !seeded.New {
		ownLogger(out).Warn("credentials were missing or invalid: new ones were created, and the old ones revoked",
			slog.Int("created", seeded.Renewed))
	}
	secret, err := webhookSecret(c)
	if err != nil {
		return err
	}
	events, err := newBus(c, template, secret, out)
	if err != nil {
		return err
	}
	defer events.Close()
	writes := &trigger.Writes{}
	cfg.HTTPClient = writes.Client(events.Client(cfg.HTTPClient))
	functions, err := newFunctions(template.Functions, c.Functions, func(f *samtemplate.Function) *app.Env {
		return functionEnv(c, f, cfg, endpoint, out)
	})
	if err != nil {
		return err
	}
	//nolint:contextcheck // a log line needs no context
	triggers, err := newTriggers(c, template, functions, events, writes, cfg, endpoint, out)
	if err != nil {
		return err
	}
	defer triggers.Close()
	api, err := newGateway(c, template, functions, triggers, out) //nolint:contextcheck // the same
	if err != nil {
		return err
	}
	defer triggers.Start(ctx, drainTimeout)() // ends after the last request
	return serveHTTP(ctx, c, api, listener, out, &Running{
		BaseURL:     "http://" + listener.Addr().String(),
		Credentials: seeded.Credentials,
		DynamoDB:    DynamoDB{Endpoint: endpoint, Tables: samtemplate.TableNames(template.Tables)}, WebhookURL: c.WebhookURL,
		WebhookSecret: secret,
		WebhookEvents: c.WebhookEvents, OIDCIssuer: c.OIDCIssuer, OIDCClientID: c.OIDCClientID, MaxTokenDays: c.MaxTokenDays,
	})
}

// newGateway creates the API.
func newGateway(
	c *Config, template *samtemplate.Template, functions map[string]*invoke.Function, triggers *trigger.Triggers,
	out *terminal.Output,
) (*gateway.Gateway, error) {
	api, err := gateway.New(gateway.Config{
		API: template.API, Functions: functions,
		Region: region, AccountID: accountID, APIID: apiID, AcceptHost: isLoopback,
		Now: c.Now, NewID: func() string { return uuid.Must(uuid.NewRandomFromReader(c.Random)).String() },
		AccessLog: triggers.AccessLog,
		OnRequest: func(r gateway.Record) {
			out.Log(&terminal.Entry{
				Method: r.Method, Path: r.Path, Status: r.Status, Function: r.Function, Duration: r.Duration, ID: r.RequestID,
				Cause: cause(r.Err),
			})
		},
	})
	if err != nil {
		return nil, fmt.Errorf("TEMPLATE %s cannot be used, correct its API: %w", c.Template, err)
	}
	return api, nil
}

// cause returns an error as text, a panic with its stack.
func cause(err error) string {
	if err == nil {
		return ""
	}
	if p, ok := errors.AsType[*invoke.PanicError](err); ok {
		return p.Error() + "\n" + string(p.Stack)
	}
	return err.Error()
}

// serveHTTP serves requests until the context ends, and waits until requests in progress have ended.
func serveHTTP(ctx context.Context, c *Config, api http.Handler, listener net.Listener, out *terminal.Output,
	service *Running) error {
	limited, err := newSignIn(c, service.Users, api)
	if err != nil {
		return err
	}
	s := gateway.NewServer(limited)
	s.ErrorLog = slog.NewLogLogger(ownLogger(out).Handler(), slog.LevelWarn)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	defer func() {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if s.Shutdown(drain) != nil {
			_ = s.Close()
		}
	}()
	if err := writeLocalJSON(c.DataDir, service); err != nil {
		return err
	}
	if err := welcome(c.Stdout, c.DataDir, service, limited.code); err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready(*service)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return fmt.Errorf("serve requests: %w", err)
	}
}
