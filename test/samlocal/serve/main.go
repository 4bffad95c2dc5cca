// Command serve serves the API with `sam local start-api`, on the data of a running `make run`. `make sam-local` starts
// it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"toggleadmin/pkg/local"
	"toggleadmin/test/samlocal"
)

// options are the command line; scripts/sam-local.sh sets the environment.
type options struct {
	Port    int    `default:"3001" help:"Port of 127.0.0.1 to serve on. 0 selects a free one."`
	DataDir string `default:".local" help:"Data folder of the running make run."`
	Program string `required:"" env:"SAM_PROGRAM" help:"Path of sam."`
	Image   string `env:"SAM_INVOKE_IMAGE" help:"Image of the containers. The default is the one of AWS."`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("serve"), kong.Description("Serves the API with sam local, on the data of make run."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "sam-local:", err)
		os.Exit(1)
	}
}

// serve serves until the context ends.
func serve(ctx context.Context, o options) error {
	file := filepath.Join(o.DataDir, "local.json")
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: start `make run` first, in another terminal", file)
	}
	var data local.Running
	if err = errors.Join(err, json.Unmarshal(content, &data)); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	relay, err := samlocal.StartRelay(ctx, data.DynamoDBEndpoint)
	if err != nil {
		return fmt.Errorf("start the relay: %w", err)
	}
	defer relay.Close()
	cli := samlocal.CLI{Program: o.Program, Image: o.Image, Root: ".", Endpoint: relay.Endpoint}
	api, err := cli.StartAPI(ctx, o.Port, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "ready %s, with the data and credentials of %s\n", api.URL, data.BaseURL)
	select {
	case <-ctx.Done():
	case <-api.Ended:
	}
	return api.Stop()
}
