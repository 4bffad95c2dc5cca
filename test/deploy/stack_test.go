package deploy_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"

	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/seed"
	"toggleadmin/test/helper/assert"
)

// deployment is what `make deploy` or sam deploy is called with.
type deployment struct {
	environment string                   // section of samconfig.toml
	name        string                   // of the stack; empty: the one of the environment
	parameters  map[string]string        // instead of those of the environment; nil: those
	change      func(template *document) // of the built template; nil: none
	plain       bool                     // sam deploy
}

// stack is a deployed stack.
type stack struct {
	*emulator
	*installation.Installation
	template    *document
	delivery    *document // the nested template
	name, id    string
	folder      string            // with samconfig.toml and the build
	output      string            // of scripts/stack.py or sam
	physical    map[string]string // physical resource ids by logical id
	baseURL     string
	credentials seed.Credentials
}

// deploy creates or updates a stack.
func (e *emulator) deploy(t *testing.T, d deployment) *stack {
	t.Helper()
	s, err := e.tryDeploy(t, d)
	assert.OK(t, err)
	s.describe(t)
	return s
}

func (e *emulator) tryDeploy(t *testing.T, d deployment) (*stack, error) {
	t.Helper()
	s := &stack{emulator: e, name: d.name, folder: e.newFolder(t)}
	s.prepare(t, d)
	s.configure(t, d)
	if d.plain {
		var err error
		s.output, err = s.run(s.folder, "sam", "deploy")
		return s, err
	}
	err := s.script("deploy", "dev")
	return s, err
}

// newFolder returns a folder that exists until the emulator ends.
func (e *emulator) newFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp(e.dir, "stack") //nolint:usetesting // stacks outlive the test that creates them
	assert.OK(t, err)
	return folder
}

// configure writes samconfig.toml. The environment becomes dev, which can be deployed from a modified tree.
func (s *stack) configure(t *testing.T, d deployment) {
	t.Helper()
	content, err := os.ReadFile(absolute(t, "samconfig.toml"))
	assert.OK(t, err)
	config := string(content)
	if d.environment != "default" {
		config = strings.NewReplacer("[default.", "[unused.", "["+d.environment+".", "[default.").Replace(config)
	}
	if d.parameters != nil {
		var values []string
		for name, value := range d.parameters {
			values = append(values, "'"+name+"="+value+"'")
		}
		config = fmt.Sprintf("version = 0.1\n[default.global.parameters]\nstack_name = %q\n[default.deploy.parameters]\n"+
			"capabilities = ['CAPABILITY_IAM', 'CAPABILITY_AUTO_EXPAND']\nparameter_overrides = [%s]\n", d.name, strings.Join(values, ", "))
	}
	section := config[strings.Index(config, "[default.global.parameters]"):]
	s.name = regexp.MustCompile(`stack_name = "(.+)"`).FindStringSubmatch(section)[1]
	assert.OK(t, os.WriteFile(filepath.Join(s.folder, "samconfig.toml"), []byte(config), 0o600))
}

// script runs scripts/stack.py.
func (s *stack) script(arguments ...string) error {
	script, err := filepath.Abs("../../scripts/stack.py")
	if err != nil {
		return err
	}
	s.output, err = s.run(s.folder, "python", append([]string{script}, arguments...)...)
	return err
}

// prepare writes the built template to the folder, with links to the functions. It changes what the emulator cannot do.
// Functions get the address of DynamoDB in their variable, not by the parameter, so that all conditions are evaluated as
// on AWS. Only for sam deploy, functions are folders, which sam compresses for a minute. Otherwise they are archives,
// which it uploads as they are.
func (s *stack) prepare(t *testing.T, d deployment) {
	t.Helper()
	s.template, s.delivery = readDocument(t, filepath.Join(s.build, "template.yaml")), readDocument(t,
		filepath.Join(s.build, "Delivery", "template.yaml"))
	s.template.fitEmulator(t, s.url)
	s.delivery.fitEmulator(t, s.url)
	if d.change != nil {
		d.change(s.template)
	}
	build := filepath.Join(s.folder, ".aws-sam", "build")
	assert.OK(t, os.MkdirAll(filepath.Join(build, "Delivery"), 0o700))
	for folder, template := range map[string]*document{".": s.template, "Delivery": s.delivery} {
		functions, err := filepath.Glob(filepath.Join(s.build, folder, "*Function"))
		assert.OK(t, err)
		for _, function := range functions {
			name := filepath.Base(function)
			if d.plain {
				assert.OK(t, os.Symlink(function, filepath.Join(build, folder, name)))
			} else {
				template.set(t, "Resources."+name+".Properties.CodeUri", archive(t, function))
			}
		}
		template.write(t, filepath.Join(build, folder, "template.yaml"))
	}
}

