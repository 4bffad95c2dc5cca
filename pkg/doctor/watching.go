package doctor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"
)

// alarmsPerCall is the most names that DescribeAlarms takes.
const alarmsPerCall = 100

// alarms looks whether one is ringing. Those without data yet are named: on a new stack, or where nothing is called, that is as it should be.
func (d *doctor) alarms(ctx context.Context, found resources) (string, error) {
	names := found.sorted("AWS::CloudWatch::Alarm")
	if len(names) == 0 {
		return "the stack has none", errSkip
	}
	client := cloudwatch.NewFromConfig(d.Installation.Stack.Config, func(o *cloudwatch.Options) {
		// CloudWatch understands several protocols. The SDK's usual one is binary, and not every emulator does.
		o.Protocol = awsquery.New(schemas.GraniteServiceVersion20100801)
	})
	ringing, silent, there := []string{}, 0, 0
	for part := range slices.Chunk(names, alarmsPerCall) {
		pages := cloudwatch.NewDescribeAlarmsPaginator(client, &cloudwatch.DescribeAlarmsInput{AlarmNames: part})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return "", fmt.Errorf("look at the alarms: %w", err)
			}
			for _, a := range page.MetricAlarms {
				there++
				switch a.StateValue {
				case cloudwatchtypes.StateValueAlarm:
					ringing = append(ringing, aws.ToString(a.AlarmName))
				case cloudwatchtypes.StateValueInsufficientData:
					silent++
				case cloudwatchtypes.StateValueOk:
				}
			}
		}
	}
	switch {
	case len(ringing) > 0:
		return "", problem(fmt.Sprintf("in state ALARM: %s", strings.Join(ringing, ", ")), "the runbook has a section for each alarm")
	case there < len(names):
		return "", problem(fmt.Sprintf("%d of the stack's %d alarms are gone", len(names)-there, len(names)), deployAgain)
	case silent > 0:
		return fmt.Sprintf("%d alarms, none rings; %d have no data yet, as on a new or idle stack", there, silent), nil
	}
	return fmt.Sprintf("%d alarms, none rings", there), nil
}

// account looks whether API Gateway may write access logs at all: one role for the whole account and region.
func (d *doctor) account(ctx context.Context, _ resources) (string, error) {
	out, err := apigateway.NewFromConfig(d.Installation.Stack.Config).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err != nil {
		return "", fmt.Errorf("look at API Gateway's account: %w", err)
	}
	role := aws.ToString(out.CloudwatchRoleArn)
	if role == "" {
		return "", problem("API Gateway has no role to write logs with in this account and region: no traffic is counted",
			"deploy one stack of the region with ApiGatewayAccount=managed")
	}
	return role, nil
}

// queues looks for what was given up.
func (d *doctor) queues(ctx context.Context, found resources) (string, error) {
	client := sqs.NewFromConfig(d.Installation.Stack.Config)
	urls := found.sorted("AWS::SQS::Queue")
	if len(urls) == 0 {
		return "", problem("the stack has no queue for what failed", deployAgain)
	}
	full := []string{}
	for _, url := range urls {
		out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{
			sqstypes.QueueAttributeNameApproximateNumberOfMessages, sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		}})
		if err != nil {
			return "", fmt.Errorf("look into the queue %s: %w", path.Base(url), err)
		}
		n := 0
		for _, text := range out.Attributes {
			count, err := strconv.Atoi(text)
			if err != nil {
				return "", fmt.Errorf("look into the queue %s: %w", path.Base(url), err)
			}
			n += count
		}
		if n > 0 {
			full = append(full, fmt.Sprintf("%s holds %d", path.Base(url), n))
		}
	}
	if len(full) > 0 {
		return "", problem("deliveries failed for good: "+strings.Join(full, ", "),
			"read one (aws sqs receive-message) for the reason; the runbook says how to deliver them again")
	}
	return fmt.Sprintf("%d, all empty", len(urls)), nil
}
