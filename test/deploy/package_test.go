package deploy_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
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
	if diff, err := exec.CommandContext(t.Context(), "diff", "-r", first, second).CombinedOutput(); err != nil {
		t.Errorf("the same build was packaged differently: %v\n%s", err, diff)
	}
	plain, err := os.ReadFile(filepath.Join(first, "template.json"))
	must(t, err)
	if bytes.Contains(plain, []byte(`"Transform"`)) || bytes.Contains(plain, []byte("AWS::Serverless")) {
		t.Error("the template needs the transform of SAM")
	}
	// W8003 as in scripts/stack.sh. prepare removes the only use of a parameter (W2001) and adds an action that AWS does
	// not have (W3037).
	_, err = e.runPython(first, "cfn-lint", "template.json", "--ignore-checks", "W2001", "W3037", "W8003")
	must(t, err)

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
	_, err := e.runPython(absolute(t, "."), "python", "scripts/package.py", template, folder, "default", bucket)
	must(t, err)
	return folder
}

// runPython runs a program of the SAM CLI's virtual environment in a folder and returns its output.
func (e *emulator) runPython(folder, program string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(e.ctx, filepath.Join(filepath.Dir(e.sam), program), arguments...)
	cmd.Env, cmd.Dir = e.environment(), folder
	output, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", program, err, output)
	}
	return string(output), err
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
