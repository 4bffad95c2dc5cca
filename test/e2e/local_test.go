package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/test/script"
)

// serve starts what `make run` starts, with its data in memory, until the test ends. Scripts use its URL and
// its credentials file, as in every environment.
func serve(t *testing.T) script.Ground {
	t.Helper()
	endpoint := enginetest.Endpoint(t)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context())) // the test's own ends before its clean-up
	ready, ended := make(chan local.Running, 1), make(chan error, 1)
	go func() {
		ended <- local.Run(ctx, local.Config{
			Template:         filepath.Join("..", "..", "template.yaml"),
			DynamoDBEndpoint: endpoint,
			Stderr:           t.Output(),
			Ready:            func(r local.Running) { ready <- r },
		})
	}()
	var running local.Running
	select {
	case running = <-ready:
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	credentials, err := script.ReadCredentials(writeCredentials(t, running))
	if err != nil {
		t.Fatal(err)
	}
	return script.Ground{Name: script.Local, BaseURL: running.BaseURL, Credentials: credentials, Now: time.Now}
}

// writeCredentials writes a file of local.json's form.
func writeCredentials(t *testing.T, running local.Running) string {
	t.Helper()
	data, err := json.Marshal(running)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "local.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
