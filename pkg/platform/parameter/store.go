// Package parameter reads parameters of AWS Systems Manager Parameter Store.
package parameter

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// maxBackoff is the longest delay between the attempts of a call. The SDK's default, 20 s, is longer than the timeout of
// most functions.
const maxBackoff = 200 * time.Millisecond

// Store reads a parameter. It is safe for concurrent use.
type Store struct {
	client *ssm.Client
	name   string
}

// NewStore returns the store of the parameter with a name. The parameter /aws/reference/secretsmanager/NAME is the
// secret NAME of Secrets Manager.
func NewStore(cfg aws.Config, name string) *Store {
	return &Store{ssm.NewFromConfig(cfg, func(o *ssm.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = maxBackoff })
	}), name}
}

// Get returns the decrypted text of the parameter.
func (s *Store) Get(ctx context.Context) (string, error) {
	out, err := s.client.GetParameter(ctx, &ssm.GetParameterInput{Name: &s.name, WithDecryption: aws.Bool(true)})
	if err != nil {
		return "", fmt.Errorf("get parameter %s: %w", s.name, err)
	}
	if out.Parameter == nil {
		return "", fmt.Errorf("get parameter %s: the response has no parameter", s.name)
	}
	return aws.ToString(out.Parameter.Value), nil
}
