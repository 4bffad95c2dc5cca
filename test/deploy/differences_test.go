package deploy_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// differences are properties of the emulator that AWS does not have. If one disappears with an update, what was omitted
// for it in scripts or tests can be tested. Further differences cannot be observed with functions that work:
// ReportBatchItemFailures is ignored, a failed scheduled call is not repeated, and Lambda permissions are not enforced.
var differences = []check{
	{"a path is decoded before a function gets it", func(s *stack, _ time.Duration) error {
		_, err := s.request(http.MethodGet, "/api/admin/metrics/traffic/2026%252D11", "", http.StatusOK, nil)
		return err
	}},
	{"a function does not know its own address", func(s *stack, _ time.Duration) error {
		created, err := s.createToken("address")
		if err == nil && strings.HasPrefix(created.location, s.baseURL) {
			err = fmt.Errorf("the Location of a new token is correct: %s", created.location)
		}
		if err != nil {
			return err
		}
		return s.deleteToken(created)
	}},
	{"the access log is not written", func(s *stack, _ time.Duration) error {
		output, err := cloudwatchlogs.NewFromConfig(s.config).DescribeLogStreams(s.ctx,
			&cloudwatchlogs.DescribeLogStreamsInput{LogGroupName: aws.String(s.physical["AccessLogs"])})
		if err != nil {
			return err
		}
		for _, stream := range output.LogStreams {
			if name := aws.ToString(stream.LogStreamName); !strings.HasPrefix(name, streamPrefix) {
				return fmt.Errorf("the access log has the stream %s", name)
			}
		}
		return nil
	}},
	{"items do not expire and tables cannot be restored", func(s *stack, _ time.Duration) error {
		expiry, err := s.db.DescribeTimeToLive(s.ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &s.tables.Traffic})
		if err != nil {
			return err
		}
		backups, err := s.db.DescribeContinuousBackups(s.ctx,
			&dynamodb.DescribeContinuousBackupsInput{TableName: &s.tables.Traffic})
		if err != nil {
			return err
		}
		ttl := expiry.TimeToLiveDescription.TimeToLiveStatus
		recovery := backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus
		if ttl != types.TimeToLiveStatusDisabled || recovery != types.PointInTimeRecoveryStatusDisabled {
			return fmt.Errorf("time to live is %s, point-in-time recovery %s", ttl, recovery)
		}
		return nil
	}},
	{"START and END lines are not JSON", func(s *stack, timeout time.Duration) error {
		return s.awaitLog(timeout, "AuthorizerFunction", time.UnixMilli(0), 1, regexp.MustCompile(`^START RequestId: `))
	}},
}
