package simulation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/uuid"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/simulation/dynamodb"
)

// lambda is the part of the world that runs the functions.
type lambda struct {
	functions map[string]*function // by folder
	gateway   *gateway.Gateway
	ids       *process // whose random numbers they are
}

// Settings of the deployment. The hosts exist in the world only.
const (
	source     = "simulation"
	issuerHost = "issuer.test"
	webhook    = "https://webhook.test/events"
	robotLimit = 3
)

// load reads template.yaml once per process.
var load = sync.OnceValue(func() *samtemplate.Template {
	template, err := samtemplate.Load("../../template.yaml",
		samtemplate.Settings{StackName: source, Parameters: map[string]string{
			"SendEventsToBus": "true", "WebhookSecretName": "/webhook", "OidcIssuer": "https://" + issuerHost,
			"OidcClientId": clientID, "OidcDefaultRole": string(access.RoleViewer),
			"MaxServiceAccounts": fmt.Sprint(robotLimit),
		}})
	if err != nil {
		panic(err)
	}
	return template
})

func newWorld(t *testing.T, p Plan) *World {
	t.Helper()
	w := &World{Plan: p, template: load(), result: Result{Plan: p}, wake: make(chan struct{}, 1)}
	// The world begins some minutes or hours before a day, month or year ends.
	random := w.random(2)
	begin := time.Duration([]int{1, 31, 60, 366}[random.IntN(4)])*24*time.Hour -
		within(random, []time.Duration{duration, 24 * time.Hour}[random.IntN(2)])
	if w.has(skewed) {
		w.skew = maxSkew
	}
	w.ids = w.newProcess("ids")
	<-time.After(begin)
	w.start = time.Now()
	w.tables = w.template.TableNames()
	w.db = dynamodb.New(w.template.Tables, time.Now)
	w.functions = map[string]*function{}
	invoked := map[string]*invoke.Function{} // by logical ID
	for i := range w.template.Functions {
		definition := &w.template.Functions[i]
		f := &function{w: w, Function: definition, construct: local.Constructor(definition.Name)}
		w.functions[f.Name] = f
		arn := "arn:aws:lambda:us-east-1:123456789012:function:" + f.LogicalID
		f.invoked = &invoke.Function{Name: f.Name, Handler: f, Timeout: f.Timeout, ARN: arn}
		invoked[f.LogicalID] = f.invoked
	}
	g, err := gateway.New(gateway.Config{
		API: w.template.API, Functions: invoked, Region: "us-east-1", AccountID: "123456789012", APIID: "simulation",
		Now:   time.Now,
		NewID: w.newID, AccessLog: w.logLine, OnRequest: func(*terminal.Entry) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.gateway = g
	return w
}

// lag is how late an index or a read that is not consistent shows a write.
func (w *World) lag(table, index, key string, version int64) time.Duration {
	h := mix(w.Seed, hashOf(table+index+key), uint64(version))
	if index != "" && h%4 > 0 {
		return 0
	}
	return time.Duration(h % uint64(3*time.Second))
}

func (w *World) newID() string { return uuid.Must(uuid.NewRandomFromReader(w.ids)).String() }

// function is a Lambda function with its instances. An instance handles one invocation at a time.
type function struct {
	w *World
	*samtemplate.Function
	invoked   *invoke.Function
	construct app.Constructor
	idle      []*process
	made      int
	warnings  int // lines of the log that are warnings or errors
}

// warnings is a log that counts the warnings and errors of a function.
type warnings struct {
	slog.Handler
	of *function
}

// Enabled implements slog.Handler.
func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (l warnings) Handle(context.Context, slog.Record) error {
	l.of.w.mu.Lock()
	defer l.of.w.mu.Unlock()
	l.of.warnings++
	return nil
}

// WithAttrs implements slog.Handler.
func (l warnings) WithAttrs([]slog.Attr) slog.Handler { return l }

// config is the SDK's configuration of a process.
func (p *process) config() aws.Config {
	return aws.Config{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: smithyhttp.ClientDoFunc(p.RoundTrip),
		APIOptions: []func(*middleware.Stack) error{skipEmpty},
	}
}

// skipEmpty returns the result of a Query of the staleness index at once if no toggle of the world has the shard of the
// partition, as most of the partitions that a re-evaluation reads.
func skipEmpty(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SkipEmpty", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		if q, ok := in.Parameters.(*sdk.QueryInput); ok {
			key := dynamo.Item(q.ExpressionAttributeValues).String(":staleness")
			if key != "" && !strings.HasSuffix(key, fmt.Sprint("#", feature.Shard(toggles[0]))) {
				return middleware.InitializeOutput{Result: &sdk.QueryOutput{}}, middleware.Metadata{}, nil
			}
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// instance returns an idle instance, or a new one.
func (f *function) instance() *process {
	f.w.mu.Lock()
	if n := len(f.idle); n > 0 {
		i := f.idle[n-1]
		f.idle = f.idle[:n-1]
		f.w.mu.Unlock()
		return i
	}
	f.made++
	name := fmt.Sprintf("%s/%d", f.Name, f.made)
	f.w.mu.Unlock()
	i := f.w.newProcess(name)
	vars := maps.Clone(f.Environment)
	delete(vars, "DYNAMODB_ENDPOINT")
	if vars["MAX_TOKENS_PER_ACCOUNT"] != "" {
		vars["MAX_TOKENS_PER_ACCOUNT"] = fmt.Sprint(f.w.tokenLimit())
	}
	handler, err := f.construct(&app.Env{
		Vars: vars, AWS: i.config(), Now: i.now, Random: i, Logger: slog.New(warnings{slog.DiscardHandler, f}),
		Transport: i, Concurrency: 1 << 20,
	})
	if err != nil {
		panic(fmt.Errorf("%s: %w", f.Name, err))
	}
	i.handler = handler
	return i
}

func (f *function) release(i *process) {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if !i.dead && i.until.Before(time.Now()) { // Lambda would end a frozen one
		f.idle = append(f.idle, i)
		slices.SortFunc(f.idle, func(a, b *process) int { return cmp.Compare(a.name, b.name) }) // some end at the same time
	}
}

var errEnded = errors.New("the instance ended")

// tracked is what the world remembers about the writes for a request.
type tracked struct {
	writes int
	rival  func() // what happens before the first write
}

type trackedKey struct{}

// Invoke implements lambda.Handler.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	i := f.instance()
	if f.Name == "authorizer" { // its writes are not those of the operation
		ctx = context.WithValue(ctx, trackedKey{}, nil)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var output []byte
	var err error
	done := make(chan struct{})
	f.w.spawn(func() {
		defer close(done)
		output, err = i.handler.Invoke(ctx, payload)
	})
	select {
	case <-done:
		if bytes.Contains(output, []byte(`"statusCode":500`)) {
			f.w.fail("%s responds with %s", i.name, output)
		}
		f.release(i)
		return output, err
	case <-i.ended:
		return nil, errEnded
	case <-ctx.Done(): // Lambda ends an instance that exceeds the timeout
		i.crash()
		return nil, ctx.Err()
	}
}

// invoke invokes a function for an event, sometimes twice at the same time. It returns the output of the first.
func (w *World) invoke(name string, event []byte) ([]byte, error) {
	f := w.functions[name].invoked
	id := w.newID()
	if w.happens(duplicated, hashOf(id), 0.1) {
		w.note("%s is started twice", name)
		again := w.newID()
		w.spawn(func() {
			w.sleep(again, w.upTo(20*time.Millisecond, hashOf(again)))
			_, _ = f.Invoke(context.Background(), again, event)
		})
	}
	output, err := f.Invoke(context.Background(), id, event)
	if err != nil {
		w.note("%s: %v", name, err)
	}
	return output, err
}
