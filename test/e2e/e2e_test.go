// Package e2e_test runs the end-to-end scripts in testdata, which package script describes. With BASE_URL, CLIENT_URL
// (for applications; empty to leave their scripts out), CREDENTIALS (a file in the form of local.json) and ENVIRONMENT
// they run against that service, otherwise against what `make run` starts.
//
// It counts the DynamoDB calls and capacity units of every function, and compares the calls with the function's
// permissions in template.yaml.
package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/issuer"
	"toggleadmin/test/helper/script"
)

// TestScripts also checks that the policies grant exactly what is used, unless the service or the engine is another.
func TestScripts(t *testing.T) {
	t.Parallel()
	if url := os.Getenv("BASE_URL"); url != "" {
		clientURL := strings.TrimSuffix(os.Getenv("CLIENT_URL"), "/")
		e := script.Environment{Name: os.Getenv("ENVIRONMENT"), BaseURL: url, ClientURL: clientURL}
		content, err := os.ReadFile(os.Getenv("CREDENTIALS"))
		if err = errors.Join(err, json.Unmarshal(content, &e.Credentials)); err != nil {
			t.Fatalf("BASE_URL is set: CREDENTIALS must be a file in the form of local.json: %v", err)
		}
		script.Run(t, e, "testdata")
		return
	}
	s := &service{}
	people := issuer.Start(false)
	t.Cleanup(people.Close)
	s.run(t, local.Config{
		APIOptions: s.meter.options, OIDCIssuer: people.URL, OIDCClientID: issuer.ClientID, OIDCDefaultRole: "Viewer",
		Stderr: t.Output(),
	})
	e := script.Environment{Name: script.Local, BaseURL: s.BaseURL, ClientURL: s.ClientURL, Credentials: s.Credentials}
	script.Run(t, e, "testdata")
	if !t.Failed() && enginetest.External() == "" {
		s.requireGranted(t, people)
	}
}
