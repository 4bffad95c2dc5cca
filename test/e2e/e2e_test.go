// Package e2e_test runs the end-to-end scripts of testdata (package script says how to read them) on a ground: against BASE_URL with
// CREDENTIALS (a file of local.json's form) and GROUND where BASE_URL is set, else against what `make run` starts.
package e2e_test

import (
	"os"
	"testing"
	"time"

	"toggleadmin/test/script"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	script.Run(t, ground(t), "testdata")
}

// ground is where the scripts run.
func ground(t *testing.T) script.Ground {
	t.Helper()
	baseURL := os.Getenv("BASE_URL")
	if baseURL == "" {
		return serve(t)
	}
	name, file := os.Getenv("GROUND"), os.Getenv("CREDENTIALS")
	if name == "" || file == "" {
		t.Fatal("with BASE_URL set, set GROUND (local, sam, ministack or aws) and CREDENTIALS (a file of local.json's form), too")
	}
	credentials, err := script.ReadCredentials(file)
	if err != nil {
		t.Fatal(err)
	}
	return script.Ground{Name: name, BaseURL: baseURL, Credentials: credentials, Now: time.Now}
}
