package authorizer_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

const (
	secret      = "0123456789-_0123456789-_0123456789-_012345A"
	otherSecret = "9123456789-_0123456789-_0123456789-_012345A"
	methodARN   = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/dev/PUT/api/admin/feedback/a%2Fb"
	requestID   = "1758f514-53c4-5cb6-951a-2a955170e74e"
)

// now is the time of all tests here.
func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// patToken is the token of a user's PAT, with the secret that is stored of all of them here.
func patToken(userID, id int64) string {
	return "user:v2_" + auth.PATSelector(userID, id).String() + "_" + secret
}

func apiToken(id int64) string { return "*:*.v2_" + auth.PATSelector(0, id).String() + "_" + secret }

// fakeTokens holds credentials in memory, can fail, and writes down how it was called.
type fakeTokens struct {
	mu        sync.Mutex
	pats      map[[2]int64]pat.PAT
	users     map[int64]user.User
	apiTokens map[auth.Selector]apitoken.APIToken
	calls     []string
	fault     func(ctx context.Context) error // of reads; may be nil
	seen      func(ctx context.Context) error // of the write, before it is made; may be nil
}

var _ authorizer.Tokens = (*fakeTokens)(nil)

// newFake holds the users 1 (Admin), 2 (Editor), 3 (Viewer) and 4 (a service account), a PAT with the user's own id of each, seen this very
// moment, and the API token 1.
func newFake(tb testing.TB) *fakeTokens {
	tb.Helper()
	token, err := auth.ParseToken(patToken(1, 1))
	if err != nil {
		tb.Fatal(err)
	}
	f := &fakeTokens{pats: map[[2]int64]pat.PAT{}, users: map[int64]user.User{}, apiTokens: map[auth.Selector]apitoken.APIToken{}}
	for id, role := range map[int64]auth.Role{1: auth.RoleAdmin, 2: auth.RoleEditor, 3: auth.RoleViewer, 4: auth.RoleEditor} {
		seen := now()
		f.users[id] = user.User{ID: id, Kind: user.Person, Role: role}
		f.pats[[2]int64{id, id}] = pat.PAT{ID: id, UserID: id, ExpiresAt: now().Add(time.Hour), SeenAt: &seen, Verifier: token.Verifier()}
	}
	selector := auth.PATSelector(0, 1)
	f.apiTokens[selector] = apitoken.APIToken{Selector: selector, Name: "ci", Verifier: token.Verifier()}
	return f
}

// changePAT changes the PAT 1 of user 1.
func (f *fakeTokens) changePAT(change func(*pat.PAT)) {
	p := f.pats[[2]int64{1, 1}]
	change(&p)
	f.pats[[2]int64{1, 1}] = p
}

func (f *fakeTokens) APIToken(ctx context.Context, selector auth.Selector) (apitoken.APIToken, error) {
	f.mu.Lock()
	f.calls = append(f.calls, "APIToken "+selector.String())
	token, ok := f.apiTokens[selector]
	f.mu.Unlock()
	if f.fault != nil {
		return apitoken.APIToken{}, f.fault(ctx)
	}
	if !ok {
		return apitoken.APIToken{}, fmt.Errorf("get an API token: %w", apitoken.ErrNotFound)
	}
	return token, nil
}

func (f *fakeTokens) PAT(ctx context.Context, userID, id int64) (pat.PAT, user.User, error) {
	f.mu.Lock()
	f.calls = append(f.calls, fmt.Sprintf("PAT %d %d", userID, id))
	p, ok := f.pats[[2]int64{userID, id}]
	owner, hasOwner := f.users[userID]
	f.mu.Unlock()
	switch {
	case f.fault != nil:
		return pat.PAT{}, user.User{}, f.fault(ctx)
	case !ok:
		return pat.PAT{}, user.User{}, fmt.Errorf("get a PAT: %w", pat.ErrNotFound)
	case !hasOwner:
		return p, user.User{}, fmt.Errorf("get a user: %w", user.ErrNotFound) // with the PAT: it must not count
	}
	return p, owner, nil
}

func (f *fakeTokens) Seen(ctx context.Context, userID, id int64, at, before time.Time) error {
	f.mu.Lock()
	f.calls = append(f.calls, fmt.Sprintf("Seen %d %d at %s unless after %s", userID, id, at.Format(time.TimeOnly), before.Format(time.TimeOnly)))
	f.mu.Unlock()
	if f.seen != nil {
		if err := f.seen(ctx); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pats[[2]int64{userID, id}]
	p.SeenAt = &at
	f.pats[[2]int64{userID, id}] = p
	return nil
}

func authenticator(f *fakeTokens) (*authorizer.Authenticator, *bytes.Buffer) {
	var log bytes.Buffer
	return &authorizer.Authenticator{Tokens: f, Now: now, Logger: slog.New(slog.NewJSONHandler(&log, nil))}, &log
}

// request is the event of a request with these Authorization headers, in lower case as HTTP/2 sends them.
func request(values ...string) events.APIGatewayCustomAuthorizerRequestTypeRequest {
	event := events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: methodARN, Resource: "/api/admin/feedback/{id}", Path: "/api/admin/feedback/a%2Fb", HTTPMethod: "PUT",
		Headers: map[string]string{"accept": "*/*"}, MultiValueHeaders: map[string][]string{"accept": {"*/*"}},
	}
	event.RequestContext.RequestID = requestID
	if len(values) > 0 {
		event.Headers["authorization"], event.MultiValueHeaders["authorization"] = values[len(values)-1], values
	}
	return event
}

// policy is an authorizer's answer for the whole stage.
func policy(principalID, effect string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principalID,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{{
			Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{"arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5/dev/*"},
		}}},
		Context: context,
	}
}
