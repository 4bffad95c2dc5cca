package contract_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/openapi"
)

// service is a running service and its tables.
type service struct {
	local.Running
	log       *logLines
	validator *openapi.Validator
	transport http.RoundTripper
	db        *dynamodb.Client
	lastUser  *atomic.Int64
}

func newService(running local.Running, log *logLines, validator *openapi.Validator) *service {
	db, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(running.DynamoDB.Endpoint),
	}, running.DynamoDB.Endpoint)
	if err != nil {
		panic(err)
	}
	s := &service{
		Running: running, log: log, validator: validator, db: db, lastUser: new(atomic.Int64),
		transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}
	s.lastUser.Store(1000) // above the seed's
	return s
}

// options are what a service of a test's own differs in.
type options struct {
	now    func() time.Time
	faults *faults
	edit   *strings.Replacer // of the template's text
	events bool              // streams, schedules and the access log are delivered
}

// start starts a service with an engine of its own.
func start(t *testing.T, o options) *service {
	t.Helper()
	template := localtest.Template(t)
	if o.edit != nil {
		text, err := os.ReadFile(template)
		if err != nil {
			t.Fatal(err)
		}
		template = filepath.Join(t.TempDir(), "template.yaml")
		if err := os.WriteFile(template, []byte(o.edit.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := newLog()
	config := local.Config{Template: template, DynamoDBEndpoint: enginetest.Endpoint(t), Stderr: log, Now: o.now, RequestsOnly: !o.events}
	if o.faults != nil {
		config.APIOptions = func(string) []func(*middleware.Stack) error { return []func(*middleware.Stack) error{o.faults.install} }
	}
	return newService(localtest.Start(t, config), log, shared.validator)
}

// hasty makes the functions' time short: one and a half seconds for all, once the margin is off.
func hasty() *strings.Replacer {
	return strings.NewReplacer("\n    Timeout: 10\n", "\n    Timeout: 2\n", "\n      Timeout: 8\n", "\n      Timeout: 2\n")
}
