package deploy_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
)

// differences are properties of the emulator that AWS does not have. If one disappears with an update, what was omitted
// for it in scripts or tests can be tested. Further differences are not asserted: items do not expire, tables cannot be
// restored, lines of START and END are not JSON, ReportBatchItemFailures is ignored, a failed scheduled call is not
// repeated, and Lambda permissions are not enforced.
var differences = []check{
	{"a path is decoded before a function gets it", func(s *stack) error {
		_, err := s.request(http.MethodGet, "/api/admin/metrics/traffic/2026%252D11", "", http.StatusOK, nil)
		return err
	}},
	{"a function does not know its own address", func(s *stack) error {
		created, err := s.createToken("address")
		if err == nil && strings.HasPrefix(created.location, s.baseURL) {
			err = fmt.Errorf("the Location of a new token is correct: %s", created.location)
		}
		if err != nil {
			return err
		}
		return s.deleteToken(created)
	}},
	{"the access log is not written", func(s *stack) error {
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
}
