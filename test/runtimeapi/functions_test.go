package runtimeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/test/runtimeapi"
	"toggleadmin/test/sampleevent"
)

const (
	// maxSize is what a binary may weigh in bytes, stripped: Lambda loads it at every cold start.
	maxSize = 12_000_000

	authorizer    = "authorizer"
	notFound      = "not-found"
	recordTraffic = "record-traffic"

	// patience bounds what a test waits for one process; the machine may be busy with other tests.
	patience = time.Minute

	// refused is an endpoint where nothing listens.
	refused = "http://127.0.0.1:1"
)

// TestBinaries drives every function's binary as Lambda would, each time beside an engine with the template's tables and the seed.
func TestBinaries(t *testing.T) {
	t.Parallel()
	binaries := build(t)
	tests := []struct {
		name string
		run  func(*testing.T, function)
	}{
		{name: "is small", run: isSmall},
		{name: "answers its sample event", run: answersItsSample},
		{name: "outlives malformed events", run: outlivesMalformedEvents},
		{name: "names a missing variable", run: namesMissingVariables},
		{name: "answers without DynamoDB", run: answersWithoutDynamoDB},
	}
	for _, name := range functions(t) {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				test.run(t, function{name: name, binary: filepath.Join(binaries, name)})
			})
		}
	}
}

// function is one folder of functions/.
type function struct{ name, binary string }

// answersHTTP says whether the function's answer is an HTTP response.
func (f function) answersHTTP() bool {
	return !slices.Contains([]string{authorizer, recordTraffic, "reevaluate-staleness", "sweep-staleness"}, f.name)
}

func isSmall(t *testing.T, f function) {
	t.Helper()
	info, err := os.Stat(f.binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("%d bytes, more than %d", info.Size(), maxSize)
	}
}

func answersItsSample(t *testing.T, f function) {
	t.Helper()
	assertSampleAnswer(t, f.name, invoke(t, start(t, startService(t).function(t, f)), sample(t, f.name)))
}

// The seed's own PAT opens what the sample event's invented one does not.
func TestAuthorizerAllowsAKnownCredential(t *testing.T) {
	t.Parallel()
	service := startService(t)
	process := start(t, service.function(t, function{name: authorizer, binary: filepath.Join(build(t, authorizer), authorizer)}))
	event := bytes.ReplaceAll(sample(t, authorizer), sampleCredential(t), []byte(service.seeded.Users[0].PAT))
	answer := invoke(t, process, event)
	var got events.APIGatewayCustomAuthorizerResponse
	decode(t, answer.Body, &got)
	if got.PrincipalID != "user:1" || len(got.PolicyDocument.Statement) != 1 || got.PolicyDocument.Statement[0].Effect != "Allow" {
		t.Errorf("want one Allow for user 1: %s", answer.Body)
	}
}

// assertSampleAnswer asserts the sample event's outcome.
func assertSampleAnswer(t *testing.T, name string, answer runtimeapi.Answer) {
	t.Helper()
	assertSucceeded(t, answer)
	if err := sampleevent.Check(name, answer.Body); err != nil {
		t.Error(err)
	}
}

func assertSucceeded(t *testing.T, answer runtimeapi.Answer) {
	t.Helper()
	if answer.Failed {
		t.Fatalf("the function failed: %s", answer.Body)
	}
}

func assertText(t *testing.T, answer runtimeapi.Answer, want string) {
	t.Helper()
	if answer.Failed || string(answer.Body) != want {
		t.Errorf("failed: %t, answer %s, want %s", answer.Failed, answer.Body, want)
	}
}

func assertDenied(t *testing.T, answer runtimeapi.Answer) {
	t.Helper()
	assertSucceeded(t, answer)
	if err := sampleevent.CheckDenied(answer.Body); err != nil {
		t.Error(err)
	}
}

// assertResponse asserts the shape of a proxy response, and of the error object where it is one.
func assertResponse(t *testing.T, answer runtimeapi.Answer) events.APIGatewayProxyResponse {
	t.Helper()
	assertSucceeded(t, answer)
	response, err := sampleevent.Response(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return response
}

// Lambda passes on any JSON that somebody invokes a function with.
func outlivesMalformedEvents(t *testing.T, f function) {
	t.Helper()
	process := start(t, startService(t).function(t, f))
	malformed := []string{
		`null`, `true`, `[]`, `"text"`, `{}`, `{"httpMethod":7}`, `{"headers":[],"body":{}}`,
		`{"httpMethod":"PUT","path":"/%zz?","resource":"","headers":null,"pathParameters":{"id":"%"},"body":"{","isBase64Encoded":true}`,
		`{"requestContext":{"authorizer":{"userId":{"a":1},"permissions":[]}}}`,
		`{"type":"REQUEST","methodArn":"x","headers":{"Authorization":"` + strings.Repeat("x", 100_000) + `"}}`,
		strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000),
	}
	for _, text := range malformed {
		switch answer := invoke(t, process, []byte(text)); {
		case answer.Failed:
			assertLambdaError(t, answer)
		case f.name == authorizer:
			assertDenied(t, answer)
		case !f.answersHTTP(): // any event is a reason to look what is left to do
		default:
			assertRefused(t, assertResponse(t, answer), text)
		}
	}
	if f.name != "sweep-staleness" { // it has done by now what the sample event asks for
		assertSampleAnswer(t, f.name, invoke(t, process, sample(t, f.name)))
	}
}

