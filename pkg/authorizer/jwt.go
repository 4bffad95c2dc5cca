package authorizer

import (
	"context"
	"errors"
	"log/slog"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/oidc"
	"toggleadmin/pkg/user"
)

// jwt finds the person who has signed in at the issuer.
func (a *Authenticator) jwt(ctx context.Context, token string) (auth.Principal, error) {
	claims, err := a.Issuer.Verify(ctx, token)
	if refused, ok := errors.AsType[*oidc.RefusedError](err); ok {
		return a.refuse(ctx, string(refused.Reason), refused.SubjectHash)
	}
	if err != nil {
		return auth.Principal{}, err
	}
	u, err := a.Store.SignIn(ctx, user.SignIn{
		Identity: user.Identity{Issuer: claims.Issuer, Subject: claims.Subject}, Email: claims.Email, Name: claims.Name,
		DefaultRole: a.DefaultRole, Now: a.Now(), Logger: a.Logger,
	})
	switch {
	case errors.Is(err, user.ErrUnknownIdentity), errors.Is(err, user.ErrAmbiguousEmail), errors.Is(err, user.ErrEmailExists):
		return a.refuse(ctx, err.Error(), claims.SubjectHash())
	case err != nil:
		return auth.Principal{}, err
	case u.Disabled:
		return a.refuse(ctx, "the user is disabled", claims.SubjectHash())
	}
	return auth.UserPrincipal(u.ID, u.Role), nil
}

// refuse logs why a JWT is refused. The response does not contain the reason, and the log does not contain the token.
func (a *Authenticator) refuse(ctx context.Context, reason, subjectHash string) (auth.Principal, error) {
	a.Logger.InfoContext(ctx, "a JWT is refused", slog.String("reason", reason), slog.String("subjectHash", subjectHash))
	return auth.Principal{}, errInvalid
}
