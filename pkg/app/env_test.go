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

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
)

func TestTables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		vars map[string]string
		want dynamo.Tables
		errs []string
	}{
		{"all set", map[string]string{"USERS_TABLE": "u", "API_TOKENS_TABLE": "a", "TRAFFIC_TABLE": "t"}, dynamo.Tables{Users: "u", APITokens: "a"}, nil},
		{
			"none set", map[string]string{"USERS_TABLE": "", "DYNAMODB_ENDPOINT": "localhost"}, dynamo.Tables{},
			[]string{"USERS_TABLE is missing", "API_TOKENS_TABLE is missing", "DYNAMODB_ENDPOINT: "},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client, tables, err := (&app.Env{Vars: tt.vars}).Tables("USERS_TABLE", "API_TOKENS_TABLE")
			if tables != tt.want || (client == nil) != (err != nil) || (err == nil) != (tt.errs == nil) {
				t.Errorf("%+v, error %v", tables, err)
			}
			for _, text := range tt.errs {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("the error does not contain %q: %v", text, err)
				}
			}
		})
	}
}

func TestTablesWarmsUpTheConnection(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	var log bytes.Buffer
	env := &app.Env{
		Vars: map[string]string{"DYNAMODB_ENDPOINT": server.URL}, AWS: aws.Config{HTTPClient: dynamo.NewHTTPClient(server.URL)},
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
