package template_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestLifeOfAChange checks that the code and the resources that the change in CONTRIBUTING.md names exist.
func TestLifeOfAChange(t *testing.T) {
	t.Parallel()
	_, page, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## A change, step by step\n")
	page, _, _ = strings.Cut(page, "\n## ")
	page = strings.Join(strings.Fields(page), " ")
	for _, match := range regexp.MustCompile("`([\\w.]+)` in `(pkg/[^`]+)`").FindAllStringSubmatch(page, -1) {
		declaration := `(?m)^func ` + match[1] + `\(`
		if receiver, name, isMethod := strings.Cut(match[1], "."); isMethod {
			declaration = `(?m)^func \(\w+ \*?` + receiver + `\) ` + name + `\(`
		}
		if !regexp.MustCompile(declaration).MatchString(read(t, match[2])) {
			t.Errorf("%s has no %s", match[2], match[1])
		}
	}
	page = regexp.MustCompile("`[\\w.]+` in `[^`]+`").ReplaceAllString(page, "")
	named := regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(page, -1)
	for _, match := range named {
		if !strings.Contains(read(t, "template.yaml"), "\n  "+match[1]+":\n") {
			t.Errorf("template.yaml has no resource %s", match[1])
		}
	}
	if len(named) < 10 {
		t.Errorf("the page names only %d resources", len(named))
	}
}
