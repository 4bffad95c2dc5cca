package installation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

// OpenStack opens a stack in the account and region of the configuration. It reads the stack's description and changes
// nothing.
func OpenStack(ctx context.Context, cfg aws.Config, name string) (*Installation, error) {
	if cfg.Region == "" {
		return nil, exitstatus.Errorf(exitstatus.Unreachable,
			"no region: name the stack's region with --region, with AWS_REGION, or in the profile")
	}
	credentials, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Unreachable,
			"no AWS credentials: log in (aws sso login), or name a profile with --profile or AWS_PROFILE: %v", err)
	}
	stack, err := describeStack(ctx, cfg, name, credentials.AccountID)
	if err != nil {
		return nil, err
	}
	i := &Installation{
		Name: fmt.Sprintf("the stack %q in %s", name, cfg.Region), Option: "--stack " + name,
		TokenLimit: DefaultTokenLimit, AccountLimit: user.DefaultLimit, ClientTokenLimit: clienttoken.MaxTokens,
		GroupsMaxAgeDays: defaultGroupsDays,
		Stack:            Stack{Name: name, Status: string(stack.StackStatus), Parameters: map[string]string{}, Config: cfg},
	}
	for _, p := range stack.Parameters {
		i.Stack.Parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	if i.Stack.Parameters["SendEventsToBus"] == "true" {
		i.EventSource = name
	}
	i.Issuer, i.ClientID = i.Stack.Parameters["OidcIssuer"], i.Stack.Parameters["OidcClientId"]
	i.LogDays = eventlog.DefaultDays
	if days, err := app.ParseNumber(i.Stack.Parameters["EventLogDays"], 0, eventlog.MaxDays); err == nil {
		i.LogDays = int(days)
	}
	if limit, err := strconv.Atoi(i.Stack.Parameters["MaxTokensPerAccount"]); err == nil {
		i.TokenLimit = limit
	}
	if limit, err := strconv.ParseInt(i.Stack.Parameters["MaxServiceAccounts"], 10, 64); err == nil {
		i.AccountLimit = limit
	}
	if limit, err := strconv.Atoi(i.Stack.Parameters["MaxClientTokens"]); err == nil {
		i.ClientTokenLimit = limit
	}
	if limit, err := strconv.ParseInt(i.Stack.Parameters["MaxFeatures"], 10, 64); err == nil {
		i.FeatureLimit = limit
	}
	if days, err := strconv.Atoi(i.Stack.Parameters["MaxTokenDays"]); err == nil {
		i.MaxTokenDays = days
	}
	if days, err := strconv.ParseInt(i.Stack.Parameters["GroupsMaxAgeDays"], 10, 64); err == nil {
		i.GroupsMaxAgeDays = days
	}
	if err := i.readOutputs(stack.Outputs); err != nil {
		return nil, err
	}
	i.Operator = "operator " + identity(ctx, cfg, credentials.AccessKeyID)
	if i.Client, err = dynamo.NewOperatorClient(cfg, ""); err != nil {
		return nil, fmt.Errorf("create the DynamoDB client: %w", err)
	}
	return i, nil
}

// identityTimeout limits the call of STS, which a private network may not reach.
const identityTimeout = 5 * time.Second

// identity returns the ARN of the caller, or if STS does not return it, the access key.
func identity(ctx context.Context, cfg aws.Config, accessKey string) string {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	out, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}) // requires no permission
	if err != nil {
		return "with the access key " + accessKey
	}
	return aws.ToString(out.Arn)
}

func describeStack(ctx context.Context, cfg aws.Config, name, account string) (types.Stack, error) {
	out, err := cloudformation.NewFromConfig(cfg).DescribeStacks(ctx,
		&cloudformation.DescribeStacksInput{StackName: &name})
	// CloudFormation reports an unknown stack as a ValidationError. Nothing else in the request can be invalid.
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "ValidationError" || err == nil &&
		len(out.Stacks) == 0 {
		where := cfg.Region
		if account != "" {
			where += " of the account " + account
		}
		return types.Stack{}, exitstatus.Errorf(exitstatus.Unreachable,
			"there is no stack %q in %s: check the name, the region (--region) and the account (--profile)", name, where)
	}
	if err != nil {
		return types.Stack{}, fmt.Errorf("describe the stack %q: %w", name, err)
	}
	return out.Stacks[0], checkClock(out.ResultMetadata)
}

// maxSkew is the difference to the clock of AWS above which AWS rejects signatures. The SDK corrects them.
const maxSkew = 5 * time.Minute

// checkClock returns an error if the clock of this computer is wrong. Sweeps compare the times that commands write, such
// as that of a compilation, with their own, and would wait for a time in the future.
func checkClock(response middleware.Metadata) error {
	skew, ok := awsmiddleware.GetAttemptSkew(response)
	if !ok || skew.Abs() <= maxSkew {
		return nil
	}
	direction := "behind"
	if skew < 0 {
		direction = "ahead of"
	}
	return exitstatus.Errorf(exitstatus.Failure, "the clock of this computer is %s %s that of AWS: set it first",
		skew.Abs().Round(time.Second), direction)
}

// readOutputs reads the names of the tables of template.yaml and the URL of the API. A stack of another version can lack
// some.
func (i *Installation) readOutputs(outputs []types.Output) error {
	template, err := Template()
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, o := range outputs {
		values[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	var missing []string
	read := func(output string) string {
		if values[output] == "" {
			missing = append(missing, output)
		}
		return values[output]
	}
	i.BaseURL = strings.TrimSuffix(read("ApiUrl"), "/")
	i.Tables = dynamo.Tables{}
	for _, table := range template.Tables {
		i.Tables[table.Name] = read(table.Name + "Table")
	}
	if len(missing) > 0 {
		return exitstatus.Errorf(exitstatus.Unreachable,
			"%s (%s) is not a stack of this service or version, or its deployment has not succeeded: "+
				"it lacks the outputs %s", i.Name, i.Stack.Status, strings.Join(missing, ", "))
	}
	return nil
}
