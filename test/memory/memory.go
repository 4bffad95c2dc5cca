package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Hooks make a Memory fail. They are called by many goroutines at once, outside the lock; nil ones let everything through. An error that
// is no *apierror.Error becomes one of kind Unavailable, as a fault below the real stores is.
type Hooks struct {
	Read  func(operation string) error                   // before a read; operation is Store.Method: "Users.Get"
	Write func(operation string) (apply bool, err error) // before a write; with an error, apply says whether it persists all the same
}

// Memory is all tables. Its stores share them, and are safe for concurrent use.
type Memory struct {
	FeatureTypes  *FeatureTypes
	ContextFields *ContextFields
	Feedback      *Feedback
	Users         *Users
	PATs          *PATs
	APITokens     *APITokens
	Tokens        *Tokens
}

type tables struct {
	hooks Hooks

	mu        sync.Mutex
	types     map[string]featuretype.FeatureType
	fields    map[string]contextfield.ContextField
	feedback  map[feedbackKey]feedback.Feedback
	users     map[int64]user.User
	lastUser  int64
	pats      map[patKey]pat.PAT
	lastPAT   int64
	apiTokens map[auth.Selector]apitoken.APIToken
}

// New makes empty tables.
func New(hooks Hooks) *Memory {
	t := &tables{
		hooks: hooks, types: map[string]featuretype.FeatureType{}, fields: map[string]contextfield.ContextField{},
		feedback: map[feedbackKey]feedback.Feedback{}, users: map[int64]user.User{}, pats: map[patKey]pat.PAT{},
		apiTokens: map[auth.Selector]apitoken.APIToken{},
	}
	return &Memory{
		FeatureTypes: &FeatureTypes{t}, ContextFields: &ContextFields{t}, Feedback: &Feedback{t}, Users: &Users{t}, PATs: &PATs{t},
		APITokens: &APITokens{t}, Tokens: &Tokens{t},
	}
}

// read runs f under the lock.
func (t *tables) read(ctx context.Context, operation string, f func() error) error {
	if err := ctx.Err(); err != nil {
		return apierror.NewUnavailable(fmt.Errorf("%s: %w", operation, err))
	}
	if t.hooks.Read != nil {
		if err := t.hooks.Read(operation); err != nil {
			return unavailable(err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return f()
}

// write runs f under the lock, unless the hook says that it fails without a trace.
func (t *tables) write(ctx context.Context, operation string, f func() error) error {
	if err := ctx.Err(); err != nil {
		return apierror.NewUnavailable(fmt.Errorf("%s: %w", operation, err))
	}
	var fault error
	if t.hooks.Write != nil {
		apply, err := t.hooks.Write(operation)
		if fault = err; err != nil && !apply {
			return unavailable(err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := f(); fault == nil {
		return err
	}
	return unavailable(fault)
}

func unavailable(err error) error {
	if _, answers := errors.AsType[*apierror.Error](err); answers {
		return err
	}
	return apierror.NewUnavailable(err)
}
