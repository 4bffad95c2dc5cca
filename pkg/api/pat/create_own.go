package pat

import (
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// NewCreateOwnFunction returns the handler of functions/create-own-token.
func NewCreateOwnFunction(env *app.Env) (lambda.Handler, error) {
	return newCreateFunction(env, access.IsUser, CreateOwn)
}

// CreateOwn serves POST /api/admin/user/tokens.
func CreateOwn(pats *Store, now func() time.Time, limits Limits) (lambdahttp.HandlerFunc, error) {
	c, err := newCreator(pats, now, AnyKind, limits)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := c.read(r)
		if err != nil {
			return err
		}
		p.UserID = access.PrincipalFrom(r.Context()).UserID
		created, err := c.create(r.Context(), p)
		if errors.Is(err, ErrNoOwner) { // the account was deleted after the request was authenticated
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusCreated, created)
	}, nil
}
