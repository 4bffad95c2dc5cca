package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"toggleadmin/pkg/seed"
)

// deployment is what sam deploy is asked for.
type deployment struct {
	environment string                   // of samconfig.toml
	name        string                   // of the stack; empty: the environment's
	parameters  map[string]string        // in place of the environment's; nil: those
	change      func(template *document) // of the built template, beside what it needs to run here; nil: none
}

// stack is what a deployment made.
type stack struct {
	*emulator
	environment string
	name, id    string    // id tells it from an earlier one of that name
	template    *document // as it was deployed
	outputs     map[string]string
	resources   map[string]types.StackResource // by logical id
	stage       string
	baseURL     string
	credentials seed.Credentials
}

// deploy makes a stack, or updates the one of that name.
func (e *emulator) deploy(t *testing.T, d deployment) *stack {
	t.Helper()
	s, err := e.tryDeploy(t, d)
	must(t, err)
	return s
}

// tryDeploy is deploy for what may be refused.
func (e *emulator) tryDeploy(t *testing.T, d deployment) (*stack, error) {
	t.Helper()
	s := &stack{emulator: e, environment: d.environment, name: d.name, template: readDocument(t, e.tools.template())}
	s.template.leadHere(t, e.url)
	if d.change != nil {
		d.change(s.template)
	}
	file := filepath.Join(e.tools.build, "as-deployed.yaml") // beside the functions: their paths are relative to it
	s.template.write(t, file)
	defer func() { must(t, os.Remove(file)) }()

	args := append(s.samArguments("deploy"), "--template-file", file)
	if d.parameters != nil {
		args = append(args, "--parameter-overrides")
		for name, value := range d.parameters {
			args = append(args, name+"="+value)
		}
	}
	output, err := e.sam(t.Context(), args...)
	if err != nil {
		return nil, err
	}
	if match := regexp.MustCompile(`(?m)^\s*Stack name\s*: (\S+)$`).FindStringSubmatch(output); match != nil {
		s.name = match[1]
	}
	return s, s.read(t.Context())
}

// samArguments are a command with what says which stack is meant.
func (s *stack) samArguments(command ...string) []string {
	args := append(command, "--config-file", s.tools.config(), "--config-env", s.environment, "--region", region)
	if s.name != "" {
		args = append(args, "--stack-name", s.name)
	}
	return args
}

// read asks CloudFormation what the stack consists of, and finds the address of its API.
func (s *stack) read(ctx context.Context) error {
	client := cloudformation.NewFromConfig(s.config())
	described, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &s.name})
	if err != nil {
		return fmt.Errorf("describe the stack: %w", err)
	}
	s.id = aws.ToString(described.Stacks[0].StackId)
	s.outputs = map[string]string{}
	for _, output := range described.Stacks[0].Outputs {
		s.outputs[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
	}
	listed, err := client.DescribeStackResources(ctx, &cloudformation.DescribeStackResourcesInput{StackName: &s.name})
	if err != nil {
		return fmt.Errorf("describe the stack's resources: %w", err)
	}
	s.resources = map[string]types.StackResource{}
	for _, resource := range listed.StackResources {
		s.resources[aws.ToString(resource.LogicalResourceId)] = resource
	}
	api, stage := s.ofType("AWS::ApiGateway::RestApi"), s.ofType("AWS::ApiGateway::Stage")
	if len(api) != 1 || len(stage) != 1 {
		return fmt.Errorf("the stack has the APIs %q and the stages %q, want one of each", api, stage)
	}
	s.stage = stage[0]
	s.baseURL = s.url + "/_aws/execute-api/" + api[0] + "/" + s.stage
	return nil
}

// ofType gives the physical ids of the stack's resources of a type.
func (s *stack) ofType(typ string) (ids []string) {
	for _, resource := range s.resources {
		if aws.ToString(resource.ResourceType) == typ {
			ids = append(ids, aws.ToString(resource.PhysicalResourceId))
		}
	}
	slices.Sort(ids)
	return ids
}

func (s *stack) physicalID(logicalID string) string {
	return aws.ToString(s.resources[logicalID].PhysicalResourceId)
}

// delete deletes the stack with sam.
func (s *stack) delete(t *testing.T) {
	t.Helper()
	if _, err := s.sam(t.Context(), append(s.samArguments("delete"), "--no-prompts")...); err != nil {
		t.Fatal(err)
	}
	_, err := cloudformation.NewFromConfig(s.config()).DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: &s.name})
	if err == nil {
		t.Fatalf("the stack %s is still there", s.name)
	}
}

// invoke calls a function of the stack with an empty event.
func (s *stack) invoke(ctx context.Context, logicalID string) error {
	output, err := s.sam(ctx, append(s.samArguments("remote", "invoke", logicalID), "--event", "{}")...)
	if err != nil {
		return err
	}
	if strings.Contains(output, "errorMessage") {
		return errors.New(output)
	}
	return nil
}
