package runtimeapi_test

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/assert"
	"toggleadmin/test/localtest"
	"toggleadmin/test/process"
	"toggleadmin/test/runtimeapi"
	"toggleadmin/test/sampleevent"
)

const root = "../.."

// build builds all functions once and returns the folder of the binaries. It is kept: if nothing has changed, go build
// links nothing.
var build = sync.OnceValues(func() (folder string, err error) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return "", err
	}
	flags := regexp.MustCompile(`(?m)^FUNCTION_FLAGS := (.+)$`).FindSubmatch(makefile)
	if flags == nil {
		return "", errors.New("the Makefile has no FUNCTION_FLAGS")
	}
	folder = filepath.Join(root, ".cache", "functions-here")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", ".cache/functions-here/", "./functions/...")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+string(flags[1]))
	if output, err := command.CombinedOutput(); err != nil {
		return "", errors.Join(err, errors.New(string(output)))
	}
	return folder, nil
})

// service is an engine with new, seeded tables, and the functions that use it.
type service struct {
	local.Running
	functions map[string]runtimeapi.Function
}

func newService(t *testing.T) *service {
	t.Helper()
	for _, name := range []string{"functions", "pkg", "go.mod", "go.sum"} { // the test cache depends on the sources
		process.DependOn(t, filepath.Join(root, name))
	}
	folder, err := build()
	assert.OK(t, err)
	s := &service{localtest.Start(t, local.Config{RequestsOnly: true}), map[string]runtimeapi.Function{}}
	// Other functions exist only with events. The functions that exist without do without, because a sweep would call
	// EventBridge.
	for _, events := range []string{"true", ""} {
		parameters := map[string]string{"DynamoDBEndpoint": s.DynamoDBEndpoint}
		if events != "" {
			parameters["SendEventsToBus"], parameters["WebhookSecretName"] = events, "/secret"
		}
		template, err := samtemplate.Load(localtest.Template(t), samtemplate.Settings{Parameters: parameters})
		assert.OK(t, err)
		for _, f := range template.Functions {
			s.functions[f.Name] = runtimeapi.Function{
				Binary: filepath.Join(folder, f.Name), Variables: f.Environment, Timeout: f.Timeout,
			}
		}
	}
	return s
}

// start starts a function, which ends with the test.
func start(t *testing.T, f runtimeapi.Function) *runtimeapi.Process {
	t.Helper()
	p, err := runtimeapi.Start(t.Context(), f)
	assert.OK(t, err)
	t.Cleanup(p.Stop)
	return p
}

func invoke(t *testing.T, p *runtimeapi.Process, event []byte) runtimeapi.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	response, err := p.Invoke(ctx, event)
	assert.OK(t, err)
	return response
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	event, err := os.ReadFile(filepath.Join(root, "events", name+".json"))
	assert.OK(t, err)
	return event
}

func checkSample(t *testing.T, p *runtimeapi.Process, name string) {
	t.Helper()
	response := invoke(t, p, sample(t, name))
	if err := sampleevent.Check(name, response.Body); response.Failed || err != nil {
		t.Errorf("failed: %t, %v\n%s", response.Failed, err, p.Stdout())
	}
}

// modules are what a function may link. The module of the proxy library requires dozens of web frameworks.
var modules = regexp.MustCompile(`^github\.com/(aws/(aws-lambda-go|aws-sdk-go-v2.*|smithy-go)|awslabs/aws-lambda-go-api-proxy|` +
	`google/uuid|go-json-experiment/json|standard-webhooks/standard-webhooks/libraries)$`)

// jwtModules are what the two functions that know the OpenID Connect issuer link, too.
var jwtModules = regexp.MustCompile(`^(github\.com/(coreos/go-oidc|go-jose/go-jose)/v[34]|golang\.org/x/oauth2)$`)

// isolated matches the functions whose sample events change what those of others need, or need what others change.
var isolated = regexp.MustCompile(`^(create-service-account-token|delete-service-account|sweep-staleness)$`)

func TestBinaries(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("there are no functions: %v", err)
	}
	shared := newService(t)
	for _, main := range mains {
		name := filepath.Base(filepath.Dir(main))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shared
			if isolated.MatchString(name) {
				s = newService(t)
			}
			f := s.functions[name]
			checkBinary(t, f.Binary)
			checkSample(t, start(t, f), name)
			if name == "not-found" || name == "console" {
				return // they need no variables
			}
			f.Variables = nil
			p := start(t, f)
			select {
			case <-p.Ended():
				if stderr := p.Stderr(); p.ExitCode() != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "_") {
					t.Errorf("without variables: exit code %d and %q, want 1 and one line with their names", p.ExitCode(), stderr)
				}
			case <-p.Polled():
				t.Error("it starts without variables")
			}
		})
	}
}

// checkBinary checks what makes a cold start slow.
func checkBinary(t *testing.T, binary string) {
	t.Helper()
	const maxSize, maxSizeNotFound = 10_500_000, 8_500_000
	info, err := buildinfo.ReadFile(binary)
	assert.OK(t, err)
	name := filepath.Base(binary)
	for _, module := range info.Deps {
		if !modules.MatchString(module.Path) &&
			!(jwtModules.MatchString(module.Path) && (name == "authorizer" || name == "console")) {
			t.Errorf("it links the module %s", module.Path)
		}
	}
	content, err := os.ReadFile(binary)
	assert.OK(t, err)
	size := len(content)
	if size > maxSize || name == "not-found" && size > maxSizeNotFound {
		t.Errorf("it has %d bytes", size)
	}
	for _, name := range []string{"net/rpc.", "testing."} {
		if bytes.Contains(content, []byte("\x00"+name)) { // the names of functions
			t.Errorf("it links package %s", name)
		}
	}
}

// TestWithoutDynamoDB calls functions whose engine is not reachable.
func TestWithoutDynamoDB(t *testing.T) {
	t.Parallel()
	const endpoint = "http://127.0.0.1:1"
	s := newService(t)
	for name, want := range map[string]string{
		"update-feedback":      "", // 503
		"authorizer":           `{"errorMessage":`,
		"record-traffic":       `{"errorMessage":`,
		"sweep-staleness":      `{"errorMessage":`,
		"reevaluate-staleness": `{"batchItemFailures":[{"itemIdentifier":`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := s.functions[name]
			f.Timeout, f.Variables = 2*time.Second, maps.Clone(f.Variables)
			f.Variables["DYNAMODB_ENDPOINT"] = endpoint
			p := start(t, f)
			response := invoke(t, p, sample(t, name))
			if want == "" {
				if err := sampleevent.CheckHTTP(response.Body, http.StatusServiceUnavailable); err != nil {
					t.Error(err)
				}
			} else if !bytes.HasPrefix(response.Body, []byte(want)) || response.Failed != strings.Contains(want, "error") {
				t.Errorf("failed: %t, %s", response.Failed, response.Body)
			}
			if bytes.Contains(response.Body, []byte(endpoint)) {
				t.Errorf("the response contains the endpoint: %s", response.Body)
			}
			select {
			case <-p.Ended():
				t.Errorf("the process has ended: %s", p.Stderr())
			default:
			}
		})
	}
}
