// Package checkpoint keeps how far a delivery has come, in a small JSON file.
//
// The one concept: a file is replaced as a whole, so that whoever is killed leaves the old state or the new one. It is not forced to the
// disk: what is kept outlives the process, not a power cut.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the file of one state; the zero File keeps nothing. It is not safe for concurrent use.
type File struct {
	Path string
}

// Load reads the state into v, and leaves v as it is where there is none yet.
func (f File) Load(v any) error {
	if f.Path == "" {
		return nil
	}
	content, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(content, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	return nil
}

// Save replaces the state. The file's folder must exist.
func (f File) Save(v any) error {
	if f.Path == "" {
		return nil
	}
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	next := filepath.Join(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".new")
	if err := os.WriteFile(next, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	if err := os.Rename(next, f.Path); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	return nil
}
