package deploy_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/operator/seed"
	"toggleadmin/pkg/platform/dynamo"
)

// deployment is what sam deploy is called with.
type deployment struct {
	environment string                   // of samconfig.toml
	name        string                   // of the stack; empty: the one of the environment
	parameters  map[string]string        // instead of those of the environment; nil: those
	change      func(template *document) // of the built template; nil: none
}

// stack is a deployed stack.
type stack struct {
	*emulator
	template    *document
	name, id    string
	outputs     map[string]string
	physical    map[string]string // physical resource ids by logical id
	stage       string
	baseURL     string
	db          *dynamodb.Client
	tables      dynamo.Tables
	credentials seed.Credentials
}

// deploy creates or updates a stack.
func (e *emulator) deploy(t *testing.T, d deployment) *stack {
	t.Helper()
	s, err := e.tryDeploy(t, d)
	must(t, err)
	return s
}

func (e *emulator) tryDeploy(t *testing.T, d deployment) (*stack, error) {
	t.Helper()
	s := &stack{emulator: e, name: d.name, template: readDocument(t, filepath.Join(e.build, "template.yaml"))}
	s.template.prepare(t, e.url)
	if d.change != nil {
		d.change(s.template)
	}
	file := filepath.Join(e.build, "as-deployed.yaml") // the paths of the functions are relative to it
	s.template.write(t, file)
	defer func() { _ = os.Remove(file) }()
	args := []string{"deploy", "--template-file", file, "--config-file", absolute(t, "samconfig.toml"), "--config-env",
		d.environment, "--region", region}
	if d.name != "" {
		args = append(args, "--stack-name", d.name)
	}
	if d.parameters != nil {
		args = append(args, "--parameter-overrides")
		for name, value := range d.parameters {
			args = append(args, name+"="+value)
		}
	}
	output, err := e.runSAM(args...)
	if err != nil {
		return nil, err
	}
	if match := regexp.MustCompile(`(?m)^\s*Stack name\s*: (\S+)$`).FindStringSubmatch(output); match != nil {
		s.name = match[1]
	}
	return s, s.describe()
}

// describe reads outputs and resources of the stack.
func (s *stack) describe() error {
	client := cloudformation.NewFromConfig(s.config)
	described, err := client.DescribeStacks(s.ctx, &cloudformation.DescribeStacksInput{StackName: &s.name})
	if err != nil {
		return err
	}
	s.id = aws.ToString(described.Stacks[0].StackId)
	s.outputs, s.physical = map[string]string{}, map[string]string{}
	ids := map[string]string{}
	for _, output := range described.Stacks[0].Outputs {
		name, value := aws.ToString(output.OutputKey), aws.ToString(output.OutputValue)
		s.outputs[name] = value
		if id, ok := strings.CutSuffix(name, "Table"); ok {
			ids[id] = value
		}
	}
	s.tables = dynamo.TablesByID(ids)
	listed, err := client.DescribeStackResources(s.ctx, &cloudformation.DescribeStackResourcesInput{StackName: &s.name})
	if err != nil {
		return err
	}
	var api string
	for _, r := range listed.StackResources {
		id := aws.ToString(r.PhysicalResourceId)
		s.physical[aws.ToString(r.LogicalResourceId)] = id
		switch aws.ToString(r.ResourceType) {
		case "AWS::ApiGateway::RestApi":
			api = id
		case "AWS::ApiGateway::Stage":
			s.stage = id
		}
	}
	s.baseURL = s.url + "/_aws/execute-api/" + api + "/" + s.stage
	config := s.config
	config.HTTPClient = dynamo.NewHTTPClient(s.url)
	s.db, err = dynamo.NewClient(config, s.url)
	return err
}

// seed seeds the tables and keeps the credentials in memory.
func (s *stack) seed() error {
	result, err := seed.Seed(s.ctx, seed.Config{Client: s.db, Tables: s.tables, Now: time.Now, Random: rand.Reader,
		Known: s.credentials})
	s.credentials = result.Credentials
	return err
}

// delete deletes the stack with sam.
func (s *stack) delete(t *testing.T) {
	t.Helper()
	_, err := s.runSAM("delete", "--stack-name", s.name, "--region", region, "--no-prompts")
	must(t, err)
	if _, err := cloudformation.NewFromConfig(s.config).DescribeStacks(s.ctx,
		&cloudformation.DescribeStacksInput{StackName: &s.name}); err == nil {
		t.Fatalf("the stack %s still exists", s.name)
	}
}

// request sends a request as the administrator and decodes the response into value, unless it is nil.
func (s *stack) request(method, path, body string, status int, value any) (http.Header, error) {
	header, received, err := exchange(s.ctx, method, s.baseURL+path, s.credentials.Users[0].PAT, body, status)
	if err == nil && value != nil {
		err = json.Unmarshal(received, value)
	}
	return header, err
}

// token is a token of the seeded service account.
type token struct {
	ID       int64
	Secret   string
	location string
}

func (s *stack) createToken(description string) (token, error) {
	var created token
	path := fmt.Sprintf("/api/admin/service-account/%d/token", s.credentials.ServiceAccounts[0].ID)
	header, err := s.request(http.MethodPost, path, fmt.Sprintf(`{"description":%q,"expiresAt":"2099-01-01T00:00:00Z"}`,
		description), http.StatusCreated, &created)
	created.location = header.Get("Location")
	return created, err
}

// use lists the context fields with a token.
func (s *stack) use(token string, status int) error {
	_, _, err := exchange(s.ctx, http.MethodGet, s.baseURL+"/api/admin/context", token, "", status)
	return err
}

// deleteToken deletes a token, which authenticates the request.
func (s *stack) deleteToken(t token) error {
	_, _, err := exchange(s.ctx, http.MethodDelete, fmt.Sprint(s.baseURL, "/api/admin/user/tokens/", t.ID), t.Secret, "",
		http.StatusOK)
	return err
}

// logLines returns what a function has logged since a time.
func (s *stack) logLines(function string, since time.Time) (lines []string, err error) {
	group := s.physical[strings.TrimSuffix(function, "Function")+"Logs"]
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(cloudwatchlogs.NewFromConfig(s.config),
		&cloudwatchlogs.FilterLogEventsInput{LogGroupName: &group, StartTime: aws.Int64(since.UnixMilli())})
	for pages.HasMorePages() {
		page, err := pages.NextPage(s.ctx)
		if err != nil {
			return nil, fmt.Errorf("read the log of %s: %w", function, err)
		}
		for _, event := range page.Events {
			lines = append(lines, aws.ToString(event.Message))
		}
	}
	return lines, nil
}

var (
	loggedError = regexp.MustCompile(`level\W+(ERROR|WARN)|AccessDenied|panic`)
	loggedDelay = regexp.MustCompile(`deadline exceeded`) // due to this machine
)

// loggedErrors returns the errors that functions have logged since a time.
func (s *stack) loggedErrors(t *testing.T, since time.Time) error {
	t.Helper()
	var errs []error
	for _, function := range s.template.functions() {
		if s.physical[function] == "" {
			continue // its condition is false
		}
		lines, err := s.logLines(function, since)
		must(t, err)
		for _, line := range lines {
			if loggedError.MatchString(line) && !loggedDelay.MatchString(line) {
				errs = append(errs, fmt.Errorf("%s logged: %s", function, line))
			}
		}
	}
	return errors.Join(errs...)
}
