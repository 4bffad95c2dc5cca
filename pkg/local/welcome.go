package local

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// welcome prints the line "ready" and, if there is a local.json, commands to paste into a shell.
func welcome(out io.Writer, dir string, r *Running) error {
	if _, err := fmt.Fprintln(out, "ready", r.BaseURL); err != nil {
		return fmt.Errorf("print that the service is ready: %w", err)
	}
	if dir == "" {
		return nil
	}
	file, err := filepath.Abs(filepath.Join(dir, localJSON))
	if err != nil {
		return fmt.Errorf("find %s: %w", localJSON, err)
	}
	_, err = fmt.Fprintf(out, `
  ADMIN=$(node -p "require(process.argv[1]).users.find(user => user.name === 'admin').pat" '%s')
  curl -s -H "Authorization: $ADMIN" %s/api/admin/feature-types

`, strings.ReplaceAll(file, "'", `'\''`), r.BaseURL)
	if err != nil {
		return fmt.Errorf("print commands to try: %w", err)
	}
	return nil
}
