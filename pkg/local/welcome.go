package local

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"toggleadmin/pkg/seed"
)

// welcome prints the line "ready" and, if there is a local.json, the URL at which the admin is signed in, and commands to paste into a shell.
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
	admin := slices.IndexFunc(r.Users, func(u seed.User) bool { return u.Name == "admin" })
	if admin < 0 {
		return errors.New("the seeded users have no admin")
	}
	_, err = fmt.Fprintf(out, `
  Console: %[2]s/console/#token=%[3]s

  ADMIN=$(node -p "require(process.argv[1]).users.find(user => user.name === 'admin').pat" '%[1]s')
  curl -s -H "Authorization: $ADMIN" %[2]s/api/admin/feature-types

`, strings.ReplaceAll(file, "'", `'\''`), r.BaseURL, r.Users[admin].PAT)
	if err != nil {
		return fmt.Errorf("print how to try the service: %w", err)
	}
	return nil
}
