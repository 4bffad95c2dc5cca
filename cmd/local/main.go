// Command local serves the whole API on this machine (`make run`), or provides the tables for `sam local` (`make
// sam-local`, `make invoke`).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
)

// flags are the options. Each can also be set by an environment variable.
type flags struct {
	Port               string `default:"3000" env:"PORT" help:"Port of 127.0.0.1 to serve on. 0 selects a free one."`
	ClientPort         string `default:"3002" env:"CLIENT_PORT" help:"Port of 127.0.0.1 for applications. 0 selects a free one."`
	DataDir            string `default:".local" env:"DATA_DIR" help:"Folder of the data and of local.json."`
	DynamoDBEndpoint   string `name:"dynamodb-endpoint" env:"DYNAMODB_ENDPOINT" help:"URL of a running engine to use instead of starting one."`
	WebhookURL         string `name:"webhook-url" env:"WEBHOOK_URL" help:"URL that receives events: https://, or http:// and a loopback address."`
	WebhookEvents      string `name:"webhook-events" env:"WEBHOOK_EVENTS" help:"Types of events that the webhook receives, separated by commas. *: all."`
	OIDCIssuer         string `name:"oidc-issuer" env:"OIDC_ISSUER" help:"OpenID Connect issuer of people: https://, or http:// and a loopback address."`
	OIDCClientID       string `name:"oidc-client-id" env:"OIDC_CLIENT_ID" help:"Client id of the console at the issuer."`
	OIDCDefaultRole    string `name:"oidc-default-role" env:"OIDC_DEFAULT_ROLE" help:"Role of people who sign in for the first time. If empty, they cannot sign in."`
	OIDCGroupsClaim    string `name:"oidc-groups-claim" env:"OIDC_GROUPS_CLAIM" help:"Claim of ID tokens with the groups of a person. Default: groups."`
	GroupsMaxAgeDays   string `env:"GROUPS_MAX_AGE_DAYS" help:"Days for which tokens of a person keep the groups of the last ID token. Default: 30."`
	TrustedProxies     string `env:"TRUSTED_PROXIES" help:"Proxies in front of the URL for applications: none, cloudfront, or networks separated by commas."`
	ClientOriginSecret string `name:"client-origin-secret" env:"CLIENT_ORIGIN_SECRET" help:"Secret that each request of applications must have in the header X-Origin-Secret, or two with a space between."`
	MaxTokenDays       string `default:"0" env:"MAX_TOKEN_DAYS" help:"Maximum number of days from the creation to the expiry of a token. 0: no limit."`
	Log                string `env:"LOG" help:"json: log lines of JSON on a terminal too."`
	Template           string `default:"template.yaml" env:"TEMPLATE" help:"SAM template to serve."`
	SAMProgram         string `name:"sam-program" default:"sam" env:"SAM_PROGRAM" help:"SAM CLI."`

	Serve    struct{}  `cmd:"" default:"1" help:"Serve the API. The default."`
	Init     struct{}  `cmd:"" help:"Create and seed the tables of the engine at DYNAMODB_ENDPOINT, and write local.json."`
	StartAPI struct{}  `cmd:"" name:"start-api" help:"Serve the API with sam local start-api, from the build of make build-local."`
	Invoke   sampleRun `cmd:"" help:"Call a function with sam local invoke, and print its response. The data are in memory."`
}

// sampleRun is a call of a function with a sample event.
type sampleRun struct {
	Function string `arg:"" help:"Logical ID of the function."`
	Event    string `arg:"" help:"File of the event."`
	Built    string `required:"" help:"Built template, of sam build."`
}

// parsePort parses the port of a setting. A mapper of kong would prefix the error with the name of the option.
func parsePort(setting, text string) (int, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a port: choose one from 1 to 65535, or 0 for a free one", setting, text)
	}
	return int(port), nil
}

// gcPercent saves a tenth of the CPU time, for more memory. The heap stays below 30 MB under load.
const gcPercent = 400

func main() {
	var f flags
	parser := kong.Must(&f, kong.Name("local"), kong.Description("Serves the API on this machine."))
	command, err := parser.Parse(os.Args[1:])
	if err != nil {
		exit(2, fmt.Errorf("%w; see --help", err))
	}
	port, err := parsePort("PORT", f.Port)
	if err != nil {
		exit(2, err)
	}
	clientPort, err := parsePort("CLIENT_PORT", f.ClientPort)
	if err != nil {
		exit(2, err)
	}
	days, err := app.ParseNumber(cmp.Or(f.MaxTokenDays, "0"), 0, access.MaxDays)
	if err != nil {
		exit(2, fmt.Errorf("MAX_TOKEN_DAYS %w", err))
	}
	if err := run(command.Command(), &f, port, clientPort, int(days)); err != nil {
		exit(1, err)
	}
}

// Validate implements kong.Validatable.
func (f *flags) Validate() error {
	if f.DataDir == "" {
		return errors.New("DATA_DIR is empty: choose a folder, or unset it for .local")
	}
	if f.Log != "" && f.Log != "json" {
		return fmt.Errorf("LOG %q is not a format: use json, or unset it", f.Log)
	}
	return nil
}

// run runs a command until it ends, or until a signal.
func run(command string, f *flags, port, clientPort, maxTokenDays int) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	terminal := term.IsTerminal(int(os.Stderr.Fd())) && f.Log != "json"
	c := local.Config{
		Template: f.Template, Port: port, ClientPort: clientPort, DataDir: f.DataDir, DynamoDBEndpoint: f.DynamoDBEndpoint,
		WebhookURL: f.WebhookURL, WebhookEvents: f.WebhookEvents,
		OIDCIssuer: f.OIDCIssuer, OIDCClientID: f.OIDCClientID, OIDCDefaultRole: f.OIDCDefaultRole,
		OIDCGroupsClaim: f.OIDCGroupsClaim, GroupsMaxAgeDays: f.GroupsMaxAgeDays,
		TrustedProxies: f.TrustedProxies, ClientOriginSecret: f.ClientOriginSecret,
		MaxTokenDays: maxTokenDays, History: true,
		Stdout: os.Stdout, Stderr: os.Stderr, Terminal: terminal, Color: terminal && os.Getenv("NO_COLOR") == "",
	}
	var err error
	switch name, _, _ := strings.Cut(command, " "); name {
	case "init":
		err = initialize(ctx, c)
	case "start-api":
		err = startAPI(ctx, c, f.cli())
	case "invoke":
		err = invoke(ctx, c, f.cli(), f.Invoke)
	default:
		err = local.Run(ctx, c)
	}
	if ctx.Err() != nil {
		return nil // an error is due to the signal
	}
	return err
}

// exit prints an error in one line.
func exit(status int, err error) {
	fmt.Fprintln(os.Stderr, "local: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	os.Exit(status)
}
