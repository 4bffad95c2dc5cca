package deploy_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"toggleadmin/test/helper/assert"
)

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
