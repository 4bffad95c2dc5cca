package samtemplate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/samtemplate"
)

// sources is what events refer to.
const sources = `  Dead: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  Lines: {Type: AWS::Logs::LogGroup}
  Depth: {Type: AWS::CloudWatch::Alarm, Properties: {Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]}}
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
`

func TestSourcesOfEvents(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, properties string
		want             samtemplate.Function
	}{
		{
			"a stream with all it can have", `, Events: {E: {Type: DynamoDB, Properties: {Stream: !GetAtt Things.StreamArn,
    StartingPosition: LATEST, BatchSize: 10, MaximumBatchingWindowInSeconds: 2, MaximumRetryAttempts: 5, MaximumRecordAgeInSeconds: 3600,
    BisectBatchOnFunctionError: true, ParallelizationFactor: 4, FunctionResponseTypes: [ReportBatchItemFailures], Enabled: true,
    DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Dead.Arn}}}}}`,
			samtemplate.Function{AsyncRetries: 2, Streams: []samtemplate.Stream{{
				Table: "Things", StartingPosition: "LATEST", BatchSize: 10, BatchingWindow: 2 * time.Second, RetryAttempts: 5,
				RecordAge: time.Hour, Bisect: true, ParallelizationFactor: 4, ReportFailures: true, OnFailure: "Dead",
			}}},
		},
		{
			"a stream with Lambda's defaults", `, Events: {E: {Type: DynamoDB, Properties: {Stream: !GetAtt Things.StreamArn,
    StartingPosition: TRIM_HORIZON}}}`,
			samtemplate.Function{AsyncRetries: 2, Streams: []samtemplate.Stream{{
				Table: "Things", StartingPosition: "TRIM_HORIZON", BatchSize: 100, RetryAttempts: -1, RecordAge: -1, ParallelizationFactor: 1,
			}}},
		},
		{
			"schedules", `, Events: {A: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), RetryPolicy: {MaximumRetryAttempts: 3}}},
    B: {Type: ScheduleV2, Properties: {Name: nightly, ScheduleExpression: rate(2 days), FlexibleTimeWindow: {Mode: "OFF"}}}}`,
			samtemplate.Function{AsyncRetries: 2, Schedules: []samtemplate.Schedule{
				{Name: "FA", Every: time.Minute, RetryAttempts: 3}, {Name: "nightly", Every: 48 * time.Hour, RetryAttempts: 185},
			}},
		},
		{
			"a log subscription and asynchronous calls", `, Events: {E: {Type: CloudWatchLogs, Properties: {LogGroupName: !Ref Lines,
    FilterPattern: ''}}}, EventInvokeConfig: {MaximumRetryAttempts: 1, DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Dead.Arn}}}`,
			samtemplate.Function{
				AsyncRetries: 1, AsyncOnFailure: "Dead", LogSubscriptions: []samtemplate.LogSubscription{{LogGroup: "Lines"}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustParse(t, function(goodFunction+tt.properties)+sources, samtemplate.Settings{})
			tt.want.LogicalID, tt.want.Name, tt.want.MemoryMB, tt.want.Timeout = "F", "f", 128, 3*time.Second
			tt.want.Environment = map[string]string{}
			if diff := cmp.Diff([]samtemplate.Function{tt.want}, got.Functions); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"Dead"}, got.Queues); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheAccessLogsGroup(t *testing.T) {
	t.Parallel()
	got := mustParse(t, withAPI("AccessLogSetting: {Format: a, DestinationArn: !GetAtt Lines.Arn}")+sources, samtemplate.Settings{})
	if got.API.AccessLogGroup != "Lines" {
		t.Errorf("got %q", got.API.AccessLogGroup)
	}
}

func TestBrokenSourcesOfEvents(t *testing.T) {
	t.Parallel()
	stream := func(more string) string {
		return withEvent("{Type: DynamoDB, Properties: {Stream: !GetAtt Things.StreamArn, StartingPosition: TRIM_HORIZON"+more+"}}") + sources
	}
	schedule := func(properties string) string {
		return withEvent("{Type: ScheduleV2, Properties: {" + properties + "}}")
	}
	const place = "4: Resources.F.Properties.Events.E.Properties"
	tests := []struct{ name, content, want string }{
		{"stream property", stream(", FilterCriteria: {}"), place + ".FilterCriteria: FilterCriteria is not known"},
		{"stream of nothing", withEvent("{Type: DynamoDB, Properties: {Stream: x, StartingPosition: LATEST}}"),
			place + `: Stream: "x" is no stream of a table of this template`},
		{"stream's position", withEvent("{Type: DynamoDB, Properties: {Stream: !GetAtt Things.StreamArn, StartingPosition: AT_TIMESTAMP}}") + sources,
			place + `: StartingPosition: "AT_TIMESTAMP" is not known: only TRIM_HORIZON and LATEST`},
		{"stream's batch", stream(", BatchSize: 10001"), place + `.BatchSize: "10001" is no integer from 1 to 10000`},
		{"stream's age", stream(", MaximumRecordAgeInSeconds: 5"),
			place + ": MaximumRecordAgeInSeconds: 5 is neither -1 nor from 60 to 604800"},
		{"stream's answers", stream(", FunctionResponseTypes: [X]"),
			place + `: FunctionResponseTypes: "X" is not known: only ReportBatchItemFailures`},
		{"stream's bisecting", stream(", BisectBatchOnFunctionError: maybe"),
			place + `.BisectBatchOnFunctionError: "maybe" is neither true nor false`},
		{"stream's destination", stream(", DestinationConfig: {OnFailure: {Type: SQS, Destination: x}}"),
			place + `.DestinationConfig.OnFailure: Destination: "x" is no queue of this template`},
		{"stream's destination's type", stream(", DestinationConfig: {OnFailure: {Type: SNS, Destination: x}}"),
			place + `.DestinationConfig.OnFailure.Type: "SNS" is not known: only SQS`},
		{"stream that is off", stream(", Enabled: false"), place + ": Enabled: false is not known"},
		{"schedule's expression", schedule("ScheduleExpression: 'cron(0 0 * * ? *)'"),
			place + `: ScheduleExpression: "cron(0 0 * * ? *)" is no rate such as rate(1 minute) or rate(2 hours)`},
		{"schedule's input", schedule("ScheduleExpression: rate(1 minute), Input: '{}'"), place + ".Input: Input is not known"},
		{"schedule's window", schedule("ScheduleExpression: rate(1 minute), FlexibleTimeWindow: {Mode: FLEXIBLE}"),
			place + `.FlexibleTimeWindow.Mode: "FLEXIBLE" is not known: only OFF`},
		{"log group", withEvent("{Type: CloudWatchLogs, Properties: {LogGroupName: x, FilterPattern: ''}}"),
			place + `: LogGroupName: "x" is no log group of this template`},
		{"filter pattern", withEvent("{Type: CloudWatchLogs, Properties: {LogGroupName: !Ref Lines, FilterPattern: a}}") + sources,
			place + ": FilterPattern: only the empty one is known"},
		{"asynchronous calls", function(goodFunction + ", EventInvokeConfig: {Qualifier: x}"),
			"4: Resources.F.Properties.EventInvokeConfig.Qualifier: Qualifier is not known"},
		{"queue", api + "  Q: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}\n", "4: Resources.Q.Properties: FifoQueue: true is not known"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := samtemplate.Parse("template.yaml", []byte(tt.content), samtemplate.Settings{})
			if want := "template.yaml:" + tt.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}
