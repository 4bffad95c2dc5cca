// Package localtest gives tests the whole service, in their own process, on the engine that package enginetest chooses.
package localtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
)

// Start serves until the test ends. An empty Template is the repository's; without DataDir everything is in memory. It takes a tenth of
// a second with the default engine.
func Start(tb testing.TB, c local.Config) local.Running {
	tb.Helper()
	service, stop := StartStop(tb, c)
	tb.Cleanup(stop)
	return service
}

// StartStop is Start for a test that ends the service itself, by stop.
func StartStop(tb testing.TB, c local.Config) (service local.Running, stop func()) {
	tb.Helper()
	if c.Template == "" {
		c.Template = Template(tb)
	}
	if c.Engine == "" {
		c.Engine = enginetest.Name()
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

// Template is the path of the repository's template.yaml: in the test's folder or the nearest one above it.
func Template(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		path := filepath.Join(dir, "template.yaml")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("there is no template.yaml above this folder")
		}
		dir = filepath.Dir(dir)
	}
}
