package grants_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/pkg/staleness"
	"toggleadmin/test/grants"
)

// invokeBackground gives the functions that no request reaches their sample events, on the service's tables, and records what they use.
func invokeBackground(t *testing.T, service local.Running, recorder *grants.Recorder) {
	t.Helper()
	for _, function := range []struct {
		name      string
		construct app.Constructor
	}{
		{"reevaluate-staleness", staleness.NewReevaluateFunction}, // flags one of the seeded toggles, of its event's type
		{"sweep-staleness", staleness.NewSweepFunction},           // flags another
	} {
		name := function.name
		vars := map[string]string{}
		for _, f := range load(t).Functions {
			if f.Name == name {
				vars = f.Environment
			}
		}
		vars["DYNAMODB_ENDPOINT"] = service.DynamoDB.Endpoint
		client := dynamo.NewHTTPClient(service.DynamoDB.Endpoint)
		t.Cleanup(client.CloseIdleConnections)
		handler, err := function.construct(&app.Env{
			Vars: vars, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			AWS: aws.Config{
				Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
				HTTPClient: &http.Client{Transport: &tap{next: client.Transport, function: name, recorder: recorder}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		event, err := os.ReadFile(filepath.Join(filepath.Dir(localtest.Template(t)), "events", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handler.Invoke(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
}

// tap records the action, table and index of each call that passes.
type tap struct {
	next     http.RoundTripper
	function string
	recorder *grants.Recorder
}

// RoundTrip implements http.RoundTripper.
func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var target struct{ TableName, IndexName string }
	if err := json.Unmarshal(body, &target); err != nil {
		return nil, err
	}
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	t.recorder.Record(local.Call{Function: t.function, Accesses: []local.Access{
		{Action: "dynamodb:" + action, Table: target.TableName, Index: target.IndexName},
	}})
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return t.next.RoundTrip(r)
}
