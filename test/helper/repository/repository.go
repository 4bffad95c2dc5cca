// Package repository finds the files of the repository.
package repository

import (
	"os"
	"path/filepath"
	"strings"
)

// File returns the absolute path of a file, whose name is relative to the root of the repository. The working directory
// must be in the repository.
func File(name string) (path string, err error) {
	for depth := range 10 {
		if path, err = filepath.Abs(strings.Repeat("../", depth) + name); err == nil {
			_, err = os.Stat(path)
		}
		if err == nil {
			return path, nil
		}
	}
	return "", err
}
