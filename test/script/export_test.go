package script

import (
	"context"

	"toggleadmin/test/openapi"
)

// FailuresWith is Failures for a test that has read the API's document.
func FailuresWith(ctx context.Context, validator *openapi.Validator, ground Ground, dir string) []Failure {
	return failures(ctx, validator, ground, dir, 0)
}
