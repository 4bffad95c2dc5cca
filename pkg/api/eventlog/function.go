package eventlog

import (
	"errors"
	"fmt"
	"strconv"

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
	text, daysErr := env.Var(daysVariable)
	days := 0
	if daysErr == nil {
		if days, daysErr = ParseDays(text); daysErr != nil {
			daysErr = fmt.Errorf("the environment variable %s %w", daysVariable, daysErr)
		}
	}
	if err := errors.Join(err, daysErr); err != nil {
		return nil, dynamo.Tables{}, nil, err
	}
	return client, tables, New(client, tables, env.Now, days), nil
}

// maxDays is the maximum number of days for which events are kept, ten years.
const maxDays = 3650

// ParseDays reads the number of days for which events are kept: 0 (forever) to 3650.
func ParseDays(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxDays {
		return 0, fmt.Errorf("must be a number from 0 to %d, not %q", maxDays, text)
	}
	return n, nil
}

// NewSearchFunction returns the handler of functions/search-events.
func NewSearchFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables(tableVariable)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(access.Has(access.Admin), Search(New(client, tables, env.Now, 0), SearchTime))), nil
}
