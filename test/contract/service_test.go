package contract_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/openapi"
)

// service is a running service and its tables.
type service struct {
	local.Running
	log       *logLines
	validator *openapi.Validator
	transport http.RoundTripper
	db        *dynamodb.Client
	tables    dynamo.Tables
	events    *eventlog.Log
	users     *user.Store
	pats      *pat.Store
	usernames atomic.Int64 // the number of those of this process
}

func newService(running local.Running, log *logLines, validator *openapi.Validator) *service {
	endpoint, tables := running.DynamoDB.Endpoint, dynamo.TablesByID(running.DynamoDB.Tables)
	db, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(endpoint),
	}, endpoint)
	if err != nil {
		panic(err)
	}
	events := eventlog.New(db, tables, time.Now, 0)
	s := &service{
		Running: running, log: log, validator: validator, transport: &http.Transport{MaxIdleConnsPerHost: 64}, db: db,
		tables: tables,
		events: events, users: user.NewStore(db, tables, events), pats: pat.NewStore(db, tables, events, rand.Reader),
	}
	return s
}

// account creates an account and returns its ID.
func (s *service) account(t *testing.T, kind user.Kind, role access.Role) int64 {
	t.Helper()
	u := user.User{Kind: kind, Name: "account", Role: role, CreatedAt: new(time.Now())}
	if kind == user.ServiceAccount {
		u.Username = fmt.Sprint("account ", s.usernames.Add(1))
	}
	u, err := s.users.Add(t.Context(), u)
	must(t, err)
	return u.ID
}

// person creates a person with a PAT.
func (s *service) person(t *testing.T, role access.Role) (id int64, token string) {
	t.Helper()
	id = s.account(t, user.Person, role)
	_, token = s.pat(t, id, user.Person, time.Hour)
	return id, token
}

func (s *service) admin(t *testing.T) string {
	t.Helper()
	_, token := s.person(t, access.RoleAdmin)
	return token
}

func (s *service) viewer(t *testing.T) string {
	t.Helper()
	_, token := s.person(t, access.RoleViewer)
	return token
}

// pat creates a PAT that expires after a time.
func (s *service) pat(t *testing.T, owner int64, kind user.Kind, expires time.Duration) (id int64, token string) {
	t.Helper()
	p := pat.PAT{UserID: owner, Description: rand.Text(), CreatedAt: time.Now(), ExpiresAt: time.Now().Add(expires)}
	p, created, err := s.pats.Create(t.Context(), p, pat.Owner{Kind: kind, Limit: 10})
	must(t, err)
	return p.ID, created.Reveal()
}

// newAPIToken creates an API token that expires after a time.
func (s *service) newAPIToken(t *testing.T, expires time.Duration) (access.Selector, string) {
	t.Helper()
	unsaved := apitoken.APIToken{Name: rand.Text(), ExpiresAt: new(time.Now().Add(expires))}
	token, err := apitoken.NewStore(s.db, s.tables, s.events).Create(t.Context(), unsaved, rand.Reader)
	must(t, err)
	return token.Selector, token.Reveal()
}

// featureType creates a type without a lifetime and returns its ID.
func (s *service) featureType(t *testing.T) string {
	t.Helper()
	id := "type-" + strings.ToLower(rand.Text())
	f := featuretype.FeatureType{ID: id, Name: "Name", Description: "Text", Position: 1000}
	must(t, featuretype.NewStore(s.db, s.tables, s.events).Create(t.Context(), f))
	return id
}

// stored returns the item of a PAT.
func (s *service) stored(t *testing.T, owner, id int64) dynamo.Item {
	t.Helper()
	item, err := dynamo.Get(t.Context(), s.db, s.tables.PersonalAccessTokens, pat.Key(owner, id))
	must(t, err)
	return item
}

const (
	typesPath   = "/api/admin/feature-types"
	contextPath = "/api/admin/context"
	trafficPath = "/api/admin/metrics/traffic/"
	tokensPath  = "/api/admin/user/tokens/"
)

func putFeedback(id, body string) call {
	return call{method: http.MethodPut, target: "/api/admin/feedback/" + id, body: body}
}

func putLifetime(id, days string) call {
	return call{method: http.MethodPut, target: typesPath + "/" + id + "/lifetime", body: `{"lifetimeDays":` + days + `}`}
}

func postToken(account, body string) call {
	return call{method: http.MethodPost, target: "/api/admin/service-account/" + account + "/token", body: body}
}

func deleteToken(id string) call { return call{method: http.MethodDelete, target: tokensPath + id} }

// newToken returns a body that creates a token, with a description in JSON.
func newToken(description string) string {
	return `{"description":` + description + `,"expiresAt":"2199-01-01T00:00:00Z"}`
}

// anyToken returns a body with a new description.
func anyToken() string { return newToken(strconv.Quote(rand.Text())) }

func text(id int64) string { return strconv.FormatInt(id, 10) }

// logLines collects the service's log.
type logLines struct {
	mu    sync.Mutex
	lines []logLine
}

type logLine struct {
	ErrorID      string
	APIRequestID string `json:"apiRequestId"`
	Cause        string
	raw          string
}

// Write implements io.Writer. Each call writes one line.
func (l *logLines) Write(p []byte) (int, error) {
	line := logLine{raw: string(bytes.TrimSpace(p))}
	_ = json.Unmarshal(p, &line) // lines of other forms have no IDs
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return len(p), nil
}

// ofError waits for the line of an error.
func (l *logLines) ofError(t *testing.T, id string) (found logLine) {
	t.Helper()
	eventually(t, "the log has a line of the error "+id, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, line := range l.lines {
			if line.ErrorID == id {
				found = line
			}
		}
		return found.ErrorID == id
	})
	return found
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("this is not true after a minute: %s", what)
		}
	}
}
