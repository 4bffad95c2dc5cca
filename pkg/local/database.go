package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/platform/dynamo"
)

// prepareTimeout bounds the check of the endpoint, and the creation of tables and seeds. The latter usually takes 0.1 s
// with dynoxide and 2 s with a DynamoDB Local that has just started. A damaged database can fail each call, and the
// client repeats calls until its retry quota or the time is used up.
const prepareTimeout = 20 * time.Second

// checkEndpoint returns an error if DYNAMODB_ENDPOINT is not a URL at which DynamoDB responds.
func checkEndpoint(ctx context.Context, endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("DYNAMODB_ENDPOINT %q is not a URL: use one such as http://127.0.0.1:8000", endpoint)
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	_, err = adminClient(awsConfig(endpoint), endpoint).ListTables(ctx, &dynamodb.ListTablesInput{})
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	hint := fmt.Sprintf("DYNAMODB_ENDPOINT %s does not respond as DynamoDB: check that an engine runs there", endpoint)
	if failed, ok := errors.AsType[*url.Error](err); ok { // no connection, or no HTTP response
		return fmt.Errorf("%s: %w", hint, failed.Err)
	}
	return errors.New(hint) // other errors are about responses that the SDK cannot read
}

// awsConfig is the AWS configuration for an engine, with credentials that are valid nowhere else.
func awsConfig(endpoint string) aws.Config {
	return aws.Config{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  dynamo.NewHTTPClient(endpoint),
	}
}

// adminClient returns a client for tables. It has the SDK's default number of retries, so that a failure is reported
// soon.
func adminClient(cfg aws.Config, endpoint string) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint = &endpoint
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 200 * time.Millisecond })
	})
}

// prepare creates and seeds the tables. Streams are enabled afterwards, so that they have no records of the seed.
func prepare(ctx context.Context, c *Config, cfg aws.Config, endpoint string, all []samtemplate.Table) (seed.Result,
	error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	admin := adminClient(cfg, endpoint)
	if err := tables.Make(ctx, admin, all); err != nil {
		return seed.Result{}, err
	}
	client, err := dynamo.NewClient(cfg, endpoint)
	if err != nil {
		return seed.Result{}, err
	}
	result, err := seed.Seed(ctx, seed.Config{
		Client: client, Tables: dynamo.TablesByID(samtemplate.TableNames(all)), Now: c.Now, Random: c.Random,
		Known: readLocalJSON(c.DataDir).Credentials,
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
	return fmt.Errorf("DYNAMODB_ENDPOINT %s cannot be used: %w", c.DynamoDBEndpoint, err)
}
