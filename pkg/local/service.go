package local

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/uuid"

	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/functionurl"
	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/pkg/samtemplate"
)

// drainTimeout is how long requests may take to end after a signal. With the time that the engine has to stop it is
// well below two seconds.
const drainTimeout = 500 * time.Millisecond

// service is what Run prepares and serves.
type service struct {
	Config
	out            *terminal.Output
	template       *samtemplate.Template
	listener       net.Listener // of the API
	clientListener net.Listener // of the function URL for applications
	program        string       // of the engine; empty: another engine is used
	endpoint       string       // of the engine
	lock           *os.File     // of the data folder; nil: data are in memory
}

// run prepares the tables, the functions and the API, and serves requests until the context ends.
func (s *service) run(ctx context.Context) error {
	cfg := awsConfig(s.endpoint)
	kept := readLocalJSON(s.DataDir)
	credentials, err := s.seed(ctx, cfg, kept.Credentials)
	if err != nil {
		return err
	}
	secret, err := webhookSecret(kept.WebhookSecret, s.Random)
	if err != nil {
		return err
	}
	folder := s.DataDir // of events and queues
	if folder == "" {
		if folder, err = os.MkdirTemp("", "toggleadmin-"); err != nil {
			return fmt.Errorf("create a folder for events: %w", err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
	}
	events, err := bus.Open(bus.Config{
		Template: s.template, DataDir: folder, Now: s.Now,
		Parameters: map[string]string{
			webhookParameter: s.WebhookURL + " " + secret, originParameter: s.ClientOriginSecret,
		},
		NewID: newID(s.Random), Logger: s.logger(),
	})
	if err != nil {
		return fmt.Errorf("DATA_DIR %s: %w", folder, err)
	}
	cfg.HTTPClient = events.Client(cfg.HTTPClient)
	functions, err := s.newFunctions(cfg)
	if err != nil {
		return err
	}
	triggers, err := s.newTriggers(functions, events, cfg)
	if err != nil {
		return err
	}
	api, err := s.newGateway(functions, triggers)
	if err != nil {
		return err
	}
	applications, err := s.newFunctionURL(functions)
	if err != nil {
		return err
	}
	defer triggers.Start(ctx, drainTimeout)() // ends after the last request
	return s.serve(ctx, api, applications, &Running{
		BaseURL:          "http://" + s.listener.Addr().String(),
		ClientURL:        s.clientURL(),
		Credentials:      credentials,
		DynamoDBEndpoint: s.endpoint,
		Tables:           s.template.TableNames(),
		WebhookURL:       s.WebhookURL, WebhookSecret: secret, WebhookEvents: s.WebhookEvents,
		OIDCIssuer: s.OIDCIssuer, OIDCClientID: s.OIDCClientID, MaxTokenDays: s.MaxTokenDays,
	})
}

// clientURL returns the URL for applications.
func (s *service) clientURL() string { return "http://" + s.clientListener.Addr().String() }

// newTriggers prepares the delivery of events to functions. With RequestsOnly there are none.
func (s *service) newTriggers(
	functions map[string]*invoke.Function, events *bus.Bus, cfg aws.Config,
) (*trigger.Triggers, error) {
	template := s.template
	if s.RequestsOnly {
		template = &samtemplate.Template{}
	}
	return trigger.New(trigger.Config{
		Template: template, Functions: functions, Bus: events, Ended: s.out.Log,
		AWS: cfg, Region: region, AccountID: accountID,
		Now: time.Now, NewID: newID(s.Random), Logger: s.logger(),
	})
}

// newGateway creates the API.
func (s *service) newGateway(
	functions map[string]*invoke.Function, triggers *trigger.Triggers,
) (*gateway.Gateway, error) {
	api, err := gateway.New(gateway.Config{
		API: s.template.API, Functions: functions,
		Region: region, AccountID: accountID, APIID: apiID, AcceptHost: isLoopback,
		Now: s.Now, NewID: newID(s.Random),
		AccessLog: triggers.AccessLog, OnRequest: s.out.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("TEMPLATE %s cannot be used, correct its API: %w", s.Template, err)
	}
	return api, nil
}

// newFunctionURL creates the URL of the function of the template that has one.
func (s *service) newFunctionURL(functions map[string]*invoke.Function) (http.Handler, error) {
	i := slices.IndexFunc(s.template.Functions, func(f samtemplate.Function) bool { return f.HasURL })
	if i < 0 {
		return nil, fmt.Errorf("TEMPLATE %s cannot be used: no function has a FunctionUrlConfig", s.Template)
	}
	return functionurl.New(functionurl.Config{
		Function:   functions[s.template.Functions[i].LogicalID],
		AcceptHost: isLoopback,
		Now:        s.Now,
		NewID:      newID(s.Random),
		Logger:     s.logger(),
	}), nil
}

// newID returns a function that returns UUIDs. Later UUIDs sort after earlier ones.
func newID(random io.Reader) func() string {
	return func() string { return uuid.Must(uuid.NewV7FromReader(random)).String() }
}

// serve serves requests until the context ends, and waits until requests in progress have ended.
func (s *service) serve(ctx context.Context, api, applications http.Handler, r *Running) error {
	entrance, code, err := newSignIn(api, r.Users, s.Now, s.Random)
	if err != nil {
		return err
	}
	served := make(chan error, 2) // of both servers
	defer s.start(ctx, entrance, s.listener, served)()
	defer s.start(ctx, applications, s.clientListener, served)()
	if err := writeLocalJSON(s.DataDir, r); err != nil {
		return err
	}
	if err := welcome(s.Stdout, s.DataDir, r, code); err != nil {
		return err
	}
	if s.Ready != nil {
		s.Ready(*r)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return fmt.Errorf("serve requests: %w", err)
	}
}

// start starts a server, which sends the error with which it ends to served. It returns a function that stops the server
// after requests in progress have ended.
func (s *service) start(ctx context.Context, h http.Handler, on net.Listener, served chan<- error) (stop func()) {
	server := gateway.NewServer(h)
	server.ErrorLog = slog.NewLogLogger(s.logger().Handler(), slog.LevelWarn)
	go func() { served <- server.Serve(on) }()
	return func() {
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if server.Shutdown(drain) != nil {
			_ = server.Close()
		}
	}
}
