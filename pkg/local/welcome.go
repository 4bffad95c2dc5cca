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
  API=%s
  TOKEN=$(sed -n 's/.*"apiToken": "\(.*\)".*/\1/p' '%s')
  curl -H "Authorization: $TOKEN" $API/api/admin/feature-types
  curl -H "Authorization: $TOKEN" $API/api/admin/context
  curl -X PUT -H "Authorization: $TOKEN" -H 'Content-Type: application/json' -d '{"lifetimeDays": 14}' $API/api/admin/feature-types/release/lifetime

`, r.BaseURL, strings.ReplaceAll(file, "'", `'\''`))
	if err != nil {
		return fmt.Errorf("print commands to try: %w", err)
	}
	return nil
}
