package app

import (
	"crypto/rand"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/platform/dynamo"
)

// Main is the main of every function. It creates the handler of the operation or function with the name and serves the
// Lambda runtime. If that fails, Main prints the error as one line on stderr and exits with status 1.
func Main[F named](all []F, name string) {
	env := processEnv()
	debug.SetMemoryLimit(MemoryLimit(env.Vars["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]))
	handler, err := Find(all, name)(env)
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
	lambda.Start(handler)
}

// MemoryLimit returns the limit for the Go runtime, in bytes, of a function with a memory size in megabytes: 85 %. Close
// to it the garbage collector runs more often, before Lambda ends the process. Without a size there is no limit.
func MemoryLimit(size string) int64 {
	n, err := strconv.ParseInt(size, 10, 32)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n << 20 * 85 / 100
}

// processEnv reads the environment as Lambda sets it. The credentials are those of the execution role and are valid as
// long as the execution environment exists, so the SDK's chain of configuration sources is not needed and not linked.
func processEnv() *Env {
	vars := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	return &Env{
		Vars: vars,
		AWS: aws.Config{
			Region: vars["AWS_REGION"],
			Credentials: credentials.NewStaticCredentialsProvider(
				vars["AWS_ACCESS_KEY_ID"], vars["AWS_SECRET_ACCESS_KEY"], vars["AWS_SESSION_TOKEN"]),
			HTTPClient: dynamo.NewHTTPClient(vars[endpointVar]),
		},
		Now:    time.Now,
		Random: rand.Reader,
		Logger: lambdacontext.NewLogger(),
		WarmUp: true,
	}
}
