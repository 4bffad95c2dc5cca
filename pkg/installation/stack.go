package installation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/smithy-go"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/outcome"
)

// usualTokenLimit is the template's default of MaxTokensPerAccount.
const usualTokenLimit = 10

// OpenStack opens the stack of that name in the configuration's account and region, by its outputs. It reads one description of the stack,
// and changes nothing. Its errors say which of region, credentials, permission, name and kind of stack is wrong.
func OpenStack(ctx context.Context, cfg aws.Config, name string) (*Installation, error) {
	if cfg.Region == "" {
		return nil, outcome.New(outcome.Unreachable,
			"no region: name the stack's by --region, by AWS_REGION, or in the profile")
	}
	credentials, err := retrieve(ctx, cfg)
	if err != nil {
		return nil, err
	}
	stack, err := describe(ctx, cfg, name, credentials.AccountID)
	if err != nil {
		return nil, err
	}
	i := &Installation{
		Name: fmt.Sprintf("the stack %q in %s", name, cfg.Region), Option: "--stack " + name,
		TokenLimit: usualTokenLimit,
		Stack:      Stack{Name: name, Status: string(stack.StackStatus), Parameters: map[string]string{}, Config: cfg},
	}
	for _, p := range stack.Parameters {
		i.Stack.Parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	if limit, err := strconv.Atoi(i.Stack.Parameters["MaxTokensPerAccount"]); err == nil {
		i.TokenLimit = limit
	}
	if err := i.takeOutputs(stack.Outputs); err != nil {
		return nil, err
	}
	if i.Client, err = dynamo.NewClient(cfg, ""); err != nil {
		return nil, fmt.Errorf("make the DynamoDB client: %w", err)
	}
	return i, nil
}

func retrieve(ctx context.Context, cfg aws.Config) (aws.Credentials, error) {
	if cfg.Credentials == nil {
		return aws.Credentials{}, outcome.New(outcome.Unreachable, "no AWS credentials: log in, or name a profile by --profile or AWS_PROFILE")
	}
	credentials, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, outcome.New(outcome.Unreachable,
			"no AWS credentials: log in (aws sso login), or name a profile by --profile or AWS_PROFILE: %v", err)
	}
	return credentials, nil
}

func describe(ctx context.Context, cfg aws.Config, name, account string) (types.Stack, error) {
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	// CloudFormation has no code of its own for a stack that is not there; the request holds nothing else that could be invalid.
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ValidationError" || err == nil && len(out.Stacks) == 0 {
		where := cfg.Region
		if account != "" {
			where += " of the account " + account
		}
		return types.Stack{}, outcome.New(outcome.Unreachable,
			"there is no stack %q in %s: is it another name, region (--region) or account (--profile)?", name, where)
	}
	if err != nil {
		return types.Stack{}, fmt.Errorf("describe the stack %q: %w", name, err)
	}
	return out.Stacks[0], nil
}

// takeOutputs takes the tables and the URL.
func (i *Installation) takeOutputs(outputs []types.Output) error {
	values := map[string]string{}
	for _, o := range outputs {
		values[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	missing := []string{}
	take := func(name string) string {
		if values[name] == "" {
			missing = append(missing, name)
		}
		return values[name]
	}
	i.BaseURL = strings.TrimSuffix(take("ApiUrl"), "/")
	names := map[string]string{}
	for _, id := range dynamo.TableIDs() {
		names[id] = take(id + "Table")
	}
	i.Tables = dynamo.TablesByID(names)
	switch all := len(names) + 1; {
	case len(missing) == 0:
		return nil
	case len(missing) == all && len(outputs) == 0 && !strings.HasSuffix(i.Stack.Status, "_COMPLETE"):
		return outcome.New(outcome.Unreachable, "%s has no outputs, its state is %s: wait until its deployment has succeeded", i.Name, i.Stack.Status)
	case len(missing) == all:
		return outcome.New(outcome.Unreachable, "%s is not of this service: it has none of its outputs (ApiUrl, FeatureTypesTable, …)", i.Name)
	}
	return outcome.New(outcome.Unreachable, "%s is not of this service, or of another version: it lacks the output %s",
		i.Name, strings.Join(missing, ", "))
}
