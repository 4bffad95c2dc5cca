// Command null is a function that does nothing: what it costs is the Runtime API's two HTTP requests of every invocation.
package main

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(context.Context, json.RawMessage) (string, error) { return "", nil })
}
