package authorizer_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/issuer"
)

const (
	api       = "arn:aws:execute-api:eu-west-1:123456789012:a1b2c3d4e5"
	requestID = "1758f514-53c4-5cb6-951a-2a955170e74e"
	// extendedID is the id of the request that the client cannot choose.
	extendedID = "AAAA1758F514DoEF1A="
)

// now is the time of all tests here.
func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// fixture is a database with users, and an issuer.
type fixture struct {
	*database.Database
	users     *user.Store
	pats      *pat.Store
	apiTokens *apitoken.Store
	issuer    *issuer.Issuer
}

// newFixture creates the users 1 (Admin), 2 (Editor) and 3 (Viewer), whose names are their roles, and the users 11, 12
// (linked to an identity) and 14 (disabled) with e-mail addresses.
func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := database.New(tb)
	f := &fixture{db, user.NewStore(db.Client, db.Tables, db.Log()), pat.NewStore(db.Client, db.Tables, db.Log(), rand.Reader),
		apitoken.NewStore(db.Client, db.Tables, db.Log()), issuer.New(tb)}
	for _, u := range []user.User{{ID: 1, Role: access.RoleAdmin}, {ID: 2, Role: access.RoleEditor},
		{ID: 3, Role: access.RoleViewer}, {ID: 11, Role: access.RoleEditor, Email: "ada@example.com"},
		{ID: 12, Role: access.RoleEditor, Email: "linked@example.com"},
		{ID: 14, Role: access.RoleEditor, Email: "disabled@example.com", Disabled: true}} {
		u.Kind, u.Name = user.Person, u.Role.String()
		assert.OK(tb, f.users.Create(tb.Context(), u))
	}
	f.Scan(tb, f.Tables[accesstable.Table]) // the first use creates the table, which a test in simulated time cannot do
	_, err := f.users.Link(tb.Context(), 12, user.Identity{Issuer: "https://earlier.example.com", Subject: "248289761001"})
	assert.OK(tb, err)
	return f
}

// pat creates a PAT that expires after the time. Its ID is the number of PATs.
func (f *fixture) pat(tb testing.TB, userID int64, life time.Duration) access.Token {
	tb.Helper()
	_, token, err := f.pats.Create(tb.Context(), pat.PAT{UserID: userID, Description: rand.Text(), CreatedAt: now(),
		ExpiresAt: now().Add(life)}, pat.Owner{Limit: pat.MostPerOwner})
	assert.OK(tb, err)
	return token
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
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	config := oidc.Config{Issuer: f.issuer.URL, ClientID: issuer.ClientID, Now: now, Logger: logger,
		Transport: f.issuer.Transport(), FetchTimeout: time.Minute}
	verifier, err := oidc.New(config)
	assert.OK(tb, err)
	return &authorizer.Authenticator{
		Store: authorizer.NewStore(client, f.Tables, f.LogThrough(client)), Issuer: verifier, Pipelines: oidc.NewIssuers(config),
		Now: now, Logger: logger,
	}, tap, &log
}

// denied is the result of authorize for an invalid credential.
const denied = "anonymous Deny map[]"

// authorize returns the principal, the effect and the context in the response to a request with Authorization headers.
func authorize(tb testing.TB, a *authorizer.Authenticator, headers ...string) string {
	tb.Helper()
	got, err := a.Authorize(tb.Context(), request(headers...))
	assert.OK(tb, err)
	return fmt.Sprint(got.PrincipalID, " ", got.PolicyDocument.Statement[0].Effect, " ", got.Context)
}

// wrongSecret returns the text of a token with another secret.
func wrongSecret(t access.Token) string {
	text := t.Reveal()
	return text[:len(text)-43] + strings.Repeat("A", 43)
}

// request is the event of a request with these Authorization headers, in lower case as HTTP/2 sends them.
func request(values ...string) authorizer.Request {
	var event authorizer.Request
	event.MethodArn = api + "/dev/PUT/api/admin/feedback/a%2Fb"
	event.Headers, event.MultiValueHeaders = map[string]string{"accept": "*/*"}, map[string][]string{"accept": {"*/*"}}
	event.RequestContext.RequestID, event.RequestContext.ExtendedRequestID = requestID, extendedID
	if len(values) > 0 {
		event.Headers["authorization"], event.MultiValueHeaders["authorization"] = values[len(values)-1], values
	}
	return event
}
