package console_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

var update = flag.Bool("update", false, "write the files that are not written by hand")

const root = "../../../"

// libraries are npm packages that package.json pins, and their files that the console contains. Files below api are not
// in the first view.
var libraries = []struct {
	name  string
	from  string // folder of the package
	to    string // folder
	files []string
}{
	{"uplot", "dist", "vendor", []string{"uPlot.esm.js", "uPlot.min.css"}},
	{"oauth4webapi", "build", "vendor/oauth4webapi", []string{"index.js"}},
	{"lit-html", "", "vendor/lit-html", []string{
		"lit-html.js", "directive.js", "directive-helpers.js", "directives/live.js", "directives/repeat.js",
	}},
}

// rapidoc is the version of the API reference's renderer, and renderer has the SHA-256 of the files that the console
// contains. package.json does not contain it: npm would install the 128 packages that it was built from, 158 MB.
const rapidoc = "9.3.8"

var renderer = map[string]string{
	"dist/rapidoc-min.js":             "affbd173a65e870e18f392cca963113bcdafb6e50e88cd2f6a834a65b22db94d",
	"dist/rapidoc-min.js.LICENSE.txt": "b6366d212427ca41732dd93ce56a47ceaf7a0902edc2e90b22ca6a9d6feff20e",
	"LICENSE.txt":                     "92682ac573adb5e1357f1f41dd0eaa2f0e9dd6116b569218978c2469c1cd085c",
}

// compressed are the files that static contains compressed, with .gz at the end of their names.
var compressed = []string{"api/openapi.json", "api/vendor/rapidoc-min.js"}

// TestLibraries compares the libraries of the console with the packages that npm installed, and the renderer with its
// sums.
func TestLibraries(t *testing.T) {
	t.Parallel()
	var project struct{ DevDependencies map[string]string }
	decode(t, root+"package.json", &project)
	versions := map[string]string{"rapidoc": rapidoc}
	want, licenses := map[string]string{}, "The libraries of the console and their licenses\n"
	for _, library := range libraries {
		folder := root + "node_modules/" + library.name + "/"
		var installed struct{ Version, License string }
		decode(t, folder+"package.json", &installed)
		assert.Equal(t, project.DevDependencies[library.name], installed.Version)
		versions[library.name] = installed.Version
		licenses += fmt.Sprintf("\n---- %s %s, %s\n", library.name, installed.Version, installed.License)
		for _, name := range library.files {
			copied := library.to + "/" + name
			want[copied] = read(t, folder+path.Join(library.from, name))
			licenses += copied + "\n"
		}
		found, err := filepath.Glob(folder + "[Ll][Ii][Cc][Ee][Nn][Ss][Ee]*")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no license: %v", library.name, err)
		}
		licenses += "\n" + read(t, found[0])
	}
	want["vendor/licenses.txt"] = licenses
	got := map[string]string{}
	for name, content := range files(t) {
		if strings.Contains("/"+name, "/vendor/") {
			got[name] = content
		}
	}
	sum := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	for name, pinned := range renderer {
		copied := "api/vendor/" + path.Base(name)
		want[copied] = got[copied]
		if *update && sum(got[copied]) != pinned {
			want[copied] = read(t, download(t)+name)
		}
		assert.Equal(t, pinned, sum(want[copied]))
	}
	const lock = "../libraries/package-lock.json" // scanners read it
	want[lock], got[lock] = lockFile(t, versions), read(t, "static/"+lock)
	if !t.Failed() {
		compare(t, want, got)
	}
}

// lockFile returns the lock file of npm packages.
func lockFile(t *testing.T, versions map[string]string) string {
	t.Helper()
	packages := map[string]any{"": map[string]any{"dependencies": versions}}
	for name, version := range versions {
		packages["node_modules/"+name] = map[string]string{"version": version}
	}
	content, err := json.MarshalIndent(map[string]any{"name": "console", "lockfileVersion": 3, "requires": true,
		"packages": packages}, "", "  ")
	assert.OK(t, err)
	return string(content) + "\n"
}

