package doctor

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	cloudwatchtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"

	"toggleadmin/pkg/operator/installation"
)

const typeAlarm = "AWS::CloudWatch::Alarm"

// maxAlarms is the maximum number of alarms in the request and the response of DescribeAlarms.
const maxAlarms = 100

// sweepMissing are the logical ids of the alarms about missing invocations. They fire when they are created, because
// CloudWatch has no invocations yet. They end when CloudWatch has them: after settling at the latest.
func sweepMissing() []string { return []string{"SweepMissingAlarm", "DeliverySweepMissingAlarm"} }

const settling = 15 * time.Minute

func (d *doctor) cloudWatch() *cloudwatch.Client {
	return cloudwatch.NewFromConfig(d.Installation.Stack.Config, func(o *cloudwatch.Options) {
		// The SDK's default protocol is binary, which emulators of AWS do not support.
		o.Protocol = awsquery.New(schemas.GraniteServiceVersion20100801)
	})
}

// alarms checks that no alarm is in the state ALARM. On a new or idle stack alarms have no data yet.
func (d *doctor) alarms(ctx context.Context, found installation.Resources) (string, error) {
	names := found.IDs(typeAlarm)
	if len(names) == 0 {
		return "the stack has no alarms", errSkip
	}
	out, err := d.cloudWatch().DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{AlarmNames: names,
		MaxRecords: aws.Int32(maxAlarms)})
	if err != nil {
		return "", fmt.Errorf("describe the alarms: %w", err)
	}
	byState := map[cloudwatchtypes.StateValue][]string{}
	var settlingNames []string
	for _, a := range out.MetricAlarms {
		name := aws.ToString(a.AlarmName)
		if a.StateValue == cloudwatchtypes.StateValueAlarm &&
			slices.ContainsFunc(sweepMissing(), func(id string) bool { return name == found[typeAlarm][id] }) &&
			d.Now().Sub(aws.ToTime(a.AlarmConfigurationUpdatedTimestamp)) < settling {
			settlingNames = append(settlingNames, name)
			continue
		}
		byState[a.StateValue] = append(byState[a.StateValue], name)
	}
	note := "none in state ALARM"
	if len(settlingNames) > 0 {
		note = fmt.Sprintf("none in state ALARM except %s, new and expected to end within %.0f minutes",
			strings.Join(settlingNames, " and "), settling.Minutes())
	}
	if active := byState[cloudwatchtypes.StateValueAlarm]; len(active) > 0 {
		return "", problem("in state ALARM: "+strings.Join(active, ", "),
			"see docs/runbook.md, which has a section for each alarm")
	}
	if missing := len(names) - len(out.MetricAlarms); missing > 0 {
		return "", problem(fmt.Sprintf("%d of the stack's %d alarms do not exist", missing, len(names)), deployAgain)
	}
	return fmt.Sprintf("%d alarms, %s; %d have no data yet", len(names), note,
		len(byState[cloudwatchtypes.StateValueInsufficientData])), nil
}

// alarmActions checks that the last action of each alarm, a message to the topic, did not fail. CloudWatch keeps the
// history for 30 days.
func (d *doctor) alarmActions(ctx context.Context, found installation.Resources) (string, error) {
	names := found.IDs(typeAlarm)
	if len(names) == 0 {
		return "the stack has no alarms", errSkip
	}
	client := d.cloudWatch()
	executed := 0
	var failed []string
	for _, name := range names {
		out, err := client.DescribeAlarmHistory(ctx, &cloudwatch.DescribeAlarmHistoryInput{
			AlarmName: &name, HistoryItemType: cloudwatchtypes.HistoryItemTypeAction,
			ScanBy: cloudwatchtypes.ScanByTimestampDescending, MaxRecords: aws.Int32(1),
		})
		if err != nil {
			return "", fmt.Errorf("get the history of the alarm %s: %w", name, err)
		}
		for _, item := range out.AlarmHistoryItems {
			if summary := aws.ToString(item.HistorySummary); strings.HasPrefix(summary, "Failed") {
				failed = append(failed, name+": "+summary)
			} else {
				executed++
			}
		}
	}
	if len(failed) > 0 {
		return "", problem(strings.Join(failed, "; "),
			"allow CloudWatch to publish to the topic, then test it (aws cloudwatch set-alarm-state, see docs/deploy.md)")
	}
	return fmt.Sprintf("%d of %d alarms have notified the topic, without an error", executed, len(names)), nil
}

