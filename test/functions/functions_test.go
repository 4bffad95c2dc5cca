// Package functions_test invokes every function with its sample event, and one built binary of each kind through the
// Lambda Runtime API.
package functions_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
	"toggleadmin/test/helper/runtimeapi"
	"toggleadmin/test/helper/sampleevent"
)

const root = "../.."

// built are the functions that are built and run as processes: one for each kind of event, and those with the largest
// binaries. The main of every other function differs from theirs only in the constructor.
var built = regexp.MustCompile(`^(announce-expiring-tokens|authorizer|console|deliver-webhook|not-found|record-traffic|` +
	`reevaluate-staleness|update-feedback)$`)

// folders returns the names of all functions.
func folders(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "functions"))
	assert.OK(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// run runs the go command in the root of the repository, with the flags of a deployment, and returns what it prints.
func run(t *testing.T, args ...string) string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	assert.OK(t, err)
	flags := regexp.MustCompile(`(?m)^FUNCTION_FLAGS := (.+)$`).FindSubmatch(makefile)
	if flags == nil {
		t.Fatal("the Makefile has no FUNCTION_FLAGS")
	}
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+string(flags[1]))
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, output)
	}
	return string(output)
}

var builds sync.Once

// build builds functions once. The binaries are kept: if nothing has changed, go build links nothing.
func build(t *testing.T) (folder string) {
	t.Helper()
	for _, name := range []string{"functions", "pkg", "go.mod", "go.sum"} { // the test cache depends on the sources
		process.DependOn(t, filepath.Join(root, name))
	}
	args := []string{"build", "-o", ".cache/functions-here/"}
	for _, name := range folders(t) {
		if built.MatchString(name) {
			args = append(args, "./functions/"+name)
		}
	}
	builds.Do(func() { run(t, args...) })
	return filepath.Join(root, ".cache", "functions-here")
}

// functions returns all functions of the template, by name. They use the engine at an endpoint.
func functions(t *testing.T, endpoint string) map[string]samtemplate.Function {
	t.Helper()
	all := map[string]samtemplate.Function{}
	// Some functions exist only with SendEventsToBus. The others are loaded without it, because a sweep would call
	// EventBridge.
	for _, events := range []string{"true", ""} {
		parameters := map[string]string{"DynamoDBEndpoint": endpoint, "ClientApi": "true"}
		if events != "" {
			parameters["SendEventsToBus"], parameters["WebhookSecretName"] = events, "/secret"
		}
		template, err := samtemplate.Load(localtest.Template(t), samtemplate.Settings{Parameters: parameters})
		assert.OK(t, err)
		for i := range template.Functions {
			all[template.Functions[i].Name] = template.Functions[i]
		}
	}
	return all
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

// allowed are the packages that a function may link, with the standard library. The module of the proxy library requires
// dozens of web frameworks.
var allowed = regexp.MustCompile(`^(toggleadmin|vendor|github\.com/(aws/(aws-lambda-go|aws-sdk-go-v2|smithy-go)|` +
	`awslabs/aws-lambda-go-api-proxy|google/uuid|go-json-experiment/json|standard-webhooks/standard-webhooks/libraries|` +
	`agnivade/levenshtein)|golang\.org/x/(sync/errgroup|text/(transform|unicode/norm)))/`)

// jwt are the packages that the two functions that know the OpenID Connect issuer link, too.
var jwt = regexp.MustCompile(`^github\.com/go-jose/go-jose/v4(/|$)`)

// mainFunc is what the main package of a function consists of, except its imports. Its groups are the package and the list
// that contain the function, and its name.
var mainFunc = regexp.MustCompile(`\nfunc main\(\) { app\.Main\((\w+)\.(Operations|Functions)\(\), "([a-z-]+)"\) }\n`)

// listed reports whether a package has a list with a function.
func listed(t *testing.T, imported, list, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "pkg/*", imported, "*.go"))
	assert.OK(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		assert.OK(t, err)
		_, body, _ := strings.Cut(string(content), "\nfunc "+list+"() ")
		body, _, _ = strings.Cut(body, "\n}\n")
		if regexp.MustCompile(`\bName: +"` + name + `",\n`).MatchString(body) {
			return true
		}
	}
	return false
}

