package traffic

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
)

// NewGetFunction wires functions/get-traffic-usage.
func NewGetFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("TRAFFIC_TABLE")
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.GetTrafficUsage, Get(NewStore(client, tables[0])))), nil
}
