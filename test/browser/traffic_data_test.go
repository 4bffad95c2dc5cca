package browser_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/dynamo"
)

// countTraffic counts requests as functions/record-traffic does.
func (s *service) countTraffic(t *testing.T, usage []traffic.Usage) {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(s.DynamoDB.Endpoint),
	}, s.DynamoDB.Endpoint)
	must(t, err)
	store := traffic.NewStore(client, dynamo.TablesByID(s.DynamoDB.Tables))
	_, err = store.Record(t.Context(), &traffic.Batch{ID: rand.Text(), Usage: usage}, time.Now())
	must(t, err)
}

// monthOfTraffic returns requests of a month of which the last days are in the future: more on working days, and a bad
// day.
func monthOfTraffic(year int, month time.Month, days int) []traffic.Usage {
	var all []traffic.Usage
	for i, path := range []string{"/api/admin/context", "/api/admin/feature-types", "/api/admin/user",
		"/api/admin/user/tokens"} {
		for day := range days {
			date := time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
			count := int64(1000 + 137*(day*(i+3)%11) - 180*i)
			if weekday := date.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
				count /= 5
			}
			u := traffic.Usage{APIPath: path, Day: date,
				Counts: traffic.Counts{Successful: count, ClientErrors: count / int64(17+i)}}
			if day == 11 {
				u.Counts.ServerErrors = count / 6
			}
			all = append(all, u)
		}
	}
	return all
}
