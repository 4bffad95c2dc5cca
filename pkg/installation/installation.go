package installation

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/outcome"
	"toggleadmin/pkg/seed"
)

// Installation is an opened installation. It is safe for concurrent use.
type Installation struct {
	Name       string // as people know it: `stack "x" in eu-west-1`
	Option     string // how the command line names it: "--stack x"
	BaseURL    string // of the API, without a slash at its end
	Tables     dynamo.Tables
	TokenLimit int   // how many tokens a service account may have
	Stack      Stack // zero for the local service
	Client     *dynamodb.Client
}

// Stack is what CloudFormation says of a stack.
type Stack struct {
	Name       string // empty: it is the local service
	Status     string
	Parameters map[string]string
	Config     aws.Config // to ask other services with
}

// IsLocal says whether it is the service that runs on this machine.
func (i *Installation) IsLocal() bool { return i.Stack.Name == "" }

// MustBeInitialised gives an error of kind Uninitialised unless the installation is. One GetItem where it is.
func (i *Installation) MustBeInitialised(ctx context.Context) error {
	_, ok, err := seed.ReadMarker(ctx, i.Client, i.Tables)
	if err != nil || ok {
		return err
	}
	types, err := featuretype.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return err
	}
	fields, err := contextfield.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return err
	}
	remedy := fmt.Sprintf("run `toggleadmin init %s`", i.Option)
	if i.IsLocal() {
		remedy = "restart `make run`, which does it"
	}
	if len(types)+len(fields) > 0 {
		return outcome.New(outcome.Uninitialised, "%s is initialised only half: %d feature types and %d context fields are there, the mark of a "+
			"whole initialisation in the table PersonalAccessTokens is not: %s, it adds what is missing and changes nothing else",
			i.Name, len(types), len(fields), remedy)
	}
	return outcome.New(outcome.Uninitialised, "%s is not initialised, its tables are empty: %s", i.Name, remedy)
}
