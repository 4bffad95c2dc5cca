package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/sam"
)

// cli returns the SAM CLI.
func (f *flags) cli() sam.CLI {
	return sam.CLI{
		Program: f.SAMProgram, Root: filepath.Dir(f.Template), Template: f.Invoke.Built, Environment: os.Environ(),
	}
}

// initialize creates and seeds the tables.
func initialize(ctx context.Context, c local.Config) error {
	if c.DynamoDBEndpoint == "" {
		return errors.New("DYNAMODB_ENDPOINT is not set: it is the URL of the DynamoDB-compatible server that gets the " +
			"tables, such as http://127.0.0.1:8000")
	}
	return local.WithTables(ctx, c, func(_ context.Context, r *local.Running) error {
		return printCommands(c, "The tables exist at "+r.DynamoDBEndpoint+". Commands for an API at "+r.BaseURL+":", r)
	})
}

// startAPI serves the API until the context ends.
func startAPI(ctx context.Context, c local.Config, cli sam.CLI) (err error) {
	if c.Port, err = local.FreePort(ctx, c.Port); err != nil {
		return err
	}
	return withTables(ctx, c, cli, func(ctx context.Context, cli sam.CLI, r *local.Running) error {
		api, err := cli.StartAPI(ctx, c.Port, os.Stderr)
		if err != nil {
			return err
		}
		err = printCommands(c, "ready "+r.BaseURL, r)
		if err == nil {
			select {
			case <-ctx.Done():
			case <-api.Ended:
			}
		}
		return errors.Join(err, api.Stop())
	})
}

// invoke prints the response of a function to an event.
func invoke(ctx context.Context, c local.Config, cli sam.CLI, call sampleRun) error {
	c.DataDir, c.History = "", false
	return withTables(ctx, c, cli, func(ctx context.Context, cli sam.CLI, _ *local.Running) error {
		response, err := cli.Invoke(ctx, call.Function, call.Event, os.Stderr)
		if err == nil {
			_, err = fmt.Fprintf(os.Stdout, "%s\n", response)
		}
		return err
	})
}

// withTables calls use with tables that containers reach.
func withTables(ctx context.Context, c local.Config, cli sam.CLI,
	use func(ctx context.Context, cli sam.CLI, r *local.Running) error) error {
	c.EngineHost = sam.HostAddress(ctx)
	if c.DynamoDBEndpoint != "" {
		c.DynamoDBEndpoint = sam.OnHost(c.DynamoDBEndpoint, c.EngineHost)
	}
	return local.WithTables(ctx, c, func(ctx context.Context, r *local.Running) error {
		cli.Endpoint = sam.InContainer(r.DynamoDBEndpoint)
		return use(ctx, cli, r)
	})
}

// printCommands prints a line, and commands that send a request.
func printCommands(c local.Config, line string, r *local.Running) error {
	commands, err := local.Commands(c.DataDir, r)
	if err == nil {
		_, err = fmt.Fprintf(os.Stdout, "%s\n\n%s\n", line, commands)
	}
	return err
}