// download returns the folder of the renderer's package, which it downloads.
func download(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "sh", "-c",
		`cd "$0" && tar -xzf "$(npm pack --silent "$1")"`, folder, "rapidoc@"+rapidoc).CombinedOutput(); err != nil {
		t.Fatalf("npm pack: %v\n%s", err, output)
	}
	return folder + "/package/"
}

// TestDocument compares api/openapi.json of the console with api/openapi.yaml and the schemas that it refers to.
func TestDocument(t *testing.T) {
	t.Parallel()
	const name = "api/openapi.json"
	var out bytes.Buffer
	encode(t, jsontext.NewEncoder(&out), parse(t, root+"api/openapi.yaml"))
	compare(t, map[string]string{name: out.String()}, map[string]string{name: files(t)[name]})
}

// encode writes YAML as JSON, in the same order. A reference to a file is replaced by its content.
func encode(t *testing.T, to *jsontext.Encoder, node *yaml.Node) {
	t.Helper()
	tokens := map[yaml.Kind][2]jsontext.Token{
		yaml.MappingNode:  {jsontext.BeginObject, jsontext.EndObject},
		yaml.SequenceNode: {jsontext.BeginArray, jsontext.EndArray},
	}
	if around, ok := tokens[node.Kind]; ok {
		if len(node.Content) == 2 && node.Content[0].Value == "$ref" && !strings.HasPrefix(node.Content[1].Value, "#") {
			encode(t, to, parse(t, root+"api/"+node.Content[1].Value))
			return
		}
		assert.OK(t, to.WriteToken(around[0]))
		for _, item := range merged(node) {
			encode(t, to, item)
		}
		assert.OK(t, to.WriteToken(around[1]))
		return
	}
	if tag := node.ShortTag(); tag == "!!str" || tag == "!!timestamp" || isName(to) {
		assert.OK(t, to.WriteToken(jsontext.String(node.Value)))
		return
	}
	var value any
	assert.OK(t, node.Decode(&value))
	text, err := json.Marshal(value)
	assert.OK(t, err, to.WriteValue(text))
}

// merged returns the content of a node, with the members that a merge key (<<) adds to a mapping.
func merged(node *yaml.Node) (content []*yaml.Node) {
	if node.Kind != yaml.MappingNode {
		return node.Content
	}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		if name.ShortTag() == "!!merge" {
			content = append(content, merged(value.Alias)...)
			continue
		}
		content = append(content, name, value)
	}
	return content
}

// isName reports whether the next token is the name of a member, such as a status, which is not a text in YAML.
func isName(e *jsontext.Encoder) bool {
	kind, length := e.StackIndex(e.StackDepth())
	return kind == '{' && length%2 == 0
}

func parse(t *testing.T, name string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	assert.OK(t, yaml.Unmarshal([]byte(read(t, name)), &document))
	return document.Content[0]
}

// compare compares files below static, or writes them.
func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	if !*update {
		for name, content := range want {
			if current, exists := got[name]; exists && current != content {
				t.Errorf("%s is not current: run make console", name)
			}
		}
		assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) // run make console
		return
	}
	for name := range got {
		if _, wanted := want[name]; !wanted { // other tests, which run at the same time, list the files that stay
			assert.OK(t, os.Remove(stored(name)))
		}
	}
	for name, content := range want {
		if got[name] == content { // another version of gzip would write other bytes
			continue
		}
		if slices.Contains(compressed, name) {
			content = compress(t, content)
		}
		assert.OK(t, os.MkdirAll(filepath.Dir(stored(name)), 0o755))
		assert.OK(t, os.WriteFile(stored(name), []byte(content), 0o644))
	}
}

// stored returns the path of a file below static.
func stored(name string) string {
	if slices.Contains(compressed, name) {
		name += ".gz"
	}
	return "static/" + name
}

