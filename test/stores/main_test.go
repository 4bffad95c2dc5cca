package stores_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/samtemplate"
)

// shared is what all tests of the package use: one engine, and the template's tables.
var shared struct { //nolint:gochecknoglobals // TestMain has no other way to hand something over
	endpoint string
	external bool // somebody else's engine: what is made there is deleted
	tables   []samtemplate.Table
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code) //nolint:forbidigo // the one way to end TestMain
}

// checks is how often a property is tried where the command line does not say.
const checks = "25"

func run(m *testing.M) (int, error) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", checks); err != nil {
			return 0, fmt.Errorf("set the number of checks: %w", err)
		}
	}
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		return 0, fmt.Errorf("read the tables: %w", err)
	}
	shared.tables = template.Tables
	if shared.endpoint = os.Getenv("DYNAMODB_ENDPOINT"); shared.endpoint != "" {
		shared.external = true
		return m.Run(), nil
	}
	program, err := engine.Find(".")
	if err != nil {
		return 0, fmt.Errorf("find the engine: %w", err)
	}
	e, err := engine.Start(context.Background(), engine.Options{Program: program})
	if err != nil {
		return 0, fmt.Errorf("start the engine: %w", err)
	}
	defer e.Stop()
	shared.endpoint = e.Endpoint()
	return m.Run(), nil
}
