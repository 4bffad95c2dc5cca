package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// fixture is an installation whose snapshots are compiled, with tokens for the environment production.
type fixture struct {
	testing.TB
	db       *database.Database
	compiler *compiler.Compiler
	now      time.Time
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{TB: tb, db: database.New(tb), now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	f.compiler = compiler.New(f.db.Client, f.db.Tables, f.clock, rand.Reader, slog.New(slog.DiscardHandler))
	return f
}

func (f *fixture) clock() time.Time { return f.now }

// process returns the handler of a process, which reads the pointer with each request.
func (f *fixture) process() *client.Handler { return f.processThrough(f.db.Client, 0) }

func (f *fixture) processThrough(c *dynamodb.Client, freshness time.Duration) *client.Handler {
	return f.processWith(func(config *client.Config) { config.DynamoDB, config.Freshness = c, freshness })
}

func (f *fixture) processWith(change func(*client.Config)) *client.Handler {
	config := client.Config{
		DynamoDB: f.db.Client,
		Tables:   f.db.Tables,
		Origins:  []string{"*"},
		Now:      f.clock,
		Random:   rand.Reader,
		NewID:    newID,
		Logger:   slog.New(slog.DiscardHandler),
	}
	change(&config)
	return client.New(config)
}

// token creates a token and returns its secret. No projects stand for all.
func (f *fixture) token(kind clienttokentable.Type, projects ...string) string {
	f.Helper()
	return f.expiring(nil, kind, projects...)
}

func (f *fixture) expiring(at *time.Time, kind clienttokentable.Type, projects ...string) string {
	f.Helper()
	token, secret, err := clienttokentable.New(clienttokentable.Token{
		Name: "t", Type: kind, Projects: projects, Environment: "production", CreatedAt: f.now, ExpiresAt: at,
	}, rand.Reader)
	assert.OK(f, err)
	f.db.Put(f, f.db.Tables[clienttokentable.Table], clienttokentable.Marshal(token))
	return secret.Reveal()
}

// put stores a toggle that is on in production with strategies, which are rollouts to all unless they have parameters.
func (f *fixture) put(project, name string, strategies ...toggle.Strategy) {
	f.Helper()
	t := toggle.Feature{Name: name, Project: project, Type: "release"}
	for i := range strategies {
		s := &strategies[i]
		if s.Parameters == nil {
			s.Parameters = map[string]string{"rollout": "100", "stickiness": "default", "groupId": name}
		}
		s.ID, s.Name = strconv.Itoa(i+1), toggle.StrategyFlexibleRollout
	}
	t.SetEnvironment("production", toggle.Environment{Enabled: true, Strategies: strategies})
	f.db.Put(f, f.db.Tables[featuretable.Table], featuretable.Marshal(t.Normalized()))
}

// tag replaces the tags of a toggle.
func (f *fixture) tag(name string, tags ...toggle.Tag) {
	f.Helper()
	table := f.db.Tables[featuretable.Table]
	for _, item := range f.db.Scan(f, table) {
		if row := featuretable.UnmarshalRow(item); row.Toggle.Name == name {
			stored, err := row.Feature()
			assert.OK(f, err)
			stored.Tags = tags
			f.db.Put(f, table, featuretable.Marshal(stored))
		}
	}
}

func (f *fixture) putSegment(id int64, name string, constraints ...toggle.Constraint) {
	f.Helper()
	f.db.Put(f, f.db.Tables[segmenttable.Table], segmenttable.Marshal(segmenttable.Segment{
		Segment: toggle.Segment{ID: id, Name: name, Constraints: constraints},
	}))
}

func (f *fixture) compile() {
	f.Helper()
	assert.OK(f, f.compiler.Compile(context.Background(), "production"))
}

// changePointer changes the item of the pointer.
func (f *fixture) changePointer(change func(dynamo.Item)) {
	f.Helper()
	table := f.db.Tables[snapshottable.Table]
	for _, item := range f.db.Scan(f, table) {
		if snapshottable.IsPointer(item) {
			change(item)
			f.db.Put(f, table, item)
		}
	}
}

// deletePointer does to the snapshots what the restore of an installation does.
func (f *fixture) deletePointer() {
	f.Helper()
	f.db.Delete(f, f.db.Tables[snapshottable.Table], snapshottable.PointerKey("production"))
}

// restore deletes the pointer, and compiles a snapshot of a new epoch.
func (f *fixture) restore() {
	f.Helper()
	f.deletePointer()
	f.compile()
}

func newID() string { return "the-id" }

// response is what a client receives.
type response struct {
	status int
	header http.Header
	body   string
}

// address is the address of all callers.
const address = "192.0.2.1"

// call sends a request through the function URL. The headers are pairs of names and values.
func call(h *client.Handler, method, target, token, body string, headers ...string) response {
	var event events.LambdaFunctionURLRequest
	event.RawPath, event.RawQueryString, _ = strings.Cut(target, "?")
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.SourceIP = method, address
	event.Body = body
	if !utf8.ValidString(body) {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	}
	event.Headers = map[string]string{"unleash-client-spec": "5.2.0"}
	if token != "" {
		event.Headers["authorization"] = token
	}
	for i := 0; i < len(headers); i += 2 {
		event.Headers[strings.ToLower(headers[i])] = headers[i+1]
	}
	payload, err := json.Marshal(event)
	if err != nil { // an event consists of texts
		panic(err)
	}
	var out events.LambdaFunctionURLResponse
	returned, err := lambdahttp.FunctionURL(h.Serve, lambdahttp.Options{
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, NewID: newID,
	}).Invoke(context.Background(), payload)
	if err == nil {
		err = json.Unmarshal(returned, &out)
	}
	text := []byte(out.Body)
	if err == nil && out.IsBase64Encoded {
		text, err = base64.StdEncoding.DecodeString(out.Body)
	}
	if err != nil { // Lambda would respond so
		return response{http.StatusBadGateway, http.Header{}, err.Error()}
	}
	header := http.Header{}
	for name, value := range out.Headers {
		header.Set(name, value)
	}
	if header.Get("Content-Encoding") == "gzip" {
		if reader, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, _ = io.ReadAll(reader)
		}
	}
	return response{out.StatusCode, header, string(text)}
}

// poll downloads the toggles as an SDK does that has a version with a tag; "": it has none.
func poll(h *client.Handler, token, tag string, headers ...string) response {
	if tag != "" {
		headers = append(headers, "If-None-Match", tag)
	}
	return call(h, "GET", "/api/client/features", token, "", headers...)
}

// unreachable returns a client whose calls fail from the time when down is true.
func (f *fixture) unreachable(down *bool) (*dynamodb.Client, *database.Tap) {
	f.Helper()
	return f.db.Through(f, func(c *database.Call) (*http.Response, error) {
		if *down {
			return c.Refuse("AccessDeniedException")
		}
		return c.Pass()
	})
}