func compress(t *testing.T, content string) string {
	t.Helper()
	var out strings.Builder
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	assert.OK(t, err)
	_, err = w.Write([]byte(content))
	assert.OK(t, err, w.Close())
	return out.String()
}

func decompress(t *testing.T, content string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(content))
	assert.OK(t, err)
	all, err := io.ReadAll(r)
	assert.OK(t, err)
	return string(all)
}

// TestEventTypes compares the list of the types of events, which the page of the event log uses, with that of the log.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	const name = "event-types.js"
	list := "// Written by make console, from pkg/eventlog/types.go.\n\n" +
		"/** The types of events and their labels, by what they are about. */\nexport const types = {\n"
	group := ""
	for _, d := range eventlog.Definitions() {
		if d.Group != group {
			if group != "" {
				list += "  },\n"
			}
			group = d.Group
			list += fmt.Sprintf("  '%s': {\n", group)
		}
		list += fmt.Sprintf("    '%s': '%s',\n", d.Type, d.Label)
	}
	list += "  },\n};\n\n/** What the actor did, with %s for the subject, by the type of the event. Other types have their own sentences. */\n" +
		"export const phrases = {\n"
	for _, d := range eventlog.Definitions() {
		if d.Phrase != "" {
			list += fmt.Sprintf("  '%s': '%s',\n", d.Type, d.Phrase)
		}
	}
	list += "};\n"
	compare(t, map[string]string{name: list}, map[string]string{name: files(t)[name]})
}

// TestExamples compares the programs on the page Connect an SDK with docs/examples, whose programs test/sdk runs.
func TestExamples(t *testing.T) {
	t.Parallel()
	const name, folder = "examples.json", root + "docs/examples/"
	programs := map[string]string{}
	for _, pattern := range []string{"*.*", "*/*.go"} {
		found, err := filepath.Glob(folder + pattern)
		assert.OK(t, err)
		for _, program := range found {
			programs[filepath.Base(program)] = read(t, program)
		}
	}
	content, err := json.MarshalIndent(programs, "", "  ")
	assert.OK(t, err)
	compare(t, map[string]string{name: string(content) + "\n"}, map[string]string{name: files(t)[name]})
}

// imports matches the modules that a module loads at once. Libraries are minified.
var imports = regexp.MustCompile(`(?m)(?:^|;)(?:import|export)\b[^;"'=()]*["']([^;"']+)["']`)

// TestSize checks the size of the files that the start page loads, as a browser downloads them.
func TestSize(t *testing.T) {
	t.Parallel()
	const most = 80_000
	all := files(t)
	for _, view := range []string{"views/home.js", "views/toggles.js"} {
		size := 0
		load := withImports(all, "index.html", "style.css", "icon.svg", "session.js", "start.js", "main.js", view)
		for _, name := range load {
			size += len(compress(t, all[name]))
		}
		if t.Logf("%q: %d bytes", load, size); size > most {
			t.Errorf("the files of the first view %s have %d bytes compressed, want at most %d", view, size, most)
		}
	}
}

// withImports returns the names of files, and of the modules that they load at once.
func withImports(all map[string]string, names ...string) []string {
	for i := 0; i < len(names); i++ {
		for _, found := range imports.FindAllStringSubmatch(all[names[i]], -1) {
			if name := path.Join(path.Dir(names[i]), found[1]); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// files returns the files below static, decompressed, by the names by which they are served.
func files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	assert.OK(t, filepath.WalkDir("static", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			served, content := strings.TrimPrefix(filepath.ToSlash(name), "static/"), read(t, name)
			if trimmed, isCompressed := strings.CutSuffix(served, ".gz"); isCompressed {
				served, content = trimmed, decompress(t, content)
			}
			all[served] = content
		}
		return err
	}))
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	assert.OK(t, err)
	return string(content)
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	assert.OK(t, json.Unmarshal([]byte(read(t, name)), into))
}
