package contract_test

import (
	"context"
	"path/filepath"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/openapi"
)

// shared is the service that most tests talk to.
var shared *service //nolint:gochecknoglobals // started once for the package, by TestMain

func TestMain(m *testing.M) {
	validator, err := openapi.Load(context.Background())
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	log := newLog()
	ready, ended := make(chan local.Running, 1), make(chan error, 1)
	go func() {
		ended <- local.Run(ctx, local.Config{
			Template: filepath.Join("..", "..", "template.yaml"), Stderr: log, Ready: func(r local.Running) { ready <- r },
		})
	}()
	select {
	case running := <-ready:
		shared = newService(running, log, validator)
	case err := <-ended:
		panic(err)
	}
	m.Run()
	stop()
	if err := <-ended; err != nil {
		panic(err)
	}
}
