package serviceaccount

import (
	_ "embed"
	"math"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// limitVariable is the environment variable with the maximum number of service accounts.
const limitVariable = "MAX_SERVICE_ACCOUNTS"

// NewCreateFunction returns the handler of functions/create-service-account.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, log, err := eventlog.Open(env, "USERS_TABLE", "IDENTIFIERS_TABLE")
	if err != nil {
		return nil, err
	}
	limit, err := env.Number(limitVariable, 1, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	accounts := user.NewStore(client, tables, log)
	accounts.SetLimit(limit)
	return env.API(access.Require(access.Has(access.Admin), Create(accounts, env.Now))), nil
}

// Create serves POST /api/admin/service-account.
func Create(accounts *user.Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		rootRole, _ := body.Int("rootRole")
		created := datetime.Milliseconds(now())
		account, err := accounts.Add(r.Context(), user.User{
			Kind: user.ServiceAccount, Name: body.Text("name"), Username: body.Text("username"), Role: roleOf(rootRole),
			CreatedAt: &created,
		})
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusCreated, newResponse(Account{User: account}))
	}
}
