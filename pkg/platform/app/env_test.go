package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/roundtrip"
	"toggleadmin/test/table"
)

func TestTables(t *testing.T) {
	t.Parallel()
	env := &app.Env{Vars: map[string]string{"USERS_TABLE": "u", "API_TOKENS_TABLE": "a", "TRAFFIC_TABLE": "t"}}
	_, tables, err := env.Tables("USERS_TABLE", "API_TOKENS_TABLE")
	assert.OK(t, err)
	assert.Equal(t, dynamo.Tables{Users: "u", APITokens: "a"}, tables)
	env.Vars = map[string]string{"USERS_TABLE": "", "DYNAMODB_ENDPOINT": "localhost", "AWS_USE_FIPS_ENDPOINT": "yes"}
	client, tables, err := env.Tables("USERS_TABLE", "API_TOKENS_TABLE")
	if client != nil || tables != (dynamo.Tables{}) {
		t.Errorf("%v, %+v", client, tables)
	}
	for _, text := range []string{"USERS_TABLE is missing", "API_TOKENS_TABLE is missing", "DYNAMODB_ENDPOINT: ",
		"AWS_USE_FIPS_ENDPOINT must be true or false"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not contain %q: %v", text, err)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "", "400": "", "3650": "", "": "MAX is missing", "-1": "MAX must be a number from 0 to 3650, not \"-1\"",
		"3651": "MAX must be", "1.5": "MAX must be",
	} {
		env := app.Env{Vars: map[string]string{"MAX": text}}
		got, err := env.Number("MAX", 0, 3650)
		if want == "" && (err != nil || fmt.Sprint(got) != text) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), "the environment variable "+want)) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestTablesWarmsUpTheConnection(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	var log bytes.Buffer
	env := &app.Env{
		Vars:   map[string]string{"DYNAMODB_ENDPOINT": server.URL},
		AWS:    aws.Config{HTTPClient: dynamo.NewHTTPClient(server.URL)},
		Logger: slog.New(slog.NewTextHandler(&log, nil)), WarmUp: true,
	}
	if _, _, err := env.Tables(); err != nil || requests != 1 || log.Len() > 0 {
		t.Errorf("%d requests, error %v, log %s", requests, err, &log)
	}
	server.Close()
	if _, _, err := env.Tables(); err != nil || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("error %v, log %s", err, &log)
	}
}

// TestEndpoints checks that the warm-up and the calls use the endpoint that the variables and the region's partition
// select.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, 4, `
		# region | FIPS | dual stack | endpoint
		us-east-1 | | | dynamodb.us-east-1.amazonaws.com
		us-east-1 | false | false | dynamodb.us-east-1.amazonaws.com
		us-east-1 | true | false | dynamodb-fips.us-east-1.amazonaws.com
		us-east-1 | false | true | dynamodb.us-east-1.api.aws
		us-east-1 | true | true | dynamodb-fips.us-east-1.api.aws
		cn-north-1 | false | false | dynamodb.cn-north-1.amazonaws.com.cn
		cn-north-1 | false | true | dynamodb.cn-north-1.api.amazonwebservices.com.cn
	`) {
		unreachable := errors.New("unreachable")
		var hosts []string
		env := &app.Env{
			Vars: map[string]string{"AWS_USE_FIPS_ENDPOINT": row[1], "AWS_USE_DUALSTACK_ENDPOINT": row[2]},
			AWS: roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
				hosts = append(hosts, r.URL.Host)
				return nil, unreachable
			})),
			Logger: slog.New(slog.DiscardHandler), WarmUp: true,
		}
		env.AWS.Region = row[0]
		client, _, err := env.Tables()
		assert.OK(t, err)
		_, err = client.ListTables(t.Context(), &dynamodb.ListTablesInput{}, dynamo.Once)
		assert.ErrorIs(t, err, unreachable)
		assert.Equal(t, []string{row[3], row[3]}, hosts)
	}
}

func TestEvent(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	handler := app.Event(func(_ context.Context, in struct{ N int }) (map[string]string, error) {
		if in.N == 0 {
			return nil, broken
		}
		return map[string]string{"n": fmt.Sprint(in.N)}, nil
	})
	for event, want := range map[string]string{`{"N":7}`: `{"n":"7"}`, `{"N":0}`: "", `{"N":"x"}`: ""} {
		got, err := handler.Invoke(t.Context(), []byte(event))
		if string(got) != want || (err == nil) != (want != "") || errors.Is(err, broken) != (event == `{"N":0}`) {
			t.Errorf("%s: %s, %v", event, got, err)
		}
	}
}
