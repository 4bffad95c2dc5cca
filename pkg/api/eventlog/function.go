package eventlog

import (
	"errors"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	tableVariable = "EVENTS_TABLE"
	daysVariable  = "EVENT_LOG_DAYS"
)

// Open returns the DynamoDB client, the tables that the given variables name, and the log to which a function writes.
// Its error names every variable that is missing or malformed.
func Open(env *app.Env, variables ...string) (*dynamodb.Client, dynamo.Tables, *Log, error) {
	client, tables, err := env.Tables(append(variables, tableVariable)...)
	days, daysErr := env.Number(daysVariable, 0, MaxDays)
	if err := errors.Join(err, daysErr); err != nil {
		return nil, dynamo.Tables{}, nil, err
	}
	return client, tables, New(client, tables, env.Now, int(days)), nil
}

// MaxDays is the maximum number of days for which events are kept, ten years; 0 keeps them forever.
const MaxDays = 3650

// DefaultDays is the template's default of EventLogDays.
const DefaultDays = 400

// NewSearchFunction returns the handler of functions/search-events.
func NewSearchFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables(tableVariable)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.IsAnyone, Search(New(client, tables, env.Now, 0), SearchTime))), nil
}
