package authorizer

import (
	"context"
	"errors"
	"log/slog"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/oidc"
)

// jwt finds the person who has signed in at the issuer.
func (a *Authenticator) jwt(ctx context.Context, token string) (access.Principal, error) {
	claims, err := a.Issuer.Verify(ctx, token)
	if rejected, ok := errors.AsType[*oidc.RejectedError](err); ok {
		return a.reject(ctx, slog.String("reason", string(rejected.Reason)))
	}
	if err != nil {
		return access.Principal{}, err
	}
	u, directory, err := a.Store.users.SignInWithDirectory(ctx, user.SignIn{
		Identity: user.Identity{Issuer: claims.Issuer, Subject: claims.Subject}, Email: claims.Email,
		EmailVerified: claims.EmailVerified, Name: claims.Name,
		DefaultRole: a.DefaultRole, Now: a.Now(), Logger: a.Logger,
	})
	subject := slog.String("subjectHash", claims.SubjectHash())
	switch {
	case apierror.KindOf(err) == apierror.AuthenticationRequired:
		return a.reject(ctx, slog.String("reason", apierror.From(err).Message), subject)
	case err != nil:
		return access.Principal{}, err
	case u.Disabled:
		return a.reject(ctx, slog.String("reason", "the user is disabled"), subject)
	}
	if err := a.Store.users.SetClaim(ctx, u, directory.Mapped(claims.Groups), a.Now()); err != nil {
		return access.Principal{}, err
	}
	p := u.Principal(directory, claims.Groups)
	p.Name = u.RecordedName()
	return p, nil
}

// reject logs why a JWT is rejected: the reason and, only if its signature was verified, the hash of its subject. The
// log does not contain the token, and the response does not contain the reason.
func (a *Authenticator) reject(ctx context.Context, attributes ...slog.Attr) (access.Principal, error) {
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "a JWT is rejected", attributes...)
	return access.Principal{}, errInvalid
}
