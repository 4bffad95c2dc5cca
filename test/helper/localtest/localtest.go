// Package localtest starts the local service in a test's own process.
package localtest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/enginetest"
	"toggleadmin/test/helper/repository"
)

// Start starts the service, which takes about 0.1 s. It ends with the test. The default Template is the repository's.
// With DYNAMODB_ENDPOINT the service uses that server, and tests with a DataDir are skipped.
func Start(tb testing.TB, c local.Config) local.Running {
	tb.Helper()
	service, stop := StartStop(tb, c)
	tb.Cleanup(stop)
	return service
}

// StartStop is Start for a test that stops the service itself.
func StartStop(tb testing.TB, c local.Config) (service local.Running, stop func()) {
	tb.Helper()
	if c.Template == "" {
		c.Template = Template(tb)
	}
	if enginetest.External() != "" && c.DynamoDBEndpoint == "" {
		if c.DataDir != "" {
			enginetest.Program(tb) // skips the test
		}
		c.DynamoDBEndpoint = enginetest.Endpoint(tb)
	}
	// With umask 002, the folders that tests create can be written by their group, and the service rejects them.
	if err := os.Chmod(c.DataDir, 0o700); c.DataDir != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	ready := make(chan local.Running, 1)
	c.Ready = func(r local.Running) { ready <- r }
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- local.Run(ctx, c) }()
	select {
	case service = <-ready:
	case err := <-ended:
		cancel()
		tb.Fatal(err)
	}
	return service, func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	}
}

// Template returns the absolute path of template.yaml.
func Template(tb testing.TB) string {
	tb.Helper()
	path, err := repository.File("template.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// ChangedTemplate returns the path of a copy of template.yaml in a folder of its own, with the template that it nests, in
// which a text is replaced.
func ChangedTemplate(tb testing.TB, old, replacement string) string {
	tb.Helper()
	folder, path := tb.TempDir(), Template(tb)
	content, err := os.ReadFile(path)
	assert.OK(tb, err)
	changed := strings.Replace(string(content), old, replacement, 1)
	if changed == string(content) {
		tb.Fatalf("template.yaml does not contain %q", old)
	}
	nested, err := os.ReadFile(filepath.Join(filepath.Dir(path), "delivery.yaml"))
	assert.OK(tb, err,
		os.WriteFile(filepath.Join(folder, "delivery.yaml"), nested, 0o600),
		os.WriteFile(filepath.Join(folder, "template.yaml"), []byte(changed), 0o600))
	return filepath.Join(folder, "template.yaml")
}
