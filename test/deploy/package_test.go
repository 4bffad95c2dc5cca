package deploy_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"toggleadmin/test/assert"
)

// deployPackage creates a stack from the plain template and the uploaded files of `make package`.
func (e *emulator) deployPackage(t *testing.T, name string, parameters map[string]string) *stack {
	t.Helper()
	bucket := e.createResource(t, `{"Type": "AWS::S3::Bucket"}`)
	first, s := e.pack(t, bucket)
	second, _ := e.pack(t, bucket)
	s.name = name
	if diff, err := exec.CommandContext(t.Context(), "diff", "-r", first, second).CombinedOutput(); err != nil {
		t.Errorf("the same build was packaged differently: %v\n%s", err, diff)
	}
	plain, err := os.ReadFile(filepath.Join(first, "template.json"))
	assert.OK(t, err)
	if bytes.Contains(plain, []byte(`"Transform"`)) || bytes.Contains(plain, []byte("AWS::Serverless")) {
		t.Error("the template needs the transform of SAM")
	}
	var values []types.Parameter
	for key, value := range parameters {
		values = append(values, types.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	url := e.url + "/" + bucket + "/toggleadmin/template.json"
	e.createStack(t, name, &cloudformation.CreateStackInput{
		TemplateURL: &url, Parameters: values, Capabilities: []types.Capability{types.CapabilityCapabilityIam},
	})
	s.describe(t)
	return s
}

// pack runs `make package` and returns the folder that it wrote.
func (e *emulator) pack(t *testing.T, bucket string) (string, *stack) {
	t.Helper()
	s := &stack{emulator: e, folder: e.newFolder(t)}
	s.prepare(t, nil)
	s.configure(t, deployment{environment: "default"})
	err := s.script("package", "dev", bucket)
	assert.OK(t, err)
	return filepath.Join(s.folder, ".aws-sam", "package"), s
}

// createResource creates a resource in a stack of its own and returns its physical ID.
func (e *emulator) createResource(t *testing.T, resource string) string {
	t.Helper()
	created := e.createStack(t, "resource-"+strings.ToLower(rand.Text()), &cloudformation.CreateStackInput{
		TemplateBody: aws.String(`{"Resources": {"Only": ` + resource + `}, "Outputs": {"Id": {"Value": {"Ref": "Only"}}}}`),
	})
	return aws.ToString(created.Outputs[0].OutputValue)
}

// createStack creates a stack without sam.
func (e *emulator) createStack(t *testing.T, name string, input *cloudformation.CreateStackInput) types.Stack {
	t.Helper()
	client := cloudformation.NewFromConfig(e.config)
	input.StackName = &name
	_, err := client.CreateStack(t.Context(), input)
	assert.OK(t, err)
	created, err := cloudformation.NewStackCreateCompleteWaiter(client,
		func(o *cloudformation.StackCreateCompleteWaiterOptions) {
			o.MinDelay, o.MaxDelay = time.Second, time.Second
		},
	).WaitForOutput(t.Context(), &cloudformation.DescribeStacksInput{StackName: &name}, timeout)
	assert.OK(t, err)
	return created.Stacks[0]
}
