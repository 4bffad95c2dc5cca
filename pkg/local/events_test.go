package local_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/process"
)

// fakes are functions beside those of the template, one for each kind of event.
const fakes = `
  FakeQueue: {Type: AWS::SQS::Queue}
  FakeStreamFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/fake-stream/
      Events:
        Lifetime:
          Type: DynamoDB
          Properties:
            {Stream: !GetAtt FeatureTypes.StreamArn, StartingPosition: TRIM_HORIZON, BatchSize: 10, MaximumRetryAttempts: 0,
              FunctionResponseTypes: [ReportBatchItemFailures],
              DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt FakeQueue.Arn}}}
  FakeScheduleFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/fake-schedule/
      Events: {Minute: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute)}}}
      EventInvokeConfig: {MaximumRetryAttempts: 0}
  FakeLogFunction:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/fake-log/
      Events: {Lines: {Type: CloudWatchLogs, Properties: {LogGroupName: !Ref AccessLogs, FilterPattern: ''}}}

Outputs:
`

// withFakes writes the repository's template with the fake functions.
func withFakes(tb testing.TB) string {
	tb.Helper()
	content, err := os.ReadFile(localtest.Template(tb))
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "template.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), "\nOutputs:\n", fakes, 1)), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

// fake makes a function of a Go function.
func fake[In any](handle func(context.Context, *app.Env, In) error) app.Constructor {
	return func(env *app.Env) (lambda.Handler, error) {
		return app.Event(func(ctx context.Context, in In) (any, error) { return nil, handle(ctx, env, in) }), nil
	}
}

// seen are what the fake functions have been called with: lifetimes, runs, and lines as "<event id> <request id>".
type seen struct {
	lifetimes, runs, lines chan string
	note                   func(to chan<- string, v string) // before the function returns
}

func newSeen() *seen {
	return &seen{
		make(chan string, 1000), make(chan string, 1000), make(chan string, 1000),
		func(to chan<- string, v string) { to <- v },
	}
}

func (s *seen) functions() map[string]app.Constructor {
	return map[string]app.Constructor{
		"fake-stream": fake(func(ctx context.Context, env *app.Env, event events.DynamoDBEvent) error {
			for i := range event.Records {
				n := event.Records[i].Change.NewImage["lifetimeDays"].Number()
				env.Logger.InfoContext(ctx, "the lifetime is changed", slog.String("days", n))
				s.note(s.lifetimes, n)
				if n == "66" {
					return errors.New("sixty-six is too much")
				}
			}
			return nil
		}),
		"fake-schedule": fake(func(_ context.Context, _ *app.Env, event map[string]any) error {
			s.note(s.runs, fmt.Sprint(event["source"]))
			return nil
		}),
		"fake-log": fake(func(_ context.Context, _ *app.Env, event events.CloudwatchLogsEvent) error {
			data, err := event.AWSLogs.Parse()
			if err != nil {
				return err
			}
			for _, line := range data.LogEvents {
				var fields struct{ RequestID string }
				if err := json.Unmarshal([]byte(line.Message), &fields); err != nil {
					return err
				}
				s.note(s.lines, line.ID+" "+fields.RequestID)
			}
			return nil
		}),
	}
}

func next(tb testing.TB, from <-chan string, what string) string {
	tb.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		tb.Fatalf("timed out waiting for %s", what)
		return ""
	}
}

