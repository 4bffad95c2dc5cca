package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/api/clienttoken"
	accounts "toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/dynamo"
)

// probeTimeout is how long a connection to the local service may take.
const probeTimeout = 5 * time.Second

// localJSON is the part of DATA_DIR/local.json that is read. `make run` writes the file.
type localJSON struct {
	BaseURL string `json:"baseUrl"`
	Users   []struct {
		Name string `json:"name"`
		PAT  string `json:"pat"`
	} `json:"users"`
	DynamoDBEndpoint string            `json:"dynamodbEndpoint"`
	Tables           map[string]string `json:"tables"` // names by logical id
	WebhookURL       string            `json:"webhookUrl"`
	WebhookSecret    string            `json:"webhookSecret"`
	WebhookEvents    string            `json:"webhookEvents"` // types separated by commas; *: all
	OIDCIssuer       string            `json:"oidcIssuer"`
	OIDCClientID     string            `json:"oidcClientId"`
	MaxTokenDays     int               `json:"maxTokenDays"`
}

// OpenLocal opens the local service that has its data in a folder. The service must be running.
func OpenLocal(ctx context.Context, dir string) (*Installation, error) {
	file := filepath.Join(dir, "local.json")
	unreachable := func(format string, args ...any) (*Installation, error) {
		return nil, exitstatus.Errorf(exitstatus.Unreachable, format, args...)
	}
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unreachable("there is no %s: start the service with `make run`, or name the folder of its data with --data-dir", file)
	case err != nil:
		return unreachable("%s cannot be read: %v", file, err)
	}
	var found localJSON
	if err := json.Unmarshal(content, &found); err != nil {
		return unreachable("%s is damaged: restart `make run`, which writes it: %v", file, err)
	}
	if found.DynamoDBEndpoint == "" {
		return unreachable("%s has no dynamodbEndpoint: restart `make run`, which writes it", file)
	}
	if err := probe(ctx, found.BaseURL); err != nil {
		return unreachable("the service of %s is not running: start it with `make run`: %v", file, err)
	}
	template, err := Template()
	if err != nil {
		return nil, err
	}
	for _, table := range template.Tables {
		if found.Tables[table.Name] == "" {
			return unreachable("%s lacks the table %s: restart `make run`, which creates it", file, table.Name)
		}
	}
	endpoint := found.DynamoDBEndpoint
	client, err := dynamo.NewOperatorClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(endpoint),
	}, endpoint)
	if err != nil {
		return nil, fmt.Errorf("create the DynamoDB client: %w", err)
	}
	adminToken := ""
	for _, u := range found.Users {
		if u.Name == "admin" {
			adminToken = u.PAT
		}
	}
	return &Installation{
		Name: "the local service at " + found.BaseURL, Option: "--local", BaseURL: found.BaseURL,
		Tables: found.Tables, TokenLimit: DefaultTokenLimit, AccountLimit: accounts.DefaultLimit,
		GroupsMaxAgeDays: defaultGroupsDays, ClientTokenLimit: clienttoken.MaxTokens, MaxTokenDays: found.MaxTokenDays,
		Client: client, EventSource: "local",
		Issuer: found.OIDCIssuer, ClientID: found.OIDCClientID,
		Operator: "operator " + localUser(),
		LogDays:  eventlog.DefaultDays, webhookURL: found.WebhookURL, webhookSecret: found.WebhookSecret,
		webhookEvents: found.WebhookEvents, adminToken: adminToken,
	}, nil
}

// localUser returns the name of the user of this process, or the number if there is no name.
func localUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// probe connects to the address of a URL. It sends no request, because the service would log it.
func probe(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}
	return conn.Close()
}
