package local

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// welcome prints the line "ready" and, if there is a local.json, the URLs of the console and for applications. With a
// code, the URL of the console signs the admin in, and commands to paste into a shell follow.
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
	text := fmt.Sprintf("\n  Console: %s/console/\n  Applications: %s\n\n", r.BaseURL, r.ClientURL)
	if code != "" {
		text = fmt.Sprintf(`
  Console: %[2]s/console/#code=%[3]s
  Applications: %[4]s

  read_json() { node -p "JSON.parse(require('fs').readFileSync(0)).$1" <'%[1]s'; }
  TOKEN=$(read_json "users.find(u => u.name === 'admin').pat")
  curl -s -H "Authorization: $TOKEN" -w '\n' %[2]s/api/admin/feature-types
  CLIENT_TOKEN=$(read_json "clientTokens.find(t => t.type === 'backend').secret")
  curl -s -H "Authorization: $CLIENT_TOKEN" -w '\n' %[4]s/api/client/features

`, strings.ReplaceAll(file, "'", `'\''`), r.BaseURL, code, r.ClientURL)
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("print how to try the service: %w", err)
	}
	return nil
}
