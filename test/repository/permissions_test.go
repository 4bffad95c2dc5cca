package repository_test

import (
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/access"
)

// TestPermissionsThatDecide compares the permissions that the API and the pages of roles show with those that the code of
// the operations uses.
func TestPermissionsThatDecide(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	eachFile(t, func(file string, content []byte) {
		if strings.HasPrefix(file, "pkg/") && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			code.Write(content)
		}
	})
	constants := regexp.MustCompile(`(?m)^\t(\w+) +Permission += "(\w+)"`).
		FindAllStringSubmatch(read(t, "pkg/platform/access/permission.go"), -1)
	named := map[access.Permission]bool{}
	for _, constant := range constants {
		named[access.Permission(constant[2])] = regexp.MustCompile(`\baccess\.` + constant[1] + `\b`).MatchString(code.String())
	}
	for _, info := range access.Permissions() {
		if info.Decides != named[info.Name] {
			t.Errorf("%s decides: %t, but the operations use it: %t", info.Name, info.Decides, named[info.Name])
		}
	}
}
