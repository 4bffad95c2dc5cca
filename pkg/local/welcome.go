package local

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// welcome prints the line "ready" and, if there is a local.json, the URL of the console. With a code, the URL signs the
// admin in, and commands to paste into a shell follow.
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
	text := fmt.Sprintf("\n  Console: %s/console/\n\n", r.BaseURL)
	if code != "" {
		text = fmt.Sprintf(`
  Console: %[2]s/console/#code=%[3]s

  TOKEN=$(node -p "JSON.parse(require('fs').readFileSync(0)).users.find(u => u.name === 'admin').pat" <'%[1]s')
  curl -s -H "Authorization: $TOKEN" -w '\n' %[2]s/api/admin/feature-types

`, strings.ReplaceAll(file, "'", `'\''`), r.BaseURL, code)
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("print how to try the service: %w", err)
	}
	return nil
}
