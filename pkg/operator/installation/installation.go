// Package installation opens an installation of the service for its operator: a CloudFormation stack, or the local
// service of this machine.
package installation

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/seed"
)

// DefaultTokenLimit is the template's default of MaxTokensPerAccount.
const DefaultTokenLimit = 10

// defaultGroupsDays is the template's default of GroupsMaxAgeDays.
const defaultGroupsDays = 30

// Installation is an open installation. It is safe for concurrent use.
type Installation struct {
	Name       string // for messages: `the stack "x" in eu-west-1`
	Option     string // selects the installation on the command line: "--stack x"
	BaseURL    string // of the API, without a slash at the end
	Tables     dynamo.Tables
	TokenLimit int // the maximum number of tokens of an account

	// AccountLimit is the maximum number of service accounts.
	AccountLimit int64

	// ClientTokenLimit is the maximum number of client tokens.
	ClientTokenLimit int

	// FeatureLimit is the maximum number of toggles; 0: no limit.
	FeatureLimit int64

	// MaxTokenDays is the maximum number of days from the creation to the expiry of a token; 0: no limit.
	MaxTokenDays int

	// GroupsMaxAgeDays is for how many days what an ID token said about groups counts.
	GroupsMaxAgeDays int64

	Stack       Stack  // zero for the local service
	EventSource string // the source of the events on its bus; empty: there is no bus
	LogDays     int    // how long the event log keeps events; 0: forever
	Issuer      string // the OpenID Connect issuer of people; empty: none
	ClientID    string // at the issuer
	Client      *dynamodb.Client

	// Operator is who makes changes, as events name them: "operator", and the ARN of the AWS identity or the local user.
	Operator string

	webhookURL, webhookSecret, webhookEvents string // of the local service
	adminToken                               string // of the local service; empty: the admin was deleted
}

// Stack is a deployed CloudFormation stack.
type Stack struct {
	Name       string
	Status     string
	Parameters map[string]string
	Config     aws.Config // for calls of other services
}

// IsLocal reports whether the installation is the local service.
func (i *Installation) IsLocal() bool { return i.Stack.Name == "" }

// Initialization returns the marker of the installation's initialization, or an error with the status Uninitialized.
func (i *Installation) Initialization(ctx context.Context) (seed.Marker, error) {
	marker, ok, err := seed.ReadMarker(ctx, i.Client, i.Tables)
	if err != nil || ok {
		return marker, err
	}
	types, err := featuretype.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return seed.Marker{}, err
	}
	fields, err := contextfield.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return seed.Marker{}, err
	}
	advice := fmt.Sprintf("run `toggleadmin init %s`", i.Option)
	if i.IsLocal() {
		advice = "restart `make run`, which initializes it"
	}
	if len(types)+len(fields) > 0 {
		return seed.Marker{}, exitstatus.Errorf(exitstatus.Uninitialized,
			"%s is only partly initialized: it has %d feature types and %d context fields, "+
				"but the table PersonalAccessTokens has no marker: %s, which adds what is missing and changes nothing else",
			i.Name, len(types), len(fields), advice)
	}
	return seed.Marker{}, exitstatus.Errorf(exitstatus.Uninitialized, "%s is not initialized, its tables are empty: %s",
		i.Name, advice)
}
