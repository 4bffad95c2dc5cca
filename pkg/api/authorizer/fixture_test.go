package authorizer_test

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

const (
	api       = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5"
	requestID = "1758f514-53c4-5cb6-951a-2a955170e74e"
)

// now is the time of all tests here.
func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// fixture is a database with users.
type fixture struct {
	*database.Database
	users     *user.Store
	pats      *pat.Store
	apiTokens *apitoken.Store
}

// newFixture creates the users 1 (Admin), 2 (Editor) and 3 (Viewer), whose names are their roles.
func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{db, user.NewStore(db.Client, db.Tables, db.Log()),
		pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader), apitoken.NewStore(db.Client, db.Tables, db.Log())}
	for i, role := range []access.Role{access.RoleAdmin, access.RoleEditor, access.RoleViewer} {
		assert.OK(tb, f.users.Create(tb.Context(), user.User{ID: int64(i + 1), Kind: user.Person, Name: string(role),
			Role: role}))
	}
	return f
}

// pat creates a PAT that expires in a minute and has been seen now, with the given change.
func (f *fixture) pat(tb testing.TB, userID int64, change func(*pat.PAT)) (pat.PAT, access.Token) {
	tb.Helper()
	p := pat.PAT{UserID: userID, Description: rand.Text(), CreatedAt: now(), ExpiresAt: now().Add(time.Minute),
		SeenAt: new(now())}
	if change != nil {
		change(&p)
	}
	created, token, err := f.pats.Create(tb.Context(), p, pat.Owner{Kind: user.Person, Limit: pat.MostPerOwner})
	assert.OK(tb, err)
	if p.SeenAt != nil {
		item := f.Get(tb, f.Tables.PersonalAccessTokens, pat.Key(userID, created.ID))
		item[pat.AttributeSeenAt] = dynamo.Time(*p.SeenAt)
		f.Put(tb, f.Tables.PersonalAccessTokens, item)
	}
	return created, token
}

func (f *fixture) apiToken(tb testing.TB, expires *time.Time) access.Token {
	tb.Helper()
	token, err := f.apiTokens.Create(tb.Context(), apitoken.APIToken{Name: "ci", ExpiresAt: expires}, rand.Reader)
	assert.OK(tb, err)
	return token
}

// authenticator returns an authenticator whose calls to DynamoDB respond handles, and its log.
func (f *fixture) authenticator(tb testing.TB, respond func(*database.Call) (*http.Response, error)) (
	*authorizer.Authenticator, *database.Tap, *bytes.Buffer,
) {
	tb.Helper()
	client, tap := f.Through(tb, respond)
	var log bytes.Buffer
	return &authorizer.Authenticator{
		Store: authorizer.NewStore(client, f.Tables, f.LogThrough(client)), Now: now,
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
	}, tap, &log
}

// principal returns the ID of the principal of a request, which does not fail.
func principal(tb testing.TB, a *authorizer.Authenticator, header string) string {
	tb.Helper()
	got, err := a.Authorize(tb.Context(), request(header))
	assert.OK(tb, err)
	return got.PrincipalID
}

// wrongSecret returns the text of a token with another secret.
func wrongSecret(t access.Token) string {
	text := t.Reveal()
	return text[:len(text)-43] + strings.Repeat("A", 43)
}

// request is the event of a request with these Authorization headers, in lower case as HTTP/2 sends them.
func request(values ...string) events.APIGatewayCustomAuthorizerRequestTypeRequest {
	event := events.APIGatewayCustomAuthorizerRequestTypeRequest{
		MethodArn: api + "/dev/PUT/api/admin/feedback/a%2Fb",
		Headers:   map[string]string{"accept": "*/*"}, MultiValueHeaders: map[string][]string{"accept": {"*/*"}},
	}
	event.RequestContext.RequestID = requestID
	if len(values) > 0 {
		event.Headers["authorization"], event.MultiValueHeaders["authorization"] = values[len(values)-1], values
	}
	return event
}

// policy is the authorizer's response for the whole stage dev.
func policy(principalID, effect string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principalID,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{api + "/dev/*"},
			}}},
		Context: context,
	}
}