// assertRefused: no operation does anything for an event without its principal.
func assertRefused(t *testing.T, response events.APIGatewayProxyResponse, event string) {
	t.Helper()
	if response.StatusCode < http.StatusBadRequest {
		t.Errorf("status %d for %.100s", response.StatusCode, event)
	}
}

func assertLambdaError(t *testing.T, answer runtimeapi.Answer) {
	t.Helper()
	var object struct{ ErrorMessage, ErrorType string }
	if decode(t, answer.Body, &object); object.ErrorMessage == "" || object.ErrorType == "" {
		t.Errorf("not an error object of Lambda: %s", answer.Body)
	}
	if strings.Contains(string(answer.Body), "stackTrace") {
		t.Errorf("the handler panicked: %s", answer.Body)
	}
}

// A function without one of its variables says so at its start, in one line, and never asks for an event.
func namesMissingVariables(t *testing.T, f function) {
	t.Helper()
	complete := startService(t).function(t, f)
	for variable := range complete.Variables {
		if variable == "DYNAMODB_ENDPOINT" {
			continue // AWS's own, if it is missing
		}
		without := complete
		without.Variables = maps.Clone(complete.Variables)
		delete(without.Variables, variable)
		process := start(t, without)
		select {
		case <-process.Ended():
		case <-process.Polled():
			t.Errorf("starts without %s", variable)
			continue
		}
		stderr := process.Stderr()
		if process.ExitCode() <= 0 || !strings.Contains(stderr, variable) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("without %s: exit code %d and on stderr %q; want a code above 0 and one line with the name",
				variable, process.ExitCode(), stderr)
		}
	}
}

// What cannot reach its tables says 503 within its time, or, in the authorizer's case, fails, which is the caller's 500.
func answersWithoutDynamoDB(t *testing.T, f function) {
	t.Helper()
	if f.name == notFound {
		t.Skip("it has no table")
	}
	unreachable := startService(t).function(t, f)
	unreachable.Timeout = 2 * time.Second
	unreachable.Variables = maps.Clone(unreachable.Variables)
	unreachable.Variables["DYNAMODB_ENDPOINT"] = refused
	process := start(t, unreachable)
	answer := invoke(t, process, sample(t, f.name))
	switch {
	case f.name == "reevaluate-staleness": // the record is to come again
		assertText(t, answer, `{"batchItemFailures":[{"itemIdentifier":"4421584500000000017450439091"}]}`)
	case !f.answersHTTP():
		if !answer.Failed {
			t.Errorf("it answered: %s", answer.Body)
		}
		assertLambdaError(t, answer)
	default:
		assertUnavailable(t, answer)
	}
	if strings.Contains(string(answer.Body), refused) {
		t.Errorf("the answer tells where the tables are: %s", answer.Body)
	}
	select {
	case <-process.Ended():
		t.Errorf("the process has ended: %s", process.Stderr())
	default:
	}
}

func assertUnavailable(t *testing.T, answer runtimeapi.Answer) {
	t.Helper()
	if response := assertResponse(t, answer); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d, want 503: %s", response.StatusCode, response.Body)
	}
}

// start starts the function; it ends with the test.
func start(t *testing.T, f runtimeapi.Function) *runtimeapi.Process {
	t.Helper()
	process, err := runtimeapi.Start(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	return process
}

func invoke(t *testing.T, process *runtimeapi.Process, event []byte) runtimeapi.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := process.Invoke(ctx, event)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// decode refuses members that the type does not have.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	event, err := os.ReadFile(filepath.Join(root, "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// sampleCredential finds the authorizer's sample credential, which stands in the event twice.
func sampleCredential(t *testing.T) []byte {
	t.Helper()
	credential := regexp.MustCompile(`user:v2_[A-Za-z0-9_-]+`).Find(sample(t, authorizer))
	if credential == nil {
		t.Fatal("the sample event has no PAT")
	}
	return credential
}
