// Package e2e_test runs the end-to-end scripts in testdata, which package script describes. With BASE_URL, CREDENTIALS
// (a file in the form of local.json) and ENVIRONMENT they run against that service, otherwise against what `make run`
// starts.
package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/localtest"
	"toggleadmin/test/script"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	script.Run(t, environment(t), "testdata")
}

func environment(t *testing.T) script.Environment {
	t.Helper()
	e := script.Environment{Name: os.Getenv("ENVIRONMENT"), BaseURL: os.Getenv("BASE_URL")}
	if e.BaseURL == "" {
		service := localtest.Start(t, local.Config{Stderr: t.Output()})
		return script.Environment{Name: script.Local, BaseURL: service.BaseURL, Credentials: service.Credentials}
	}
	content, err := os.ReadFile(os.Getenv("CREDENTIALS"))
	if err = errors.Join(err, json.Unmarshal(content, &e.Credentials)); err != nil {
		t.Fatalf("BASE_URL is set: CREDENTIALS must be a file in the form of local.json: %v", err)
	}
	return e
}
