package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/roundtrip"
)

// construct constructs a function whose constructor is use.
func construct(env *app.Env, use func(*app.Deps)) error {
	_, err := app.Function{Handler: func(d *app.Deps) lambda.Handler {
		use(d)
		return nil
	}}.New(env)
	return err
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for size, want := range map[string]int64{"128": 114085068, "1769": 1576691302, "": math.MaxInt64, "0": math.MaxInt64} {
		assert.Equal(t, want, app.MemoryLimit(size))
	}
}

func TestOpenTables(t *testing.T) {
	t.Parallel()
	env := &app.Env{Vars: map[string]string{"USERS_TABLE": "u", "API_TOKENS_TABLE": "a", "TRAFFIC_TABLE": "t"}}
	assert.OK(t, construct(env, func(d *app.Deps) {
		d.OpenTables("Users", "ApiTokens")
		assert.Equal(t, dynamo.Tables{"Users": "u", "ApiTokens": "a"}, d.Tables)
	}))
}

// One error names everything that is wrong with the environment.
func TestProblems(t *testing.T) {
	t.Parallel()
	env := &app.Env{Vars: map[string]string{"USERS_TABLE": "", "DYNAMODB_ENDPOINT": "localhost",
		"AWS_USE_FIPS_ENDPOINT": "yes", "MAX": "x"}}
	err := construct(env, func(d *app.Deps) {
		d.OpenTables("Users", "ApiTokens")
		d.Number("MAX", 0, 9)
		d.Var("OTHER")
		d.Fail(nil)
	})
	for _, text := range []string{"USERS_TABLE is missing", "API_TOKENS_TABLE is missing", "DYNAMODB_ENDPOINT: ",
		"AWS_USE_FIPS_ENDPOINT must be true or false", "MAX must be", "OTHER is missing"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not contain %q: %v", text, err)
		}
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	env := &app.Env{Vars: map[string]string{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Random: rand.Reader}
	operation := app.Operation{
		Requires: access.IsUser,
		Tables:   []string{"FeatureTypes"},
		MaxBody:  3,
		Handler: func(d *app.Deps) lambdahttp.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) error {
				if _, err := io.ReadAll(r.Body); err != nil {
					return apierror.New(apierror.ContentTooLarge, err.Error())
				}
				return lambdahttp.WriteJSON(w, http.StatusOK, d.Tables["FeatureTypes"])
			}
		},
	}
	_, err := operation.New(env)
	assert.Equal(t, "the environment variable FEATURE_TYPES_TABLE is missing", fmt.Sprint(err))
	env.Vars["FEATURE_TYPES_TABLE"], env.Vars["DYNAMODB_ENDPOINT"] = "types", "http://localhost"
	handler, err := operation.New(env)
	assert.OK(t, err)
	const user = `"requestContext": {"authorizer": {"principalId": "user:1", "userId": "1", "permissions": ""}}`
	for event, want := range map[string]string{
		`{"body": "123", ` + user + `}`:  `"statusCode":200`,
		`{"body": "1234", ` + user + `}`: `"statusCode":413`,
		`{"body": "123"}`:                `"statusCode":401`,
	} {
		response, err := handler.Invoke(t.Context(), []byte(event))
		if err != nil || !strings.Contains(string(response), want) {
			t.Errorf("%s: %s, %v, want %s", event, response, err, want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "", "400": "", "3650": "", "": "MAX is missing", "-1": "MAX must be a number from 0 to 3650, not \"-1\"",
		"3651": "MAX must be", "1.5": "MAX must be",
	} {
		var got int64
		err := construct(&app.Env{Vars: map[string]string{"MAX": text}}, func(d *app.Deps) { got = d.Number("MAX", 0, 3650) })
		if want == "" && (err != nil || fmt.Sprint(got) != text) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), "the environment variable "+want)) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestOpenTablesWarmsUpTheConnection(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	var log bytes.Buffer
	env := &app.Env{
		Vars:   map[string]string{"DYNAMODB_ENDPOINT": server.URL},
		AWS:    aws.Config{HTTPClient: dynamo.NewHTTPClient(server.URL)},
		Logger: slog.New(slog.NewTextHandler(&log, nil)), WarmUp: true,
	}
	open := func(d *app.Deps) { d.OpenTables() }
	if err := construct(env, open); err != nil || requests != 1 || log.Len() > 0 {
		t.Errorf("%d requests, error %v, log %s", requests, err, &log)
	}
	server.Close()
	if err := construct(env, open); err != nil || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("error %v, log %s", err, &log)
	}
}

// TestEndpoints checks that the warm-up and the calls use the endpoint that the variables and the region's partition
// select.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ region, fips, dualStack, endpoint string }{
		{"us-east-1", "", "", "dynamodb.us-east-1.amazonaws.com"},
		{"us-east-1", "false", "false", "dynamodb.us-east-1.amazonaws.com"},
		{"us-east-1", "true", "false", "dynamodb-fips.us-east-1.amazonaws.com"},
		{"us-east-1", "false", "true", "dynamodb.us-east-1.api.aws"},
		{"us-east-1", "true", "true", "dynamodb-fips.us-east-1.api.aws"},
		{"cn-north-1", "false", "false", "dynamodb.cn-north-1.amazonaws.com.cn"},
		{"cn-north-1", "false", "true", "dynamodb.cn-north-1.api.amazonwebservices.com.cn"},
	} {
		unreachable := errors.New("unreachable")
		var hosts []string
		env := &app.Env{
			Vars: map[string]string{"AWS_USE_FIPS_ENDPOINT": test.fips, "AWS_USE_DUALSTACK_ENDPOINT": test.dualStack},
			AWS: roundtrip.AWS(roundtrip.Func(func(r *http.Request) (*http.Response, error) {
				hosts = append(hosts, r.URL.Host)
				return nil, unreachable
			})),
			Logger: slog.New(slog.DiscardHandler), WarmUp: true,
		}
		env.AWS.Region = test.region
		var client *dynamodb.Client
		assert.OK(t, construct(env, func(d *app.Deps) {
			d.OpenTables()
			client = d.DynamoDB
		}))
		_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}, dynamo.Once)
		assert.ErrorIs(t, err, unreachable)
		assert.Equal(t, []string{test.endpoint, test.endpoint}, hosts)
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
