package repository_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

// docs/connect.md contains the program for Node.js and links the others of docs/examples, which test/sdk runs.
func TestExamplesOnPage(t *testing.T) {
	t.Parallel()
	const folder = "docs/examples/"
	page := read(t, "docs/connect.md")
	if !strings.Contains(page, "\n"+read(t, folder+"node.js")+"```\n") {
		t.Error("docs/connect.md does not contain node.js")
	}
	examples, err := filepath.Glob("../../" + folder + "*.*")
	assert.OK(t, err)
	for _, example := range append(examples, "go/main.go", "page/page.html") {
		name := strings.TrimPrefix(example, "../../"+folder)
		if name != "node.js" && !strings.Contains(page, "](examples/"+name+")") {
			t.Errorf("docs/connect.md does not link %s", name)
		}
	}
}

// docs/connect.md names the versions of the clients that test/sdk runs, and no others.
func TestClientsOnPage(t *testing.T) {
	t.Parallel()
	sources := ""
	for _, path := range []string{
		"test/sdk/javascript/package.json", "test/sdk/go/go.mod", "test/sdk/java/pom.xml", "test/sdk/java/pom-9.xml",
		"scripts/requirements/unleash-client-5.txt", "scripts/requirements/unleash-client-6.txt", "scripts/test-sdk.sh",
	} {
		sources += read(t, path)
	}
	client := regexp.MustCompile(`(?i)(?:unleash-client|unleash-go-sdk|unleash-proxy-client|proxy-client-react|` +
		`ofrep-web-provider|unleash-edge|unleashclient|provider-ofrep|unleash-client-java)[^\n]*?[@v=":> ]+(\d+\.\d+\.\d+)|<version>(\d+\.\d+\.\d+)`)
	run := map[string]bool{}
	for _, match := range client.FindAllStringSubmatch(sources, -1) {
		run[match[1]+match[2]] = true
	}
	_, section, found := strings.Cut(read(t, "docs/connect.md"), "\n## Clients that work unchanged\n")
	table, _, _ := strings.Cut(section, "\nThese worked when")
	named := map[string]bool{}
	for _, version := range regexp.MustCompile(`\d+\.\d+\.\d+`).FindAllString(table, -1) {
		named[version] = true
	}
	if !found || len(named) < 10 {
		t.Fatalf("docs/connect.md names the versions %v", named)
	}
	assert.Equal(t, run, named)
}