// alarmSubscriptions checks that somebody receives the messages of the topic. SNS sends none to an address that is not
// confirmed, and keeps the subscription that a receiver has canceled as "Deleted".
func (d *doctor) alarmSubscriptions(ctx context.Context, found installation.Resources) (string, error) {
	if len(found.IDs(typeAlarm)) == 0 {
		return "the stack has no alarms", errSkip
	}
	if topic := d.Installation.Stack.Parameters["AlarmTopicArn"]; topic != "" {
		return "the alarms notify " + topic + ", which is not part of the stack", errSkip
	}
	confirmed := 0
	var silent []string
	for _, topic := range found.IDs("AWS::SNS::Topic") {
		pages := sns.NewListSubscriptionsByTopicPaginator(sns.NewFromConfig(d.Installation.Stack.Config),
			&sns.ListSubscriptionsByTopicInput{TopicArn: &topic})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return "", fmt.Errorf("list the subscriptions of the topic: %w", err)
			}
			for _, s := range page.Subscriptions {
				switch endpoint := aws.ToString(s.Endpoint); aws.ToString(s.SubscriptionArn) {
				case "PendingConfirmation":
					silent = append(silent, endpoint+" is not confirmed")
				case "Deleted":
					silent = append(silent, endpoint+" is unsubscribed")
				default:
					confirmed++
				}
			}
		}
	}
	const advice = "open the link in the message \"Subscription Confirmation\" that AWS sent. It is valid for three " +
		"days: after that, or without a " +
		"subscription, subscribe again (aws sns subscribe --topic-arn TOPIC --protocol email --notification-endpoint ADDRESS)"
	switch {
	case len(silent) > 0:
		return "", problem(fmt.Sprintf("%d of %d receivers of the alarms: %s", len(silent), len(silent)+confirmed,
			strings.Join(silent, ", ")), advice)
	case confirmed == 0:
		return "", problem("nobody receives the alarms: the topic has no subscription", advice)
	}
	return fmt.Sprintf("%d confirmed", confirmed), nil
}

// loggingRole checks that API Gateway may write access logs. There is one role for each account and region, which
// another stack can replace, and delete with itself.
func (d *doctor) loggingRole(ctx context.Context, found installation.Resources) (string, error) {
	out, err := apigateway.NewFromConfig(d.Installation.Stack.Config).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err != nil {
		return "", fmt.Errorf("get the settings of API Gateway: %w", err)
	}
	role := aws.ToString(out.CloudwatchRoleArn)
	const setAgain = "set it again: aws apigateway update-account --patch-operations " +
		"op=replace,path=/cloudwatchRoleArn,value=ARN"
	if role == "" {
		return "", problem("API Gateway has no logging role in this account and region: traffic is not counted",
			"deploy one stack of the region with ApiGatewayAccount=managed, or "+setAgain)
	}
	name := role[strings.LastIndex(role, "/")+1:]
	if own := found["AWS::IAM::Role"]["GatewayAccountRole"]; own != "" && own != name {
		return "", problem(fmt.Sprintf("the logging role of API Gateway is %s, and not that of the stack, %s", role, own),
			"only one stack of a region may have ApiGatewayAccount=managed: deploy the others with external; or "+setAgain)
	}
	_, err = iam.NewFromConfig(d.Installation.Stack.Config).GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if _, missing := errors.AsType[*iamtypes.NoSuchEntityException](err); missing {
		return "", problem(fmt.Sprintf("the logging role of API Gateway, %s, does not exist: traffic is not counted", role),
			setAgain)
	}
	if err != nil {
		return "", fmt.Errorf("get the logging role %s: %w", name, err)
	}
	return role, nil
}

