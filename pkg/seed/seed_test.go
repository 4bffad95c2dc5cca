package seed_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/authorizer"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/seed"
	"toggleadmin/pkg/user"
)

func now() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// ground is a set of empty tables.
type ground struct {
	endpoint string
	tables   dynamo.Tables
}

// newGround makes the template's tables under names of their own.
func newGround(tb testing.TB, endpoint, prefix string) ground {
	tb.Helper()
	template, err := samtemplate.Load("../../template.yaml", samtemplate.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	names := map[string]string{}
	for i := range template.Tables {
		table := &template.Tables[i]
		table.Name = prefix + table.Name
		names[table.LogicalID] = table.Name
	}
	g := ground{endpoint, dynamo.TablesByID(names)}
	if err := tables.Make(tb.Context(), g.client(tb), template.Tables); err != nil {
		tb.Fatal(err)
	}
	return g
}

func (g ground) client(tb testing.TB, options ...func(*middleware.Stack) error) *dynamodb.Client {
	tb.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(g.endpoint), APIOptions: options,
	}, g.endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

func (g ground) config(tb testing.TB, known seed.Credentials, options ...func(*middleware.Stack) error) seed.Config {
	tb.Helper()
	return seed.Config{Client: g.client(tb, options...), Tables: g.tables, Now: now, Random: rand.Reader, Known: known}
}

func (g ground) seed(tb testing.TB, known seed.Credentials) seed.Result {
	tb.Helper()
	r, err := seed.Seed(tb.Context(), g.config(tb, known))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// principal asks the real authorizer; empty is a refusal.
func (g ground) principal(tb testing.TB, token string) string {
	tb.Helper()
	a := &authorizer.Authenticator{
		Tokens: authorizer.NewStore(g.client(tb), g.tables),
		Now:    now, Logger: slog.New(slog.DiscardHandler),
	}
	p, err := a.Authenticate(tb.Context(), token)
	if err != nil {
		return ""
	}
	return p.ID
}

func (g ground) count(tb testing.TB, table string) int {
	tb.Helper()
	n := 0
	for _, err := range dynamo.Scan(tb.Context(), g.client(tb), table) {
		if err != nil {
			tb.Fatal(err)
		}
		n++
	}
	return n
}

// checkTypes checks that the types are the default ones, and gives them.
func (g ground) checkTypes(tb testing.TB) []featuretype.FeatureType {
	tb.Helper()
	types, err := featuretype.NewStore(g.client(tb), g.tables).List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(featuretype.Defaults(), types); diff != "" {
		tb.Error(diff)
	}
	return types
}

// checkWhole checks that everything is there once and that the credentials are the only ones.
func (g ground) checkWhole(tb testing.TB, c seed.Credentials) {
	tb.Helper()
	types := g.checkTypes(tb)
	fields, err := contextfield.NewStore(g.client(tb), g.tables).List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	used := map[string]string{}
	for _, f := range fields {
		used[f.Name] = fmt.Sprintf("%d/%d", f.UsedInFeatures(), f.UsedInProjects())
	}
	want := map[string]string{"environment": "2/1", "userId": "3/2", "appName": "2/2", "currentTime": "1/1", "sessionId": "1/1"}
	if diff := cmp.Diff(want, used); diff != "" {
		tb.Error(diff)
	}
	counts := map[string]int{"types": 5, "fields": 5, "toggles": 8, "accounts": 4, "API tokens": 1, "PATs, counter and marker": 5}
	got := map[string]int{
		"types": len(types), "fields": len(fields), "toggles": g.count(tb, g.tables.Features), "accounts": g.count(tb, g.tables.Users),
		"API tokens": g.count(tb, g.tables.APITokens), "PATs, counter and marker": g.count(tb, g.tables.PersonalAccessTokens),
	}
	if diff := cmp.Diff(counts, got); diff != "" {
		tb.Error(diff)
	}
	if p := g.principal(tb, c.APIToken); !strings.HasPrefix(p, "api-token:") {
		tb.Errorf("the API token is %q's", p)
	}
	for i, u := range c.Users {
		if p := g.principal(tb, u.PAT); p != fmt.Sprint("user:", i+1) {
			tb.Errorf("the PAT of %s is %q's", u.Name, p)
		}
		c.Users[i].PAT = ""
	}
	wantUsers := []seed.User{
		{ID: 1, Name: "admin", Role: auth.RoleAdmin}, {ID: 2, Name: "editor", Role: auth.RoleEditor}, {ID: 3, Name: "viewer", Role: auth.RoleViewer},
	}
	if diff := cmp.Diff(wantUsers, c.Users); diff != "" {
		tb.Error(diff)
	}
	if diff := cmp.Diff([]seed.ServiceAccount{{ID: 4, Name: "ci", Role: auth.RoleEditor}}, c.ServiceAccounts); diff != "" {
		tb.Error(diff)
	}
	ci, err := user.NewStore(g.client(tb), g.tables).Get(tb.Context(), 4)
	if err != nil || ci.Kind != user.ServiceAccount || len(ci.PATs) != 0 {
		tb.Errorf("the service account is %+v, %v", ci, err)
	}
}

// clone keeps the plain tokens, which checkWhole blanks.
func clone(c seed.Credentials) seed.Credentials {
	c.Users = append([]seed.User(nil), c.Users...)
	return c
}

func TestFirstAndLaterStarts(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	first := g.seed(t, seed.Credentials{})
	if !first.New || first.Renewed != 4 {
		t.Errorf("new %v, %d credentials made", first.New, first.Renewed)
	}
	g.checkWhole(t, clone(first.Credentials))

	again := g.seed(t, first.Credentials)
	if again.New || again.Renewed != 0 {
		t.Errorf("new %v, %d credentials made", again.New, again.Renewed)
	}
	if diff := cmp.Diff(first.Credentials, again.Credentials); diff != "" {
		t.Error("a restart changes the credentials", diff)
	}

	lost := g.seed(t, seed.Credentials{})
	if lost.New || lost.Renewed != 4 {
		t.Errorf("new %v, %d credentials made", lost.New, lost.Renewed)
	}
	for _, old := range append([]string{first.Credentials.APIToken}, first.Credentials.Users[0].PAT, first.Credentials.Users[2].PAT) {
		if p := g.principal(t, old); p != "" {
			t.Errorf("a lost credential of %s is still valid", p)
		}
	}
	g.checkWhole(t, clone(lost.Credentials))
}

func TestOnlyWhatIsNotValidIsMadeAnew(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	first := g.seed(t, seed.Credentials{}).Credentials
	for _, tt := range []struct {
		name   string
		change func(*seed.Credentials)
	}{
		{"one missing", func(c *seed.Credentials) { c.Users = c.Users[1:] }},
		{"one malformed", func(c *seed.Credentials) { c.Users[1].PAT += "x" }},
		{"another's", func(c *seed.Credentials) { c.Users[1].PAT = c.Users[2].PAT }},
		{"of another instance", func(c *seed.Credentials) { c.APIToken = strings.Replace(c.APIToken, "_", "_A", 2)[:len(c.APIToken)] }},
		{"a PAT for an API token", func(c *seed.Credentials) { c.APIToken = c.Users[0].PAT }},
	} {
		known := clone(first)
		tt.change(&known)
		r := g.seed(t, known)
		if r.New || r.Renewed != 1 {
			t.Errorf("%s: new %v, %d credentials made", tt.name, r.New, r.Renewed)
		}
		g.checkWhole(t, clone(r.Credentials))
		first = r.Credentials
	}
}

func TestWhatUsersDidStays(t *testing.T) {
	t.Parallel()
	g := newGround(t, enginetest.Endpoint(t), "")
	first := g.seed(t, seed.Credentials{}).Credentials
	days := int64(3)
	if _, err := featuretype.NewStore(g.client(t), g.tables).SetLifetime(t.Context(), "release", &days); err != nil {
		t.Fatal(err)
	}
	toggles := feature.NewStore(g.client(t), g.tables)
	if _, err := toggles.Update(t.Context(), "dark-mode", func(f feature.Feature) feature.Feature { f.Stale = true; return f }); err != nil {
		t.Fatal(err)
	}
	if _, err := g.client(t).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &g.tables.Users, Key: user.Key(2)}); err != nil {
		t.Fatal(err)
	}
	r := g.seed(t, first)
	if r.New || r.Renewed != 0 || len(r.Credentials.Users) != 2 {
		t.Errorf("new %v, %d credentials made, of %+v", r.New, r.Renewed, r.Credentials.Users)
	}
	types, err := featuretype.NewStore(g.client(t), g.tables).List(t.Context())
	if err != nil || *types[0].LifetimeDays != 3 {
		t.Errorf("types %+v, %v", types, err)
	}
	if f, err := toggles.Get(t.Context(), "dark-mode"); err != nil || !f.Stale {
		t.Errorf("toggle %+v, %v", f, err)
	}
}

