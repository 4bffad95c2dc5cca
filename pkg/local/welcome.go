package local

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// welcome prints the line that says that everything answers and, where there is a local.json to take a token from, commands that work
// as pasted.
func welcome(out io.Writer, dir string, r *Running) error {
	text := "ready " + r.BaseURL + "\n"
	if dir != "" {
		file, err := filepath.Abs(filepath.Join(dir, localJSON))
		if err != nil {
			return fmt.Errorf("find %s: %w", localJSON, err)
		}
		text += fmt.Sprintf(`
  API=%s
  TOKEN=$(sed -n 's/.*"name":"admin".*"pat":"\([^"]*\)".*/\1/p' %s)
  curl -H "Authorization: $TOKEN" $API/api/admin/feature-types
  curl -H "Authorization: $TOKEN" $API/api/admin/context
  curl -X PUT -H "Authorization: $TOKEN" -H 'Content-Type: application/json' -d '{"lifetimeDays": 14}' $API/api/admin/feature-types/release/lifetime

`, r.BaseURL, shellQuote(file))
	}
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("print that everything is ready: %w", err)
	}
	return nil
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
