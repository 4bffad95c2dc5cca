package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/dynamo"
)

// warmUpTime bounds the warm-up: a function that cannot reach DynamoDB at its start still starts.
const warmUpTime = time.Second

// Main is the main of every function: it makes the handler and serves it to the Lambda runtime. When the handler cannot be made it says
// why in one line on stderr and exits with status 1.
func Main(construct Constructor) {
	handler, err := construct(processEnv())
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	lambda.Start(handler)
}

// processEnv reads the process's environment, as Lambda sets it. The credentials are the execution role's and live as long as the
// execution environment, so the SDK's whole chain of configuration sources is not needed, nor linked.
func processEnv() *Env {
	vars := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	client := dynamo.NewHTTPClient(vars[endpointVar])
	return &Env{
		Vars: vars,
		AWS: aws.Config{
			Region: vars["AWS_REGION"],
			Credentials: credentials.NewStaticCredentialsProvider(
				vars["AWS_ACCESS_KEY_ID"], vars["AWS_SECRET_ACCESS_KEY"], vars["AWS_SESSION_TOKEN"]),
			HTTPClient: client,
		},
		Now:    time.Now,
		Random: rand.Reader,
		Logger: lambdacontext.NewLogger(),
		WarmUp: func(ctx context.Context, endpoint string) error {
			ctx, cancel := context.WithTimeout(ctx, warmUpTime)
			defer cancel()
			return dynamo.WarmUp(ctx, client, endpoint, vars["AWS_REGION"])
		},
	}
}
