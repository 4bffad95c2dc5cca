package repository_test

import (
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/test/assert"
)

// docs/connect.md contains the programs of docs/examples, which test/sdk runs.
func TestExamplesOnPage(t *testing.T) {
	t.Parallel()
	const folder = "docs/examples/"
	page := read(t, "docs/connect.md")
	for _, name := range []string{"node.js", "app.py", "go/main.go", "App.java", "react.jsx", "page/page.html", "openfeature.js"} {
		if !strings.Contains(page, "\n"+read(t, folder+name)+"```\n") {
			t.Errorf("docs/connect.md does not contain %s%s", folder, name)
		}
	}
	top, err := filepath.Glob("../../" + folder + "*.*")
	assert.OK(t, err)
	assert.Equal(t, 5, len(top)) // another example belongs to the list above
}
