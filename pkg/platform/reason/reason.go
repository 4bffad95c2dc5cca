// Package reason carries the reason of a change, which the caller of an operation gives, to the events of the change.
package reason

import "context"

type key struct{}

// With returns a copy of ctx whose changes are recorded with a reason; "": none.
func With(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, key{}, text)
}

// From returns the reason that ctx contains, or "".
func From(ctx context.Context) string {
	text, _ := ctx.Value(key{}).(string)
	return text
}
