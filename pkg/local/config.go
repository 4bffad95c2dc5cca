package local

import (
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/seed"
)

// Config says what to run. The zero value of every field but Template serves the defaults.
type Config struct {
	Template string // path of template.yaml; the engine's program is looked for from its folder upwards
	Port     int    // of 127.0.0.1; 0: a free one
	DataDir  string // made where it is missing; empty: everything is in memory and no local.json is written

	Engine           string // engine.Dynoxide or engine.DynamoDBLocal; empty: the former
	DynamoDBEndpoint string // a running engine to use instead, never started or stopped here; empty: none

	Stdout   io.Writer // gets the line ready and commands to try; nil: nobody
	Stderr   io.Writer // gets requests and errors; nil: nobody
	Terminal bool      // Stderr is a terminal
	Color    bool      // and wants colours

	Now    func() time.Time // nil: the clock
	Random io.Reader        // nil: the system's

	// Ready is called once, when everything answers. Nil: it is not.
	Ready func(Running)
	// OnDynamoDB is told of every call that a function makes, concurrently. It makes the functions ask for consumed capacity. Nil: it is not.
	OnDynamoDB func(Call)
	// RequestsOnly leaves out what calls functions beside the API: streams, schedules and log subscriptions. Tests count calls with it.
	RequestsOnly bool
	// Functions are made by these constructors instead of the table's, by their folders: tests play functions of their own.
	Functions map[string]app.Constructor
	// APIOptions are added to the functions' AWS configuration, inside OnDynamoDB's view: tests make calls fail with them.
	APIOptions []func(*middleware.Stack) error
}

// Running is a service that answers: what local.json says.
type Running struct {
	BaseURL string `json:"baseUrl"`
	seed.Credentials
	DynamoDB DynamoDB `json:"dynamodb"`

	EnginePID int `json:"-"` // at the start; 0: an engine that was running already
}

// DynamoDB is where the data are.
type DynamoDB struct {
	Endpoint string            `json:"endpoint"`
	Tables   map[string]string `json:"tables"` // logical id → name
}

func (c Config) withDefaults() (Config, error) {
	if c.Port < 0 || c.Port > 65535 {
		return c, fmt.Errorf("PORT %d is no port: choose one from 1 to 65535, or 0 for a free one", c.Port)
	}
	if c.Engine == "" {
		c.Engine = engine.Dynoxide
	}
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
	return c, nil
}
