package local

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// welcome prints the line "ready" and, if there is a local.json, the URL that signs the admin in with a code, and commands to paste into a
// shell.
func welcome(out io.Writer, dir string, r *Running, code string) error {
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
  Console: %[2]s/console/#code=%[3]s

  ADMIN=$(node -p "require(process.argv[1]).users.find(user => user.name === 'admin').pat" '%[1]s')
  curl -s -H "Authorization: $ADMIN" %[2]s/api/admin/feature-types

`, strings.ReplaceAll(file, "'", `'\''`), r.BaseURL, code)
	if err != nil {
		return fmt.Errorf("print how to try the service: %w", err)
	}
	return nil
}