// Limits of Lambda.
const (
	invocationsPerSecond = 10        // of each unit of concurrency
	maxResponse          = 6_000_000 // bytes
)

// concurrency compares the concurrency of the account with the rate limit of an operation. Each request invokes the
// authorizer and the function of the operation.
func (d *doctor) concurrency(ctx context.Context, _ installation.Resources) (string, error) {
	client := lambda.NewFromConfig(d.Installation.Stack.Config)
	out, err := client.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return "", fmt.Errorf("get the settings of Lambda: %w", err)
	}
	if out.AccountLimit == nil {
		return "", errors.New("get the settings of Lambda: the response has no limits")
	}
	n := int(out.AccountLimit.ConcurrentExecutions)
	rate, _ := strconv.Atoi(d.Installation.Stack.Parameters["ThrottlingRateLimit"])
	detail := fmt.Sprintf("%d concurrent invocations in the account, which is up to %d requests per second", n,
		n*invocationsPerSecond/2)
	if n*invocationsPerSecond/2 < rate {
		return "", problem(fmt.Sprintf("%s, less than ThrottlingRateLimit, %d", detail, rate),
			"request a higher quota of concurrent executions (aws service-quotas request-service-quota-increase "+
				"--service-code lambda --quota-code L-B99A9384 --desired-value 1000), or lower ThrottlingRateLimit")
	}
	return detail, nil
}

// Maximum sizes in the list of service accounts, in bytes. The description of MaxServiceAccounts has them.
const (
	accountSize = 3750
	tokenSize   = 2000
)

// listSize checks that the list of service accounts fits into a response even if the limits are reached.
func (d *doctor) listSize(context.Context, installation.Resources) (string, error) {
	accounts, tokens := int(d.Installation.AccountLimit), d.Installation.TokenLimit
	size := accounts * (accountSize + tokens*tokenSize)
	detail := fmt.Sprintf("%d service accounts with %d tokens are up to %.1f MB in their list, of 6 MB", accounts, tokens,
		float64(size)/1e6)
	if size > maxResponse {
		return "", problem(detail, "lower MaxServiceAccounts or MaxTokensPerAccount")
	}
	return detail, nil
}

// queues checks that the on-failure queues are empty.
func (d *doctor) queues(ctx context.Context, found installation.Resources) (string, error) {
	waiting := found["AWS::SQS::Queue"]["WebhookQueue"] // holds events that are delivered later, which is not a failure
	urls := slices.DeleteFunc(found.IDs("AWS::SQS::Queue"), func(url string) bool { return url == waiting })
	if len(urls) == 0 {
		return "", problem("the stack has no queues for failed events", deployAgain)
	}
	client := sqs.NewFromConfig(d.Installation.Stack.Config)
	const visible = sqstypes.QueueAttributeNameApproximateNumberOfMessages
	const inFlight = sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	var filled []string
	for _, url := range urls {
		out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{visible, inFlight},
		})
		if err != nil {
			return "", fmt.Errorf("get the size of the queue %s: %w", path.Base(url), err)
		}
		if n, m := out.Attributes[string(visible)], out.Attributes[string(inFlight)]; n != "0" || m != "0" {
			filled = append(filled, fmt.Sprintf("%s has %s and %s in flight", path.Base(url), n, m))
		}
	}
	if len(filled) > 0 {
		return "", problem("queues with failed events: "+strings.Join(filled, ", "),
			"read one (aws sqs receive-message) to find the reason; docs/runbook.md describes how to process them again")
	}
	return fmt.Sprintf("%d, all empty", len(urls)), nil
}
