package authorizer

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/oidc"
)

// jwt finds the person who has signed in at the issuer, or the service account that trusts a pipeline. A token that has
// the identity of a pipeline never identifies a person, even if it is one of the issuer at which people sign in.
func (a *Authenticator) jwt(ctx context.Context, credential string) (access.Principal, error) {
	token, err := oidc.Parse(credential)
	if err != nil {
		return a.rejectFor(ctx, err)
	}
	if token.Text("iss") == a.Issuer.URL() && !trust.IsPipeline(token) {
		return a.person(ctx, token)
	}
	return a.pipeline(ctx, token)
}

// pipeline finds the service account that trusts a token. Only an issuer that a trust names is asked for keys.
func (a *Authenticator) pipeline(ctx context.Context, token oidc.Token) (access.Principal, error) {
	issuer := token.Text("iss")
	trusts, err := a.Store.trusts.OfIssuer(ctx, issuer)
	if err != nil {
		return access.Principal{}, err
	}
	if len(trusts) == 0 {
		return a.reject(ctx, slog.String("reason", string(oidc.WrongIssuer)))
	}
	trusts = slices.DeleteFunc(trusts, func(t trust.Trust) bool { return !t.Matches(token) })
	if len(trusts) == 0 {
		return a.reject(ctx, slog.String("reason", "no trust has the audience and the claims"))
	}
	found := trusts[0]
	if slices.ContainsFunc(trusts, func(t trust.Trust) bool { return t.AccountID != found.AccountID }) {
		return a.reject(ctx, slog.String("reason", "trusts of several service accounts match"))
	}
	if err := a.Pipelines.Verify(ctx, token, issuer, found.Audience); err != nil {
		return a.rejectFor(ctx, err)
	}
	account, directory, err := a.Store.users.FindWithDirectory(ctx, user.ServiceAccount, found.AccountID)
	switch {
	case apierror.KindOf(err) == apierror.NotFound:
		return a.reject(ctx, slog.String("reason", "the service account does not exist"))
	case err != nil:
		return access.Principal{}, err
	case account.Disabled:
		return a.reject(ctx, slog.String("reason", "the service account is disabled"))
	}
	p := account.Principal(directory, nil)
	p.Name, p.TokenID = account.RecordedName(), found.TokenID(token.Text("sub"))
	return p, nil
}

// person finds the person who has signed in at the issuer.
func (a *Authenticator) person(ctx context.Context, token oidc.Token) (access.Principal, error) {
	claims, err := a.Issuer.Verify(ctx, token)
	if err != nil {
		return a.rejectFor(ctx, err)
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
	if err := a.Store.users.SetClaim(ctx, u, directory.Mapped(claims.Groups), claims.IssuedAt); err != nil {
		return access.Principal{}, err
	}
	p := u.Principal(directory, claims.Groups)
	p.Name = u.RecordedName()
	return p, nil
}

// rejectFor is reject for an error of package oidc.
func (a *Authenticator) rejectFor(ctx context.Context, err error) (access.Principal, error) {
	if rejected, ok := errors.AsType[*oidc.RejectedError](err); ok {
		return a.reject(ctx, slog.String("reason", string(rejected.Reason)))
	}
	return access.Principal{}, err
}

// reject logs why a JWT is rejected: the reason and, only if its signature was verified, the hash of its subject. The
// log does not contain the token, and the response does not contain the reason.
func (a *Authenticator) reject(ctx context.Context, attributes ...slog.Attr) (access.Principal, error) {
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "a JWT is rejected", attributes...)
	return access.Principal{}, errInvalid
}
