package script

import (
	"context"

	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/openapi"
)

// RunT is Run for a test that watches scripts fail.
func RunT(ctx context.Context, t testscript.T, validator *openapi.Validator, ground Ground, dir string) {
	run(ctx, t, validator, ground, dir)
}
