package world

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/gateway"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/samtemplate"
)

// lambdaState is what the world knows about the functions.
type lambdaState struct {
	functions map[string]*function // by folder
	gateway   *gateway.Gateway
	ids       *process // whose random numbers they are
}

// function is a Lambda function with its instances. An instance handles one invocation at a time.
type function struct {
	w *World
	*samtemplate.Function
	invoked   *invoke.Function
	construct app.Constructor
	idle      []*process
	made      int
	warnings  atomic.Int64 // lines of the log that are warnings or errors
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
	l.of.warnings.Add(1)
	return nil
}

// WithAttrs implements slog.Handler.
func (l warnings) WithAttrs([]slog.Attr) slog.Handler { return l }

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
	begun  time.Time
	writes int
	states int       // calls that have changed toggles
	judged time.Time // when the authorizer has judged the credential, by its clock; zero: it has not
	rival  *rival

	expected func(storedProject) string // what is wrong with a project that the request changes; nil: nothing

	searches map[string]time.Time // when a re-evaluation has searched toggles that are due, by type and by its clock
}

// rival is what happens when a call is sent.
type rival struct {
	selects func(*call) bool
	do      func()
}

type trackedKey struct{}

// Invoke implements lambda.Handler.
func (f *function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	i := f.instance()
	of, _ := ctx.Value(trackedKey{}).(*tracked)
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
		if f.Name == "authorizer" && of != nil {
			of.judged = i.readAt
		}
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
func (w *World) invoke(ctx context.Context, name string, event []byte) ([]byte, error) {
	f := w.lambda.functions[name].invoked
	id := w.newID()
	if w.happens(duplicated, hashOf(id), 0.1) {
		w.note("%s is started twice", name)
		again := w.newID()
		w.spawn(func() {
			w.sleep(again, w.upTo(20*time.Millisecond, hashOf(again)))
			_, _ = f.Invoke(context.WithoutCancel(ctx), again, event)
		})
	}
	output, err := f.Invoke(ctx, id, event)
	if err != nil {
		w.note("%s: %v", name, err)
	}
	return output, err
}

// deliver invokes a function with a batch. It returns what the function has not processed, unless it fails.
func (w *World) deliver(ctx context.Context, name string, batch []byte) (failed []string, ok bool) {
	output, err := w.invoke(ctx, name, batch)
	var response events.SQSEventResponse // that of a stream has the same form
	if err != nil || json.Unmarshal(output, &response) != nil {
		return nil, false
	}
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed, true
}
