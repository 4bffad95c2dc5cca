package jsonbody_test

import (
	"errors"
	"os"
	"testing"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/jsonbody"
)

// The schemas of the operations, as they are embedded and documented.
const (
	lifetime = "../featuretype/lifetime.schema.json"
	feedback = "../feedback/update.schema.json"
	token    = "../pat/create.schema.json"
)

func compile(tb testing.TB, file []byte) *jsonbody.Schema {
	tb.Helper()
	schema, err := jsonbody.Compile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return schema
}

func compileFile(tb testing.TB, path string) *jsonbody.Schema {
	tb.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return compile(tb, file)
}

// refusal gives the message of the 400 that err must be.
func refusal(tb testing.TB, err error) string {
	tb.Helper()
	failed, ok := errors.AsType[*apierror.Error](err)
	if !ok || failed.Kind != apierror.Validation {
		tb.Fatalf("the error is %v, want a ValidationError", err)
	}
	return failed.Message
}
