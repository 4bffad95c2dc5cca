package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local/console"
	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/seed"
)

// Usual is a tenth of a second for both; slower engines need some. A damaged database that opens all the same fails each call, which the
// stores' client repeats until its time is up.
const (
	tablesTimeout   = time.Minute
	seedTimeout     = 15 * time.Second
	slowSeedTimeout = 45 * time.Second // of DynamoDB Local, which has only just started; usual are 2 s
)

// server is where the data are: an engine of ours or one that somebody else runs.
type server interface {
	Endpoint() string
	PID() int
	Done() <-chan struct{} // closed when it has ended for good
	Err() error            // why, once it has ended
	Stop()
}

// running is an engine that somebody else runs.
type running string

func (r running) Endpoint() string    { return string(r) }
func (running) PID() int              { return 0 }
func (running) Done() <-chan struct{} { return nil }
func (running) Err() error            { return nil }
func (running) Stop()                 {}

// startServer starts the engine that the configuration asks for, or takes the running one.
func startServer(ctx context.Context, c *Config, out *console.Console) (server, error) {
	if c.DynamoDBEndpoint != "" {
		u, err := url.Parse(c.DynamoDBEndpoint)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("DYNAMODB_ENDPOINT %q is no address: give one such as http://127.0.0.1:8000", c.DynamoDBEndpoint)
		}
		return running(c.DynamoDBEndpoint), nil
	}
	program, err := findProgram(c)
	if err != nil {
		return nil, err
	}
	e, err := engine.Start(ctx, engine.Options{Program: program, Dir: c.DataDir, Logger: out.Own()})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// warnOfOpenPort says what the engine, unlike everything else here, has no setting for.
func warnOfOpenPort(c *Config, endpoint string, out *console.Console) {
	if c.DynamoDBEndpoint == "" && c.Engine == engine.DynamoDBLocal {
		out.Own().Warn("DynamoDB Local listens on every address of this machine: who reaches its port reaches the data",
			slog.String("endpoint", endpoint))
	}
}

// findProgram finds the program of the engine that the configuration asks for. Another engine gets its case here.
func findProgram(c *Config) (engine.Program, error) {
	folder := filepath.Dir(c.Template)
	switch c.Engine {
	case engine.Dynoxide:
		return engine.Find(folder)
	case engine.DynamoDBLocal:
		return engine.FindDynamoDBLocal(folder)
	}
	return engine.Program{}, fmt.Errorf("ENGINE %q is not known: use %s or %s", c.Engine, engine.Dynoxide, engine.DynamoDBLocal)
}

// awsConfig is what the functions and the set-up reach the engine with: one HTTP client for all, and credentials that open nothing.
func awsConfig(endpoint string) aws.Config {
	return aws.Config{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  dynamo.NewHTTPClient(endpoint),
	}
}

// prepare makes the tables and seeds them, and only then switches streams on.
func prepare(ctx context.Context, c *Config, cfg aws.Config, endpoint string, all []samtemplate.Table) (seed.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, tablesTimeout)
	defer cancel()
	// The tables are made with the SDK's own few retries: an engine that does not answer is to be told soon.
	admin := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint = aws.String(endpoint)
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 200 * time.Millisecond })
	})
	if err := tables.Make(ctx, admin, all); err != nil {
		return seed.Result{}, explain(err, c, endpoint)
	}
	client, err := dynamo.NewClient(cfg, endpoint)
	if err != nil {
		return seed.Result{}, fmt.Errorf("make the DynamoDB client: %w", err)
	}
	patience := seedTimeout
	if c.Engine == engine.DynamoDBLocal {
		patience = slowSeedTimeout
	}
	seeding, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	result, err := seed.Seed(seeding, seed.Config{
		Client: client, Tables: dynamo.TablesByID(tableNames(all)), Now: c.Now, Random: c.Random, Known: readCredentials(c.DataDir),
	})
	if err != nil {
		return seed.Result{}, explain(err, c, endpoint)
	}
	if err := tables.EnableStreams(ctx, admin, all); err != nil {
		return seed.Result{}, explain(err, c, endpoint)
	}
	return result, nil
}

// explain says what to do about an engine that does not do what it is asked.
func explain(err error, c *Config, endpoint string) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case c.DynamoDBEndpoint != "" && errors.Is(err, tables.ErrDiffers):
		return fmt.Errorf("%w: use another DYNAMODB_ENDPOINT, or delete that table there", err)
	case c.DynamoDBEndpoint != "":
		return fmt.Errorf("the engine at DYNAMODB_ENDPOINT %s does not serve, is it running?: %w", endpoint, err)
	}
	return fmt.Errorf("%w: `make reset` deletes the data in %s", err, c.DataDir)
}

// tableNames gives the tables' names by their logical ids.
func tableNames(all []samtemplate.Table) map[string]string {
	names := make(map[string]string, len(all))
	for _, t := range all {
		names[t.LogicalID] = t.Name
	}
	return names
}
