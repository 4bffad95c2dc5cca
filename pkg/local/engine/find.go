package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Version is the version of the engine that Start accepts: the one in package.json.
const Version = "1.2.1"

// npmPackage holds the program for the one platform that the engine is published and tested for.
const npmPackage = "@dynoxide/linux-x64"

// ErrMissing says that the engine's npm package is not installed.
var ErrMissing = errors.New("the engine is not installed")

// Find gives the engine's program. As npm does, it looks into node_modules of the folder and of every folder above it. Where there is
// none it returns ErrMissing, with what to do about it.
func Find(folder string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("find the engine: %w", err)
	}
	for {
		program := filepath.Join(abs, "node_modules", filepath.FromSlash(npmPackage), "dynoxide")
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() {
			return program, nil
		}
		parent := filepath.Dir(abs)
		if parent == abs {
			return "", fmt.Errorf("%w: run `npm ci` (Linux x86_64; elsewhere set DYNAMODB_ENDPOINT to a running DynamoDB Local)", ErrMissing)
		}
		abs = parent
	}
}
