package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/seed"
)

// prepareTimeout bounds the check of the endpoint, and the creation of tables and seeds. The latter usually takes 0.1 s
// with dynoxide and 2 s with a DynamoDB Local that has just started, and half a minute if many services start on a busy
// machine. A damaged database can fail each call, and clients repeat calls until their retry quota or the time is used
// up.
const prepareTimeout = time.Minute

// awsConfig is the AWS configuration for an engine, with credentials that are valid nowhere else.
func awsConfig(endpoint string) aws.Config {
	return aws.Config{
		Region:      region,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:  dynamo.NewHTTPClient(endpoint), BaseEndpoint: &endpoint,
	}
}

// seed creates and seeds the tables, and returns the credentials.
func (s *service) seed(ctx context.Context, cfg aws.Config, known seed.Credentials) (seed.Credentials, error) {
	seeded, err := s.makeTables(ctx, cfg, known)
	if err != nil {
		return seed.Credentials{}, s.explain(err)
	}
	if seeded.Renewed > 0 && !seeded.New {
		s.logger().Warn("credentials were missing or invalid: new ones were created, and the old ones revoked",
			slog.Int("created", seeded.Renewed))
	}
	return seeded.Credentials, nil
}

// makeTables creates and seeds the tables. Streams are enabled afterwards, so that they have no records of the seed.
func (s *service) makeTables(ctx context.Context, cfg aws.Config, known seed.Credentials) (seed.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	admin := dynamodb.NewFromConfig(cfg) // its calls end after three attempts, so that a failure is reported soon
	if err := tables.Make(ctx, admin, s.template.Tables); err != nil {
		return seed.Result{}, err
	}
	client, err := dynamo.NewClient(cfg, s.endpoint)
	if err != nil {
		return seed.Result{}, err
	}
	t := s.template.TableNames()
	result, err := seed.Seed(ctx, seed.Config{
		Client: client, Tables: t, Log: eventlog.New(client, t, s.Now, eventlog.DefaultDays), Now: s.Now, Random: s.Random,
		MaxTokenDays: s.MaxTokenDays, History: s.History, Known: known,
	})
	if err != nil {
		return seed.Result{}, err
	}
	return result, tables.EnableStreams(ctx, admin, s.template.Tables)
}

// explain adds what to do to an error of the engine.
func (s *service) explain(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case s.DynamoDBEndpoint == "":
		return fmt.Errorf("%w: %s", err, engine.ResetAdvice(s.DataDir))
	case errors.Is(err, tables.ErrDiffers):
		return fmt.Errorf("%w: use another DYNAMODB_ENDPOINT, or delete that table there", err)
	}
	return fmt.Errorf("DYNAMODB_ENDPOINT %s cannot be used: %w", s.DynamoDBEndpoint, err)
}
