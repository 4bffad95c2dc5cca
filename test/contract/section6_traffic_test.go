package contract_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
)

// recorder is the function that counts, with the variables that the template gives it, beside the service's tables.
func (s *service) recorder(t *testing.T) (record lambda.Handler, format string) {
	t.Helper()
	template, err := samtemplate.Load(filepath.Join("..", "..", "template.yaml"), samtemplate.Settings{
		Parameters: map[string]string{"DynamoDBEndpoint": s.DynamoDB.Endpoint},
	})
	must(t, err)
	for _, function := range template.Functions {
		if function.Name != "record-traffic" {
			continue
		}
		client := dynamo.NewHTTPClient(s.DynamoDB.Endpoint)
		t.Cleanup(client.CloseIdleConnections)
		record, err = traffic.NewRecordFunction(&app.Env{
			Vars: function.Environment, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			AWS: aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: client},
		})
		must(t, err)
		return record, template.API.AccessLogFormat
	}
	t.Fatal("the template has no record-traffic")
	return nil, ""
}

// deliver invokes the function with lines of a stream.
func deliver(t *testing.T, record lambda.Handler, format, stream string, lines ...accesslog.Line) {
	t.Helper()
	for i := range lines {
		lines[i].N = i
	}
	event, err := accesslog.Delivery(stream, format, lines)
	must(t, err)
	payload, err := json.Marshal(event)
	must(t, err)
	_, err = record.Invoke(patient(t), payload)
	must(t, err)
}

// usage is a report's days of a path: "<day> <group> <count>".
func (s *service) usage(t *testing.T, period string) map[string][]string {
	t.Helper()
	var report struct {
		Period  string
		APIData []struct {
			APIPath string
			Days    []struct {
				Day          string
				TrafficTypes []struct {
					Group string
					Count int64
				}
			}
		}
	}
	s.send(t, get(trafficPath(period)).as(s.admin(t))).want(t, 200).decode(t, &report)
	usage := map[string][]string{}
	for _, path := range report.APIData {
		for _, day := range path.Days {
			for _, group := range day.TrafficTypes {
				usage[path.APIPath] = append(usage[path.APIPath], fmt.Sprint(day.Day[:10], " ", group.Group, " ", group.Count))
			}
		}
	}
	return usage
}

// TestSection6_Counted: "every request that reached the API, by the gateway's own access log (so 401s and 404s count too). Counted are the
// resource paths that have an operation", all seven of them; a wrong method on one is a client error of it. "The same batch delivered twice
// counts once."
func TestSection6_Counted(t *testing.T) {
	t.Parallel()
	s := shared
	record, format := s.recorder(t)
	at := time.Date(1986, 11, 20, 5, 39, 0, 0, time.UTC)
	paths := []string{
		"/api/admin/context", "/api/admin/feature-types", "/api/admin/feature-types/{id}/lifetime", "/api/admin/feedback/{id}",
		"/api/admin/metrics/traffic/{period}", "/api/admin/service-account/{id}/token", "/api/admin/user/tokens/{id}",
	}
	var lines []accesslog.Line
	for _, path := range paths {
		for _, status := range []int{200, 201, 304, 400, 401, 403, 404, 409, 429, 500, 503} {
			lines = append(lines, accesslog.Line{Time: at, Path: path, Status: status})
		}
		lines = append(lines, accesslog.Line{Time: at, Path: path, Method: "PATCH", Status: 404})
	}
	for _, path := range []string{"-", "/", "/{proxy+}", "/api/admin", "/api/admin/feedback", "/api/admin/user/tokens"} {
		lines = append(lines, accesslog.Line{Time: at, Path: path, Status: 404})
	}
	for range 3 {
		deliver(t, record, format, "s", lines...)
	}
	got := s.usage(t, "1986-11")
	for _, path := range paths {
		want := "[1986-11-20 successful-requests 3 1986-11-20 client-errors 7 1986-11-20 server-errors 2]"
		if fmt.Sprint(got[path]) != want {
			t.Errorf("%s: %v, want %s", path, got[path], want)
		}
	}
	if len(got) != len(paths) {
		t.Errorf("%v", got)
	}
}

// TestSection6_TimeOfTheRequest: "Counted by the time of the request, never by the time of the recording": across midnight, the month's and
// the year's end, in one batch, years late.
func TestSection6_TimeOfTheRequest(t *testing.T) {
	t.Parallel()
	s := shared
	record, format := s.recorder(t)
	year := time.Date(1986, 1, 1, 0, 0, 0, 0, time.UTC)
	const path = "/api/admin/context"
	line := func(at time.Time) accesslog.Line { return accesslog.Line{Time: at, Path: path, Status: 200} }
	deliver(t, record, format, "late",
		line(year.Add(time.Hour)), line(year), line(year.Add(-time.Millisecond)), line(year.AddDate(0, 1, 0)), line(year.AddDate(0, 1, 0).Add(-1)))
	for period, want := range map[string]string{
		"1985-12": "[1985-12-31 successful-requests 1]",
		"1986-01": "[1986-01-01 successful-requests 2 1986-01-31 successful-requests 1]",
		"1986-02": "[1986-02-01 successful-requests 1]",
	} {
		if got := fmt.Sprint(s.usage(t, period)[path]); got != want {
			t.Errorf("%s: %s, want %s", period, got, want)
		}
	}
}
