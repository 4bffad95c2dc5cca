package pat

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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

const limitVariable = "MAX_TOKENS_PER_ACCOUNT"

// NewCreateFunction returns the handler of functions/create-service-account-token.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	text, err := env.Var(limitVariable)
	if err != nil {
		return nil, err
	}
	limit, err := ParseLimit(text)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s %w", limitVariable, err)
	}
	store, err := newStore(env)
	if err != nil {
		return nil, err
	}
	handler, err := Create(store, env.Now, limit)
	if err != nil {
		return nil, err
	}
	return env.API(auth.Require(auth.CreateServiceAccountToken, handler)), nil
}

// ParseLimit reads the maximum number of tokens per service account: 1 to MostPerOwner.
func ParseLimit(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MostPerOwner {
		return 0, fmt.Errorf("must be a number from 1 to %d, not %q", MostPerOwner, text)
	}
	return n, nil
}

// response is patSchema in api/openapi.yaml.
type response struct {
	ID          int64   `json:"id"`
	Secret      string  `json:"secret"`
	CreatedAt   string  `json:"createdAt"`
	SeenAt      *string `json:"seenAt"` // null: never used
	UserID      int64   `json:"userId"`
	Description string  `json:"description"`
	ExpiresAt   string  `json:"expiresAt"`
}

// Create serves POST /api/admin/service-account/{id}/token. limit is the maximum number of tokens per account, including expired ones.
func Create(pats *Store, now func() time.Time, limit int) (lambdahttp.HandlerFunc, error) {
	schema, err := jsonbody.Compile(createSchema)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		created := datetime.Milliseconds(now())
		body, err := schema.Read(r, func(body jsonbody.Object) string {
			if expires := body.Time("expiresAt"); expires != nil && (PAT{ExpiresAt: *expires}).Expired(created) {
				return fmt.Sprintf("The `/body/expiresAt` property must be in the future; you sent %q.", apierror.Echo(body.Text("expiresAt")))
			}
			return ""
		})
		if err != nil {
			return err
		}
		userID, err := user.PathID(r)
		if err != nil {
			return err
		}
		p, token, err := pats.Create(r.Context(), PAT{
			UserID: userID, Description: body.Text("description"), ExpiresAt: *body.Time("expiresAt"), CreatedAt: created,
		}, Owner{Kind: user.ServiceAccount, Limit: limit})
		switch {
		case errors.Is(err, ErrNoOwner):
			return user.NoServiceAccount(r)
		case errors.Is(err, ErrTooMany):
			return apierror.New(apierror.NoAccess, fmt.Sprintf("The service account already has %d tokens, the most that it may have.", limit))
		case errors.Is(err, ErrDescriptionExists):
			return apierror.New(apierror.NameExists, "The service account already has a token with this description.")
		}
		if err != nil {
			return err
		}
		location := r.URL.JoinPath("../..", strconv.FormatInt(p.UserID, 10), "token", strconv.FormatInt(p.ID, 10))
		w.Header().Set("Location", location.String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, response{
			ID: p.ID, Secret: token.Reveal(), CreatedAt: datetime.Format(p.CreatedAt), UserID: p.UserID,
			Description: p.Description, ExpiresAt: datetime.Format(p.ExpiresAt),
		})
	}, nil
}
