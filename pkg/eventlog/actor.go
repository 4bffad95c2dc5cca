package eventlog

import (
	"context"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apigateway"
)

// Actor is who makes a change.
type Actor struct {
	// Name is "API token NAME", "operator NAME" or "system". Events do not contain the name of a user: it is empty until
	// user.Names sets it.
	Name             string
	UserID           int64  // of a person or service account; 0: none
	IsServiceAccount bool   // whether the user is a service account, not a person
	TokenID          string // the id of the PAT or API token that was used; "": none
}

// ActorKind is a kind of actors. Actors of two kinds can have the same name.
type ActorKind string

// The kinds of actors.
const (
	KindUser           ActorKind = "user" // a person
	KindServiceAccount ActorKind = "service-account"
	KindAPIToken       ActorKind = "api-token"
	KindOperator       ActorKind = "operator"
	KindSystem         ActorKind = "system"
)

// Kind returns the kind of the actor.
func (a Actor) Kind() ActorKind {
	switch {
	case a.IsServiceAccount:
		return KindServiceAccount
	case a.UserID != 0:
		return KindUser
	case a.TokenID != "":
		return KindAPIToken
	case a.Name == System.Name:
		return KindSystem
	}
	return KindOperator
}

// System is the actor of changes that the passing of time, a stream or a schedule causes.
var System = Actor{Name: "system"} //nolint:gochecknoglobals // never changed

type actorKey struct{}

// WithActor returns a copy of ctx whose changes are recorded as made by a.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor that ctx contains, otherwise the principal of an API request, otherwise System.
func ActorFrom(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	if p := access.PrincipalFrom(ctx); p.ID != "" {
		return Actor{Name: p.Name, UserID: p.UserID, IsServiceAccount: p.IsServiceAccount, TokenID: p.TokenID}
	}
	return System
}

type changeRequestKey struct{}

// WithChangeRequest returns a copy of ctx whose changes are recorded as made by applying a change request.
func WithChangeRequest(ctx context.Context, id int64) context.Context {
	return context.WithValue(ctx, changeRequestKey{}, id)
}

func changeRequestFrom(ctx context.Context) int64 {
	id, _ := ctx.Value(changeRequestKey{}).(int64)
	return id
}

// requestIDFrom returns the id of the API request, or "".
func requestIDFrom(ctx context.Context) string { return apigateway.RequestFrom(ctx).ID }
