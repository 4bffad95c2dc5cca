package pat

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

const (
	limitVariable = "MAX_TOKENS_PER_ACCOUNT"
	daysVariable  = "MAX_TOKEN_DAYS"
)

// Limits are the limits of new tokens.
type Limits struct {
	PerAccount int // the maximum number of tokens of an account, including expired ones
	Days       int // from a token's creation to its expiry; 0: no limit
}

// NewCreateFunction returns the handler of functions/create-service-account-token.
func NewCreateFunction(env *app.Env) (lambda.Handler, error) {
	return newCreateFunction(env, access.Has(access.Admin), Create)
}

// newCreateFunction returns the handler of an operation that creates a token.
func newCreateFunction(
	env *app.Env, requirement access.Requirement,
	newHandler func(*Store, func() time.Time, Limits) (lambdahttp.HandlerFunc, error),
) (lambda.Handler, error) {
	limits, err := readLimits(env)
	if err != nil {
		return nil, err
	}
	store, err := newStore(env)
	if err != nil {
		return nil, err
	}
	handler, err := newHandler(store, env.Now, limits)
	if err != nil {
		return nil, err
	}
	return env.API(access.Require(requirement, handler)), nil
}

func readLimits(env *app.Env) (Limits, error) {
	perAccount, err := env.Var(limitVariable)
	days, daysErr := env.Var(daysVariable)
	if err := errors.Join(err, daysErr); err != nil {
		return Limits{}, err
	}
	var limits Limits
	if limits.PerAccount, err = ParseLimit(perAccount); err != nil {
		return Limits{}, fmt.Errorf("the environment variable %s %w", limitVariable, err)
	}
	if limits.Days, err = ParseDays(days); err != nil {
		return Limits{}, fmt.Errorf("the environment variable %s %w", daysVariable, err)
	}
	return limits, nil
}

// newStore returns a Store for the tables of an environment, which records its changes.
func newStore(env *app.Env) (*Store, error) {
	client, tables, log, err := eventlog.Open(env, "PERSONAL_ACCESS_TOKENS_TABLE", "USERS_TABLE")
	if err != nil {
		return nil, err
	}
	return NewStore(client, tables, log, env.Random), nil
}

// ParseLimit reads the maximum number of tokens per account: 1 to MostPerOwner.
func ParseLimit(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MostPerOwner {
		return 0, fmt.Errorf("must be a number from 1 to %d, not %q", MostPerOwner, text)
	}
	return n, nil
}

// ParseDays reads the maximum number of days from the creation to the expiry of a token: 0 to access.MaxDays. 0 is no
// limit.
func ParseDays(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > access.MaxDays {
		return 0, fmt.Errorf("must be a number of days from 0, which is no limit, to %d, not %q", access.MaxDays, text)
	}
	return n, nil
}

// Create serves POST /api/admin/service-account/{id}/token.
func Create(pats *Store, now func() time.Time, limits Limits) (lambdahttp.HandlerFunc, error) {
	c, err := newCreator(pats, now, user.ServiceAccount, limits)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := c.read(r)
		if err != nil {
			return err
		}
		if p.UserID, err = user.PathID(r); err != nil {
			return err
		}
		created, err := c.create(r.Context(), p)
		if errors.Is(err, ErrNoOwner) {
			return user.NoServiceAccount(r)
		}
		if err != nil {
			return err
		}
		location := r.URL.JoinPath("../..", strconv.FormatInt(created.UserID, 10), "token", strconv.FormatInt(created.ID, 10))
		w.Header().Set("Location", location.String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, created)
	}, nil
}

// creator creates the tokens that requests describe.
type creator struct {
	pats   *Store
	now    func() time.Time
	owner  Owner
	days   int
	schema *jsonbody.Schema
}

func newCreator(pats *Store, now func() time.Time, kind user.Kind, limits Limits) (*creator, error) {
	schema, err := jsonbody.Compile(createSchema)
	if err != nil {
		return nil, err
	}
	return &creator{pats, now, Owner{Kind: kind, Limit: limits.PerAccount}, limits.Days, schema}, nil
}

// read returns the token that the body of a request describes, without its owner.
func (c *creator) read(r *http.Request) (PAT, error) {
	created := datetime.Milliseconds(c.now())
	body, err := c.schema.Read(r, func(body jsonbody.Object) string {
		expires := body.Time("expiresAt")
		if expires == nil {
			return ""
		}
		var problem string
		if latest, ok := access.LatestExpiry(created, c.days); ok && expires.After(latest) {
			problem = fmt.Sprintf("at most %d days from now", c.days)
		} else if (PAT{ExpiresAt: *expires}).Expired(created) {
			problem = "in the future"
		} else {
			return ""
		}
		return fmt.Sprintf("The `/body/expiresAt` property must be %s; you sent %q.", problem,
			apierror.Echo(body.Text("expiresAt")))
	})
	if err != nil {
		return PAT{}, err
	}
	return PAT{Description: body.Text("description"), ExpiresAt: *body.Time("expiresAt"), CreatedAt: created}, nil
}

// createdResponse is createdPatSchema in api/openapi.yaml.
type createdResponse struct {
	Response
	Secret string `json:"secret"`
}

// create creates a token. Its errors are for the client, except ErrNoOwner.
func (c *creator) create(ctx context.Context, p PAT) (createdResponse, error) {
	p, token, err := c.pats.Create(ctx, p, c.owner)
	switch {
	case errors.Is(err, ErrTooMany):
		err = apierror.New(apierror.NoAccess, fmt.Sprintf(
			"The account has reached the maximum number of tokens (%d), including expired ones.", c.owner.Limit))
	case errors.Is(err, ErrNoIDsLeft):
		err = apierror.New(apierror.NoAccess, fmt.Sprintf("All ids of tokens, up to %d, are used up.", access.MaxID))
	case errors.Is(err, ErrDescriptionExists):
		err = apierror.New(apierror.NameExists, "The account already has a token with this description.")
	}
	if err != nil {
		return createdResponse{}, err
	}
	return createdResponse{NewResponse(p), token.Reveal()}, nil
}
