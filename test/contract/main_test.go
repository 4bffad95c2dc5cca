package contract_test

import (
	"context"
	"path/filepath"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/doctable"
	"toggleadmin/test/enginetest"
	"toggleadmin/test/localtest"
	"toggleadmin/test/openapi"
)

// shared is the service that most tests use. Each test has users, tokens and feature types of its own.
var shared *service

func TestMain(m *testing.M) {
	validator, err := openapi.Load(context.Background())
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	log := &logLines{}
	ready, ended := make(chan local.Running, 1), make(chan error, 1)
	go func() {
		ended <- local.Run(ctx, local.Config{
			Template: filepath.Join("..", "..", "template.yaml"), DynamoDBEndpoint: enginetest.External(), Stderr: log,
			Ready: func(r local.Running) { ready <- r },
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

// start starts another service, with another clock, template or engine.
func start(t *testing.T, c local.Config) *service {
	t.Helper()
	log := &logLines{}
	c.Stderr = log
	return newService(localtest.Start(t, c), log, shared.validator)
}

func TestStatementsHaveTests(t *testing.T) {
	t.Parallel()
	doctable.Check(t, "doc.go")
}
