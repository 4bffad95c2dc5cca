package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	gocmp "github.com/google/go-cmp/cmp"

	"toggleadmin/test/assert"
)

// TestVersions runs scripts/versions.py on a stack with a function that has nine versions.
func TestVersions(t *testing.T) { //nolint:paralleltest // one emulator
	e := start(t)
	const name = "versions"
	e.createStack(t, name, &cloudformation.CreateStackInput{
		TemplateBody: aws.String(`{"Resources": {"Only": {"Type": "AWS::Lambda::Function", "Properties": {
			"FunctionName": "only", "Runtime": "python3.12", "Handler": "index.handler", "Code": {"ZipFile": "def handler(event, context): pass"},
			"Role": "arn:aws:iam::000000000000:role/only"}}},
			"Outputs": {"Version": {"Value": "0.1.0+1a2b3c4d"}}}`),
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

	for _, tt := range []struct{ stack, arguments, want string }{
		{name, "announce default 0.2.0", "versions: from 0.1.0+1a2b3c4d to 0.2.0\n"},
		{"new", "announce default 0.2.0", "new: 0.2.0 is the first deployment\n"},
		{name, "prune default", "versions: deleted 2 old versions of 1 functions\n"},
		{name, "prune default", "versions: deleted 0 old versions of 1 functions\n"},
	} {
		folder := t.TempDir()
		config := fmt.Sprintf("[default.global.parameters]\nstack_name = %q\n", tt.stack)
		assert.OK(t, os.WriteFile(filepath.Join(folder, "samconfig.toml"), []byte(config), 0o600))
		arguments := append([]string{absolute(t, "scripts/versions.py")}, strings.Fields(tt.arguments)...)
		if output, err := e.run(folder, "python", arguments...); err != nil || output != tt.want {
			t.Errorf("%s of %s: %v, %q, want %q", tt.arguments, tt.stack, err, output, tt.want)
		}
	}
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
