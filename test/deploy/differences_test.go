package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// difference is something that the emulator does otherwise than AWS. It is looked at so that the day it changes is noticed: then what was
// left out for it, in scripts or here, can be tried.
type difference struct {
	name  string
	holds func(ctx context.Context, s *stack) error
}

// differences are those that a stack of ours shows. A changed document of the API gives it a new id here, so the address is read after each
// deployment. What functions that work cannot show: a record that ReportBatchItemFailures names counts as done, a schedule's failing run is not
// repeated, and Lambda permissions are not looked at.
func differences() []difference {
	return []difference{
		{"a path is decoded before a function sees it", decodesPaths},
		{"a function does not know its own address", hidesAddress},
		{"the access log is never written", writesNoAccessLog},
		{"nothing expires and nothing can be restored", dropsTableSettings},
		{"START and END lines are no JSON", dropsLogFormat},
	}
}

// decodesPaths is why scripts have the condition raw-paths.
func decodesPaths(ctx context.Context, s *stack) error {
	_, err := s.request(ctx, http.MethodGet, "/api/admin/metrics/traffic/2026%252D11", s.credentials.Users[0].PAT, "", http.StatusOK)
	return err
}

// hidesAddress is why scripts have the condition own-address.
func hidesAddress(ctx context.Context, s *stack) error {
	path := fmt.Sprintf("/api/admin/service-account/%d/token", s.credentials.ServiceAccounts[0].ID)
	body := fmt.Sprintf(`{"description":"its address","expiresAt":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	created, err := s.request(ctx, http.MethodPost, path, s.credentials.Users[0].PAT, body, http.StatusCreated)
	if err != nil {
		return err
	}
	var made token
	if err := created.into(&made); err != nil {
		return err
	}
	if location := created.header.Get("Location"); strings.HasPrefix(location, s.baseURL) {
		return fmt.Errorf("the new token's address is right: %s", location)
	}
	return s.deleteToken(ctx, made)
}

// writesNoAccessLog is why tryTraffic writes it.
func writesNoAccessLog(ctx context.Context, s *stack) error {
	streams, err := s.logs().DescribeLogStreams(ctx, &cloudwatchlogs.DescribeLogStreamsInput{LogGroupName: aws.String(s.physicalID("AccessLogs"))})
	if err != nil {
		return fmt.Errorf("list the access log's streams: %w", err)
	}
	for _, stream := range streams.LogStreams {
		if name := aws.ToString(stream.LogStreamName); !strings.HasPrefix(name, streamPrefix) {
			return fmt.Errorf("the access log has a stream %s that is not ours", name)
		}
	}
	return nil
}

func dropsTableSettings(ctx context.Context, s *stack) error {
	client, err := s.dynamoDB()
	if err != nil {
		return err
	}
	table := aws.String(s.outputs["TrafficTable"])
	expiry, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: table})
	if err != nil {
		return err
	}
	if status := expiry.TimeToLiveDescription.TimeToLiveStatus; status != types.TimeToLiveStatusDisabled {
		return fmt.Errorf("its time to live is %s", status)
	}
	backups, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: table})
	if err != nil {
		return err
	}
	status := backups.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus
	if status != types.PointInTimeRecoveryStatusDisabled {
		return fmt.Errorf("its point-in-time recovery is %s", status)
	}
	return nil
}

func dropsLogFormat(ctx context.Context, s *stack) error {
	lines, err := s.logLines(ctx, "AuthorizerFunction", time.UnixMilli(0))
	if err != nil {
		return err
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "START RequestId: ") {
			return nil
		}
	}
	return errors.New("no line begins with START RequestId")
}
