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
	commands, err := Commands(dir, r)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("\n  Console: %s/console/\n  Applications: %s\n\n", r.BaseURL, r.ClientURL)
	if code != "" {
		text = fmt.Sprintf(`
  Console: %[2]s/console/#code=%[3]s
  Applications: %[4]s

%[1]s  CLIENT_TOKEN=$(read_json "clientTokens.find(t => t.type === 'backend').secret")
  curl -s -H "Authorization: $CLIENT_TOKEN" -w '\n' %[4]s/api/client/features

`, commands, r.BaseURL, code, r.ClientURL)
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("print how to try the service: %w", err)
	}
	return nil
}

// Commands returns commands to paste into a shell, which send a request to the API with the credentials of local.json in
// the folder.
func Commands(dir string, r *Running) (string, error) {
	file, err := filepath.Abs(filepath.Join(dir, localJSON))
	if err != nil {
		return "", fmt.Errorf("find %s: %w", localJSON, err)
	}
	return fmt.Sprintf(`  read_json() { node -p "JSON.parse(require('fs').readFileSync(0)).$1" <'%s'; }
  TOKEN=$(read_json "users.find(u => u.name === 'admin').pat")
  curl -s -H "Authorization: $TOKEN" -w '\n' %s/api/admin/feature-types
`, strings.ReplaceAll(file, "'", `'\''`), r.BaseURL), nil
}
