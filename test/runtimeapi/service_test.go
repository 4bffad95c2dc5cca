package runtimeapi_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/seed"
	"toggleadmin/test/runtimeapi"
)

// service is what functions need around them: the template's tables, seeded, in an engine of their own.
type service struct {
	template *samtemplate.Template
	seeded   seed.Credentials
}

// startService starts an engine with the template's tables and the seed. It ends with the test.
func startService(t *testing.T) service {
	t.Helper()
	endpoint := enginetest.Start(t).Endpoint()
	template, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Settings{
		Parameters: map[string]string{"DynamoDBEndpoint": endpoint},
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamo.NewClient(aws.Config{
		Region:      "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:  dynamo.NewHTTPClient(endpoint),
	}, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	if err := tables.Make(t.Context(), client, template.Tables); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for i := range template.Tables {
		names[template.Tables[i].LogicalID] = template.Tables[i].Name
	}
	result, err := seed.Seed(t.Context(), seed.Config{
		Client: client,
		Tables: dynamo.TablesByID(names),
		Now:    time.Now,
		Random: rand.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	return service{template: template, seeded: result.Credentials}
}

// function is what Lambda would know of a function, with the variables that the template gives it.
func (s service) function(t *testing.T, f function) runtimeapi.Function {
	t.Helper()
	for i := range s.template.Functions {
		if from := &s.template.Functions[i]; from.Name == f.name {
			return runtimeapi.Function{Binary: f.binary, Variables: from.Environment, Timeout: from.Timeout}
		}
	}
	t.Fatalf("template.yaml has no function for functions/%s", f.name)
	return runtimeapi.Function{}
}
