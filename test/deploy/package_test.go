package deploy_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/google/go-cmp/cmp"
)

// deployPackage creates a stack from the plain template and the uploaded files of scripts/package.py.
func (e *emulator) deployPackage(t *testing.T, name string, parameters map[string]string) *stack {
	t.Helper()
	s := &stack{emulator: e, name: name, template: readDocument(t, filepath.Join(e.build, "template.yaml"))}
	s.template.prepare(t, e.url)
	file := filepath.Join(e.build, "as-packaged.yaml") // the paths of the functions are relative to it
	s.template.write(t, file)
	defer func() { _ = os.Remove(file) }()
	bucket := e.createResource(t, `{"Type": "AWS::S3::Bucket"}`)

	first, second := e.pack(t, file, bucket), e.pack(t, file, bucket)
	if diff := cmp.Diff(hashes(t, first), hashes(t, second)); diff != "" {
		t.Errorf("the same build was packaged differently (-first +second):\n%s", diff)
	}
	plain, err := os.ReadFile(filepath.Join(first, "template.json"))
	must(t, err)
	if bytes.Contains(plain, []byte(`"Transform"`)) || bytes.Contains(plain, []byte("AWS::Serverless")) {
		t.Error("the template needs the transform of SAM")
	}
	// W8003 as in scripts/stack.sh. prepare removes the only use of a parameter (W2001) and adds an action that AWS does
	// not have (W3037).
	e.runPython(t, "cfn-lint", filepath.Join(first, "template.json"), "--ignore-checks", "W2001", "W3037", "W8003")

	var values []types.Parameter
	for key, value := range parameters {
		values = append(values, types.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	client := cloudformation.NewFromConfig(e.config)
	url := e.url + "/" + bucket + "/toggleadmin/template.json"
	_, err = client.CreateStack(t.Context(), &cloudformation.CreateStackInput{
		StackName: &name, TemplateURL: &url, Parameters: values,
		Capabilities: []types.Capability{types.CapabilityCapabilityIam},
	})
	must(t, err)
	e.awaitStack(t, name)
	must(t, s.describe())
	return s
}

// pack runs scripts/package.py and returns the folder that it wrote.
func (e *emulator) pack(t *testing.T, template, bucket string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "package")
	e.runPython(t, "python", absolute(t, "scripts/package.py"), template, folder, "default", bucket)
	return folder
}

// runPython runs a program of the SAM CLI's virtual environment.
func (e *emulator) runPython(t *testing.T, program string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(e.sam), program), arguments...)
	cmd.Env, cmd.Dir = e.environment(), absolute(t, ".")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}

// hashes returns the SHA-256 of each file of a folder by name.
func hashes(t *testing.T, folder string) map[string][sha256.Size]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	must(t, err)
	found := map[string][sha256.Size]byte{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		must(t, err)
		found[filepath.Base(name)] = sha256.Sum256(content)
	}
	return found
}

// createResource creates a resource in a stack of its own and returns its physical ID.
func (e *emulator) createResource(t *testing.T, resource string) string {
	t.Helper()
	client, name := cloudformation.NewFromConfig(e.config), "resource-"+strings.ToLower(rand.Text())
	_, err := client.CreateStack(e.ctx, &cloudformation.CreateStackInput{
		StackName: &name, TemplateBody: aws.String(`{"Resources": {"Only": ` + resource +
			`}, "Outputs": {"Id": {"Value": {"Ref": "Only"}}}}`),
	})
	must(t, err)
	return aws.ToString(e.awaitStack(t, name).Outputs[0].OutputValue)
}

// awaitStack waits until a stack is created.
func (e *emulator) awaitStack(t *testing.T, name string) types.Stack {
	t.Helper()
	created, err := cloudformation.NewStackCreateCompleteWaiter(cloudformation.NewFromConfig(e.config),
		func(o *cloudformation.StackCreateCompleteWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Second, time.Second
		},
	).WaitForOutput(e.ctx, &cloudformation.DescribeStacksInput{StackName: &name}, timeout)
	must(t, err)
	return created.Stacks[0]
}
