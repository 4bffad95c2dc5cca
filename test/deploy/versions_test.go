package deploy_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	gocmp "github.com/google/go-cmp/cmp"

	"toggleadmin/test/assert"
)

// TestPrune deletes old versions of a function that has nine, two of which its alias uses.
func TestPrune(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	const name = "versions"
	e.createStack(t, name, &cloudformation.CreateStackInput{
		TemplateBody: aws.String(`{"Resources": {"Only": {"Type": "AWS::Lambda::Function", "Properties": {
			"FunctionName": "only", "Runtime": "python3.12", "Handler": "index.handler", "Code": {"ZipFile": "def handler(event, context): pass"},
			"Role": "arn:aws:iam::000000000000:role/only"}}}}`),
	})
	function := "only"
	client := lambda.NewFromConfig(e.config)
	for i := range 9 { // Lambda publishes only what has changed
		_, err := client.UpdateFunctionConfiguration(t.Context(), &lambda.UpdateFunctionConfigurationInput{
			FunctionName: &function, Timeout: aws.Int32(int32(i + 10)),
		})
		assert.OK(t, err)
		_, err = client.PublishVersion(t.Context(), &lambda.PublishVersionInput{FunctionName: &function})
		assert.OK(t, err)
	}
	_, err := client.CreateAlias(t.Context(), &lambda.CreateAliasInput{
		FunctionName: &function, Name: aws.String("live"), FunctionVersion: aws.String("2"),
		RoutingConfig: &lambdatypes.AliasRoutingConfiguration{AdditionalVersionWeights: map[string]float64{"3": 0.1}},
	})
	assert.OK(t, err)

	prune := fmt.Sprintf("import sys; sys.path.insert(0, %q); import stack; stack.prune(%q)", absolute(t, "scripts"), name)
	_, err = e.run(t.TempDir(), "python", "-c", prune)
	assert.OK(t, err)
	listed, err := client.ListVersionsByFunction(t.Context(), &lambda.ListVersionsByFunctionInput{FunctionName: &function})
	assert.OK(t, err)
	var kept []string
	for _, v := range listed.Versions {
		kept = append(kept, aws.ToString(v.Version))
	}
	if diff := gocmp.Diff([]string{"$LATEST", "2", "3", "5", "6", "7", "8", "9"}, kept); diff != "" {
		t.Error(diff)
	}
}