var errCrashed = errors.New("crashed")

// crash makes the n-th write the last that anybody hears of: it is carried out or not, and everything after it fails.
func crash(n int64, carriedOut bool, writes *atomic.Int64) func(*middleware.Stack) error {
	var dead atomic.Bool
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Crash", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			if dead.Load() {
				return middleware.InitializeOutput{}, middleware.Metadata{}, errCrashed
			}
			switch in.Parameters.(type) {
			case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput, *dynamodb.TransactWriteItemsInput:
				if writes.Add(1) == n {
					dead.Store(true)
					if carriedOut {
						_, _, _ = next.HandleInitialize(ctx, in)
					}
					return middleware.InitializeOutput{}, middleware.Metadata{}, errCrashed
				}
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
	}
}

func TestACrashAtAnyWriteIsRepaired(t *testing.T) {
	t.Parallel()
	endpoint := enginetest.Endpoint(t)
	for _, carriedOut := range []bool{false, true} {
		for n := int64(1); ; n++ {
			g := newGround(t, endpoint, fmt.Sprintf("n%d-%v-", n, carriedOut))
			var writes atomic.Int64
			r, err := seed.Seed(t.Context(), g.config(t, seed.Credentials{}, crash(n, carriedOut, &writes)))
			if err == nil {
				if n < 15 {
					t.Errorf("only %d writes", n)
				}
				break
			}
			if !errors.Is(err, errCrashed) {
				t.Fatal(err)
			}
			if r.Credentials.APIToken != "" {
				t.Errorf("write %d: credentials beside an error", n)
			}
			g.checkWhole(t, g.seed(t, seed.Credentials{}).Credentials)
			if t.Failed() {
				t.Fatalf("after a crash at write %d, carried out: %v", n, carriedOut)
			}
		}
	}
}

func TestACrashWhileRenewingIsRepaired(t *testing.T) {
	t.Parallel()
	endpoint := enginetest.Endpoint(t)
	for _, carriedOut := range []bool{false, true} {
		for n := int64(1); ; n++ {
			g := newGround(t, endpoint, fmt.Sprintf("n%d-%v-", n, carriedOut))
			g.seed(t, seed.Credentials{})
			var writes atomic.Int64
			if _, err := seed.Seed(t.Context(), g.config(t, seed.Credentials{}, crash(n, carriedOut, &writes))); err == nil {
				break
			}
			g.checkWhole(t, g.seed(t, seed.Credentials{}).Credentials)
			if t.Failed() {
				t.Fatalf("after a crash at write %d, carried out: %v", n, carriedOut)
			}
		}
	}
}