// archive returns the path of the archive of a function's folder, which is made once. sam build empties the folder.
func archive(t *testing.T, function string) string {
	t.Helper()
	file := function + ".zip"
	if _, err := os.Stat(file); err == nil {
		return file
	}
	program, err := os.ReadFile(filepath.Join(function, "bootstrap"))
	assert.OK(t, err)
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestSpeed)
	})
	header := zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	header.SetMode(0o755)
	entry, err := w.CreateHeader(&header)
	assert.OK(t, err)
	_, err = entry.Write(program)
	assert.OK(t, err, w.Close(), os.WriteFile(file, content.Bytes(), 0o600))
	return file
}

// describe reads outputs and resources of the stack.
func (s *stack) describe(t *testing.T) {
	t.Helper()
	var err error
	s.Installation, err = installation.OpenStack(t.Context(), s.config, s.name)
	assert.OK(t, err)
	described, err := cloudformation.NewFromConfig(s.config).DescribeStacks(t.Context(),
		&cloudformation.DescribeStacksInput{StackName: &s.name})
	assert.OK(t, err)
	s.id = aws.ToString(described.Stacks[0].StackId)
	resources, err := s.Installation.Stack.Resources(t.Context())
	assert.OK(t, err)
	s.physical = map[string]string{}
	for _, ofType := range resources {
		maps.Copy(s.physical, ofType)
	}
	api, stage := resources.IDs("AWS::ApiGateway::RestApi"), resources.IDs("AWS::ApiGateway::Stage")
	s.baseURL = s.url + "/_aws/execute-api/" + api[0] + "/" + stage[0]
}

// seed seeds the tables and keeps the credentials in memory.
func (s *stack) seed(t *testing.T) {
	result, err := seed.Seed(t.Context(), seed.Config{Client: s.Client, Tables: s.Tables, Log: s.Log(time.Now),
		Now: time.Now, Random: rand.Reader, Known: s.credentials})
	assert.OK(t, err)
	s.credentials = result.Credentials
}

// delete deletes the stack.
func (s *stack) delete(t *testing.T) {
	t.Helper()
	err := s.script("delete", "dev")
	assert.OK(t, err)
	if _, err := cloudformation.NewFromConfig(s.config).DescribeStacks(t.Context(),
		&cloudformation.DescribeStacksInput{StackName: &s.name}); err == nil {
		t.Fatalf("the stack %s still exists", s.name)
	}
}

// logLines returns what was logged to a group since a time.
func (s *stack) logLines(t *testing.T, group string, since time.Time) (lines []string) {
	t.Helper()
	pages := cloudwatchlogs.NewFilterLogEventsPaginator(cloudwatchlogs.NewFromConfig(s.config),
		&cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String(s.physical[group]),
			StartTime: aws.Int64(since.UnixMilli())})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		assert.OK(t, err)
		for _, event := range page.Events {
			lines = append(lines, aws.ToString(event.Message))
		}
	}
	return lines
}

var (
	loggedError = regexp.MustCompile(`level\W+(ERROR|WARN)|AccessDenied|panic`)
	loggedDelay = regexp.MustCompile(`deadline exceeded`) // due to this machine
)

// loggedErrors returns the errors that functions have logged since a time.
func (s *stack) loggedErrors(t *testing.T, since time.Time) (errors string) {
	t.Helper()
	for group := range s.physical {
		if !strings.HasSuffix(group, "Logs") {
			continue
		}
		for _, line := range s.logLines(t, group, since) {
			if loggedError.MatchString(line) && !loggedDelay.MatchString(line) {
				errors += fmt.Sprintf("%s: %s\n", group, line)
			}
		}
	}
	return errors
}
