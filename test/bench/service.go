package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
)

// service is a running `make run`.
type service struct {
	local.Running
	command *exec.Cmd
	ready   time.Duration // from the start of the process to its line ready
	client  *dynamodb.Client
	tables  dynamo.Tables
}

// startService builds the program that `make run` runs, starts it on a data folder and waits until it is ready.
func startService(ctx context.Context, o options, dataDir string, variables ...string) *service {
	binary := filepath.Join(o.disk, "local")
	build(ctx, "-o", binary, "./cmd/local")
	s := &service{command: exec.CommandContext(ctx, binary)}
	s.command.Env = append(append(os.Environ(), "PORT=0", "CLIENT_PORT=0", "DATA_DIR="+dataDir), variables...)
	log := must(os.Create(dataDir + ".log"))
	defer log.Close()
	s.command.Stderr = log
	lines := bufio.NewScanner(must(s.command.StdoutPipe()))
	started := time.Now()
	check(s.command.Start())
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready ") {
	}
	s.ready = time.Since(started)
	go func() {
		for lines.Scan() { // keep the pipe empty
		}
	}()
	file, err := os.ReadFile(filepath.Join(dataDir, "local.json"))
	if err != nil {
		s.stop()
		check(fmt.Errorf("the service did not become ready, see %s: %w", log.Name(), err))
	}
	check(json.Unmarshal(file, &s.Running))
	s.client, s.tables = engineClient(s.DynamoDBEndpoint), s.Tables
	return s
}

// stop stops the service with SIGTERM.
func (s *service) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM) // it fails if the process has ended
	_ = s.command.Wait()
}

// build runs go build.
func build(ctx context.Context, arguments ...string) {
	command := exec.CommandContext(ctx, "go", append([]string{"build"}, arguments...)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := command.CombinedOutput(); err != nil {
		check(fmt.Errorf("build %q: %w: %s", arguments, err, output))
	}
}

// database is an engine in memory with the tables of the template.
type database struct {
	*engine.Engine
	template *samtemplate.Template
	client   *dynamodb.Client
	tables   dynamo.Tables
}

func startDatabase(ctx context.Context) *database {
	e := must(engine.Start(ctx, engine.Options{Program: must(engine.Find("."))}))
	d := &database{Engine: e, client: engineClient(e.Endpoint())}
	d.template = loadTemplate(map[string]string{"ClientApi": "true", "DynamoDBEndpoint": e.Endpoint(), "SendEventsToBus": "true"})
	d.tables = d.template.TableNames()
	check(tables.Make(ctx, d.client, d.template.Tables))
	return d
}

func loadTemplate(parameters map[string]string) *samtemplate.Template {
	return must(samtemplate.Load("template.yaml", samtemplate.Settings{Parameters: parameters}))
}

// newEnv returns the environment of a function in this process. Without an endpoint, it has the HTTP client for AWS.
func newEnv(f samtemplate.Function, endpoint string, log io.Writer) *app.Env {
	return &app.Env{Vars: f.Environment, AWS: awsConfig(endpoint), Now: time.Now, Random: rand.Reader,
		Logger: slog.New(slog.NewJSONHandler(log, nil))}
}

func construct(f samtemplate.Function, env *app.Env) lambda.Handler {
	return must(local.Constructor(f.Name)(env))
}

// function returns the function with a name.
func function(t *samtemplate.Template, name string) samtemplate.Function {
	for _, f := range t.Functions {
		if f.Name == name {
			return f
		}
	}
	panic(failure{fmt.Errorf("the template has no function %s", name)})
}

// awsConfig is the AWS configuration for an engine, or, without an endpoint, for AWS.
func awsConfig(endpoint string) aws.Config {
	return aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(endpoint),
	}
}

func engineClient(endpoint string) *dynamodb.Client {
	return must(dynamo.NewClient(awsConfig(endpoint), endpoint))
}
