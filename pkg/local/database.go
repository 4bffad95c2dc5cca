package local

import (
	"context"
	"errors"
	"fmt"
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

// prepareTimeout bounds the creation of tables and seeds. It usually takes 0.1 s with dynoxide and 2 s with a DynamoDB Local that has just
// started. A damaged database can fail each call, and the client repeats calls until the time is up.
const prepareTimeout = 20 * time.Second

// startEngine starts the engine.
func startEngine(ctx context.Context, c *Config, out *console.Console) (*engine.Engine, error) {
	program, err := engine.Find(filepath.Dir(c.Template))
	if err != nil {
		return nil, err
	}
	return engine.Start(ctx, engine.Options{Program: program, Dir: c.DataDir, Logger: ownLogger(out)})
}

// checkEndpoint returns an error if DYNAMODB_ENDPOINT is not a URL.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("DYNAMODB_ENDPOINT %q is not a URL: use one such as http://127.0.0.1:8000", endpoint)
	}
	return nil
}

// awsConfig is the AWS configuration for an engine, with credentials that are valid nowhere else.
func awsConfig(endpoint string) aws.Config {
	return aws.Config{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  dynamo.NewHTTPClient(endpoint),
	}
}

// prepare creates and seeds the tables. Streams are enabled afterwards, so that they have no records of the seed.
func prepare(ctx context.Context, c *Config, cfg aws.Config, endpoint string, all []samtemplate.Table) (seed.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	// The SDK's default number of retries: an engine that does not respond is to be reported soon.
	admin := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint = &endpoint
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 200 * time.Millisecond })
	})
	if err := tables.Make(ctx, admin, all); err != nil {
		return seed.Result{}, err
	}
	client, err := dynamo.NewClient(cfg, endpoint)
	if err != nil {
		return seed.Result{}, err
	}
	result, err := seed.Seed(ctx, seed.Config{
		Client: client, Tables: dynamo.TablesByID(samtemplate.TableNames(all)), Now: c.Now, Random: c.Random, Known: readCredentials(c.DataDir),
	})
	if err != nil {
		return seed.Result{}, err
	}
	return result, tables.EnableStreams(ctx, admin, all)
}

// explain adds what to do to an error of the engine.
func explain(err error, c *Config) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case c.DynamoDBEndpoint == "":
		return fmt.Errorf("%w: `make reset` deletes the data in %s", err, c.DataDir)
	case errors.Is(err, tables.ErrDiffers):
		return fmt.Errorf("%w: use another DYNAMODB_ENDPOINT, or delete that table there", err)
	}
	return fmt.Errorf("DYNAMODB_ENDPOINT %s cannot be used, check that an engine runs there: %w", c.DynamoDBEndpoint, err)
}
