package serviceaccount

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/jsonbody"
	"toggleadmin/pkg/lambdahttp"
	"toggleadmin/pkg/user"
)

//go:embed create.schema.json
var createSchema []byte

// NewCreateFunction returns the handler of functions/create-service-account.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	client, tables, err := env.Tables("USERS_TABLE", "IDENTIFIERS_TABLE")
	if err != nil {
		return nil, err
	}
	handler, err := Create(user.NewStore(client, tables), env.Now)
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.Has(auth.Admin), handler)), nil
}

// Create serves POST /api/admin/service-account.
func Create(accounts *user.Store, now func() time.Time) (lambdahttp.HandlerFunc, error) {
	schema, err := jsonbody.Compile(createSchema)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		rootRole, _ := body.Int("rootRole")
		created := datetime.Milliseconds(now())
		account, err := accounts.Add(r.Context(), user.User{
			Kind: user.ServiceAccount, Name: body.Text("name"), Username: body.Text("username"), Role: roleOf(rootRole), CreatedAt: &created,
		})
		if errors.Is(err, user.ErrUsernameExists) {
			return apierror.New(apierror.NameExists, "There is already a service account with this username.")
		}
		if errors.Is(err, user.ErrNoIDsLeft) {
			return apierror.New(apierror.NoAccess, fmt.Sprintf("All ids of accounts, up to %d, are used up.", auth.MaxID))
		}
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusCreated, newResponse(Account{User: account}))
	}, nil
}
