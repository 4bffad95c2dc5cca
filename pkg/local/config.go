package local

import (
	"crypto/rand"
	"io"
	"time"

	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/seed"
)

// Config configures Run and WithTables. All fields but Template are optional.
type Config struct {
	Template         string // path of template.yaml; the engine's program is searched in its folder and above
	Port             int    // of 127.0.0.1; 0: a free one
	ClientPort       int    // of 127.0.0.1, for applications; 0: a free one
	DataDir          string // created if missing; empty: data are in memory, and no local.json is written
	DynamoDBEndpoint string // of a running engine to use instead of starting one
	EngineHost       string // address on which the engine listens; empty: a random loopback address
	WebhookURL       string // receives events; empty: none
	// types of events that it receives, separated by commas; *: all; empty: the default of the template
	WebhookEvents   string
	OIDCIssuer      string // people sign in there; empty: nowhere
	OIDCClientID    string
	OIDCDefaultRole string // of people who sign in for the first time; empty: they cannot
	OIDCGroupsClaim string // of ID tokens; empty: the default of the template
	// days for which tokens of a person keep the groups of the last ID token; empty: the default of the template
	GroupsMaxAgeDays string
	// proxies in front of the URL for applications: none, cloudfront or networks; empty: none
	TrustedProxies string
	// the secret of which each request of applications must have one, or two secrets with a space between; empty: none
	ClientOriginSecret string
	MaxTokenDays       int  // from the creation to the expiry of a token; 0: no limit
	History            bool // the first start also makes changes of the last 60 days, and the traffic of a month

	Stdout   io.Writer // receives the line "ready" and commands to try
	Stderr   io.Writer // receives requests and errors
	Terminal bool      // Stderr is a terminal
	Color    bool      // colors on the terminal

	Now    func() time.Time
	Random io.Reader

	// Ready is called once, when the service accepts requests.
	Ready func(Running)

	// The fields below are for tests.

	// RequestsOnly disables event sources, which are streams, schedules, queues and log subscriptions, and the events that
	// functions send.
	RequestsOnly bool
	// Functions replaces constructors, by the folder of the function.
	Functions map[string]app.Constructor
	// APIOptions returns middleware for the AWS configuration of a function.
	APIOptions func(function string) []func(*middleware.Stack) error
}

// Running describes a running service. It is the content of local.json.
type Running struct {
	BaseURL   string `json:"baseUrl"`
	ClientURL string `json:"clientUrl"` // for applications; empty: none
	seed.Credentials
	DynamoDBEndpoint string            `json:"dynamodbEndpoint"`
	Tables           map[string]string `json:"tables"`        // names by logical id
	WebhookURL       string            `json:"webhookUrl"`    // empty: none
	WebhookSecret    string            `json:"webhookSecret"` // signs the requests to the webhook
	WebhookEvents    string            `json:"webhookEvents"` // types that it receives; *: all; empty: the default of the template
	OIDCIssuer       string            `json:"oidcIssuer"`    // empty: none
	OIDCClientID     string            `json:"oidcClientId"`
	MaxTokenDays     int               `json:"maxTokenDays"` // 0: no limit
}

func (c Config) withDefaults() Config {
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	return c
}