func TestEventsReachTheirFunctions(t *testing.T) {
	t.Parallel()
	s := newSeen()
	dir := t.TempDir()
	var stderr process.Output
	service, stop := localtest.StartStop(t, local.Config{
		Template: withFakes(t), DynamoDBEndpoint: enginetest.Start(t).Endpoint(), DataDir: dir, Functions: s.functions(),
		Stderr: &stderr, Terminal: true,
	})
	if source := next(t, s.runs, "the first run"); source != "aws.scheduler" {
		t.Errorf("source %q", source)
	}
	for _, days := range []string{"65", "66", "67"} {
		status, body := send(t, service, "PUT", "/api/admin/feature-types/release/lifetime", service.APIToken, `{"lifetimeDays":`+days+`}`)
		answered := time.Now()
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		if got := next(t, s.lifetimes, "a record"); got != days {
			t.Errorf("the lifetime %s, want %s", got, days)
		}
		t.Logf("%v from the answer to the function", time.Since(answered))
	}
	next(t, s.lines, "a line")
	stop()
	out := stderr.String()
	for _, want := range []string{
		"stream of FeatureTypes, 1 record", " ok  fake-stream ", " ERR fake-stream ", "cause: sixty-six is too much",
		"         INFO the lifetime is changed  function=fake-stream  days=66\n", "schedule FakeScheduleFunctionMinute", "an event is discarded",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("stderr has no %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "log AccessLogs") {
		t.Errorf("a terminal shows what happens all the time:\n%s", out)
	}
	content, err := os.ReadFile(filepath.Join(dir, "queues", "FakeQueue.jsonl"))
	if err != nil || !strings.Contains(string(content), `"batchSize":1`) || strings.Count(string(content), "\n") != 1 {
		t.Errorf("queue %q, %v", content, err)
	}
}

// TestAnEventIsGivenUp: somebody is told, and of what is lost for want of a queue, too.
func TestAnEventIsGivenUp(t *testing.T) {
	t.Parallel()
	functions := newSeen().functions()
	failed := make(chan string, 10)
	for _, name := range []string{"sweep-staleness", "fake-schedule"} { // the first has a queue
		functions[name] = fake(func(context.Context, *app.Env, any) error { failed <- name; return errors.New("out of order") })
	}
	dir := t.TempDir()
	var stderr process.Output
	_, stop := localtest.StartStop(t, local.Config{
		Template: withFakes(t), DynamoDBEndpoint: enginetest.Start(t).Endpoint(), DataDir: dir, Functions: functions, Stderr: &stderr, Terminal: true,
	})
	next(t, failed, "a run")
	next(t, failed, "another")
	stop()
	for _, want := range []string{
		"ERROR an event is discarded  event=schedule SweepStalenessFunctionEachMinute  queue=StalenessFailures\n",
		"ERROR an event is discarded and lost: its function has no on-failure queue  event=schedule FakeScheduleFunctionMinute",
	} {
		if out := stderr.String(); !strings.Contains(out, want) {
			t.Errorf("stderr has no %q:\n%s", want, out)
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, "queues", "StalenessFailures.jsonl"))
	if err != nil || !strings.Contains(string(content), `"condition":"RetriesExhausted"`) {
		t.Errorf("queue %q, %v", content, err)
	}
}

func TestRequestsOnly(t *testing.T) {
	t.Parallel()
	s := newSeen()
	service, stop := localtest.StartStop(t, local.Config{
		Template: withFakes(t), DynamoDBEndpoint: enginetest.Start(t).Endpoint(), Functions: s.functions(), RequestsOnly: true,
	})
	send(t, service, "PUT", "/api/admin/feature-types/release/lifetime", service.APIToken, `{"lifetimeDays":65}`)
	stop()
	if len(s.lifetimes)+len(s.runs)+len(s.lines) > 0 {
		t.Error("a function was called")
	}
}

// TestHelperProcess is no test: it is the process that TestKilled kills. It notes what its functions are called with on its stdout.
func TestHelperProcess(t *testing.T) {
	template := os.Getenv("LOCAL_TEST_TEMPLATE")
	if template == "" {
		t.Skip("only TestKilled runs it")
	}
	s := newSeen()
	s.note = func(to chan<- string, v string) { // a call that has ended is not repeated, so it is on the pipe by then
		switch to {
		case s.lifetimes:
			v = "lifetime " + v
		case s.lines:
			v = "line " + v
		}
		_, _ = fmt.Fprintln(os.Stdout, v)
	}
	if err := local.Run(t.Context(), local.Config{
		Template: template, DynamoDBEndpoint: os.Getenv("LOCAL_TEST_ENDPOINT"), DataDir: os.Getenv("LOCAL_TEST_DIR"),
		Functions: s.functions(), Stderr: os.Stderr,
	}); err != nil {
		t.Error(err)
	}
}

// victim is a process to kill.
type victim struct {
	local.Running
	cmd   *exec.Cmd
	lines chan string // of its stdout
	read  chan struct{}
}

func startVictim(tb testing.TB, template, endpoint, dir string) *victim {
	tb.Helper()
	v := &victim{cmd: exec.CommandContext(tb.Context(), os.Args[0], "-test.run=^TestHelperProcess$"), lines: make(chan string, 100000), read: make(chan struct{})}
	v.cmd.Env = append(os.Environ(), "LOCAL_TEST_TEMPLATE="+template, "LOCAL_TEST_ENDPOINT="+endpoint, "LOCAL_TEST_DIR="+dir)
	stdout, err := v.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(v.read)
		defer close(v.lines)
		for scanner := bufio.NewScanner(stdout); scanner.Scan(); {
			v.lines <- scanner.Text()
		}
	}()
	tb.Cleanup(func() { v.kill() })
	file := filepath.Join(dir, "local.json")
	for deadline := time.Now().Add(10 * time.Second); ; {
		content, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(content, &v.Running) == nil {
			if response, err := http.Get(v.BaseURL); err == nil { //nolint:noctx // a probe
				_ = response.Body.Close()
				return v
			}
		}
		if time.Now().After(deadline) {
			tb.Fatal("it does not serve")
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (v *victim) kill() {
	_ = v.cmd.Process.Signal(syscall.SIGKILL)
	<-v.read // Wait closes the pipe: what is still in it would be lost
	_ = v.cmd.Wait()
}

// TestKilled: what was answered is delivered, and known again where it is delivered twice, however the process ends.
func TestKilled(t *testing.T) {
	t.Parallel()
	template, endpoint, dir := withFakes(t), enginetest.Start(t).Endpoint(), t.TempDir()
	var mu sync.Mutex
	answered := map[string]bool{} // request ids, and the last lifetime
	events, lifetimes := map[string]map[string]bool{}, map[string]bool{}
	sent, last := 0, ""
	note := func(line string) {
		if n, ok := strings.CutPrefix(line, "lifetime "); ok {
			lifetimes[n] = true
		}
		if id, request, ok := strings.Cut(strings.TrimPrefix(line, "line "), " "); ok && strings.HasPrefix(line, "line ") {
			if events[request] == nil {
				events[request] = map[string]bool{}
			}
			events[request][id] = true
		}
	}
	for round := range 3 {
		v := startVictim(t, template, endpoint, dir)
		var clients sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			clients.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					mu.Lock()
					sent++
					days := fmt.Sprint(100 + sent)
					mu.Unlock()
					request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, v.BaseURL+"/api/admin/feature-types/release/lifetime",
						strings.NewReader(`{"lifetimeDays":`+days+`}`))
					if err != nil {
						t.Error(err)
						return
					}
					request.Header.Set("Content-Type", "application/json")
					request.Header.Set("Authorization", v.APIToken)
					response, err := http.DefaultClient.Do(request)
					if err != nil {
						return // it is killed
					}
					_ = response.Body.Close()
					mu.Lock()
					answered[response.Header.Get("x-amzn-RequestId")] = true
					if response.StatusCode == http.StatusOK {
						last = days
					}
					mu.Unlock()
				}
			})
		}
		// The first is killed after its first batch of lines, the second one in the middle of the stream.
		for n := 0; round == 0 && len(events) == 0 || round == 1 && n < 50; n++ {
			note(next(t, v.lines, "events"))
		}
		close(stop)
		if round < 2 {
			v.kill()
		}
		clients.Wait()
		missing := func() bool {
			for id := range answered {
				if events[id] == nil {
					return true
				}
			}
			return !lifetimes[last]
		}
		if round < 2 {
			for line := range v.lines {
				note(line)
			}
			continue
		}
		for missing() {
			note(next(t, v.lines, "the answered requests"))
		}
	}
	for request, ids := range events {
		if len(ids) != 1 {
			t.Errorf("the request %s has %d ids", request, len(ids))
		}
	}
	t.Logf("%d sent, %d answered, %d delivered", sent, len(answered), len(events))
}