// TestMains checks that each function selects itself in the list of its package, which the local service uses, and links
// no other packages than it may: they make a cold start slow.
func TestMains(t *testing.T) {
	t.Parallel()
	linked := map[string][]string{}
	list := run(t, "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./functions/...")
	for line := range strings.Lines(list) {
		packages := strings.Fields(line)
		linked[path.Base(packages[0])] = packages[1:]
	}
	for _, name := range folders(t) {
		content, err := os.ReadFile(filepath.Join(root, "functions", name, "main.go"))
		assert.OK(t, err)
		found := mainFunc.FindStringSubmatch(string(content))
		if found == nil || found[3] != name || !listed(t, found[1], found[2], name) {
			t.Errorf("the main of %s does not select it in the list of a package", name)
		}
		for _, imported := range linked[name] {
			module := strings.Contains(imported[:strings.Index(imported+"/", "/")], ".")
			if imported == "net/rpc" || imported == "testing" || module && !allowed.MatchString(imported+"/") &&
				!(jwt.MatchString(imported) && (name == "authorizer" || name == "console")) {
				t.Errorf("%s links %s", name, imported)
			}
		}
	}
}

// TestSampleEvents invokes the functions that are not built with their sample events, one after another, in tables with
// the seed data.
func TestSampleEvents(t *testing.T) { //nolint:tparallel // the functions share the tables
	t.Parallel()
	service, names := localtest.Start(t, local.Config{RequestsOnly: true}), folders(t)
	all := functions(t, service.DynamoDBEndpoint)
	// These events need what others change, or change what others need.
	order := map[string]int{
		"sweep-staleness": -1, "remove-environment": -1, "delete-feature-dependency": -1, "create-segment": 1, "create-service-account-token": 1, "delete-service-account": 1, "change-project": 1,
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(order[a], order[b]) })
	for _, name := range names {
		if built.MatchString(name) {
			continue // TestBinaries sends it
		}
		t.Run(name, func(t *testing.T) {
			client := dynamo.NewHTTPClient(service.DynamoDBEndpoint)
			t.Cleanup(client.CloseIdleConnections)
			handler, err := local.Constructor(name)(&app.Env{
				Vars: all[name].Environment, Now: time.Now, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
				AWS: aws.Config{Region: "eu-west-1", HTTPClient: client,
					Credentials: credentials.NewStaticCredentialsProvider("local", "local", "local")},
			})
			assert.OK(t, err)
			response, err := handler.Invoke(t.Context(), sample(t, name))
			assert.OK(t, err)
			assert.OK(t, sampleevent.Check(name, response))
		})
	}
}

// TestBinaries runs the functions that are built.
func TestBinaries(t *testing.T) {
	t.Parallel()
	const maxSize, maxSizeNotFound = 10_500_000, 8_500_000
	folder := build(t)
	all := functions(t, localtest.Start(t, local.Config{RequestsOnly: true}).DynamoDBEndpoint)
	for _, name := range folders(t) {
		if !built.MatchString(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := all[name]
			binary := filepath.Join(folder, name)
			info, err := os.Stat(binary)
			assert.OK(t, err)
			if size := info.Size(); size > maxSize || name == "not-found" && size > maxSizeNotFound {
				t.Errorf("it has %d bytes", size)
			}
			p := start(t, runtimeapi.Function{Binary: binary, Variables: f.Environment, Timeout: f.Timeout})
			response := invoke(t, p, sample(t, name))
			if err := sampleevent.Check(name, response.Body); response.Failed || err != nil {
				t.Errorf("failed: %t, %v\n%s", response.Failed, err, p.Stdout())
			}
			if name == "console" || name == "not-found" || name == "health" {
				return // they need no variables
			}
			p = start(t, runtimeapi.Function{Binary: binary, Timeout: f.Timeout})
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

// TestWithoutDynamoDB calls functions whose engine is not reachable.
func TestWithoutDynamoDB(t *testing.T) {
	t.Parallel()
	const endpoint = "http://127.0.0.1:1"
	folder, all := build(t), functions(t, endpoint)
	for name, want := range map[string]string{
		"update-feedback":          "", // 503
		"authorizer":               `{"errorMessage":`,
		"record-traffic":           `{"errorMessage":`,
		"announce-expiring-tokens": `{"errorMessage":`,
		"reevaluate-staleness":     `{"batchItemFailures":[{"itemIdentifier":`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, runtimeapi.Function{Binary: filepath.Join(folder, name), Variables: all[name].Environment,
				Timeout: 2 * time.Second})
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
