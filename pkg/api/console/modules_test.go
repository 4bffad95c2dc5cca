package console_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toggleadmin/test/helper/assert"
)

// forbidden is what no module may contain: markup from strings, styles that the Content-Security-Policy blocks, and
// code from strings.
var forbidden = regexp.MustCompile(`unsafe(HTML|SVG|MathML|Static)|(inner|outer)HTML|insertAdjacentHTML|document\.write|` +
	`\bstyle[=:]|'style'|styleMap|\beval\(|new Function`)

// TestModules checks the modules of the console, except the libraries. Their names are unique, whatever their folder.
func TestModules(t *testing.T) {
	t.Parallel()
	named := map[string]string{}
	for name, content := range files(t) {
		if path.Ext(name) != ".js" || strings.Contains("/"+name, "/vendor/") {
			continue
		}
		if other := named[path.Base(name)]; other != "" {
			t.Errorf("%s and %s have the same name", name, other)
		}
		named[path.Base(name)] = name
		for i, line := range strings.Split(content, "\n") {
			if found := forbidden.FindString(line); found != "" {
				t.Errorf("%s:%d contains %q", name, i+1, found)
			}
		}
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"import { unsafeHTML } from './vendor/lit-html/directives/unsafe-html.js';": true,
		`<p style="color: red">`:        true,
		"element('p', { style: text })": true,
		"element.innerHTML = text;":     true,
		"bar.style.setProperty('x')":    false,
		`<span class="${kind}">`:        false,
		"setTimeout(() => evaluate())":  false,
	} {
		assert.Equal(t, want, forbidden.MatchString(line))
	}
}

// loads matches the modules that a module loads later.
var loads = regexp.MustCompile(`\bimport\(["']([^"']+)["']\)`)

// TestImports checks that modules name others by relative paths, which exist: browsers find no others.
func TestImports(t *testing.T) {
	t.Parallel()
	all := files(t)
	for name, content := range all {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "api/") {
			continue
		}
		found := append(imports.FindAllStringSubmatch(content, -1), loads.FindAllStringSubmatch(content, -1)...)
		for _, match := range found {
			if _, exists := all[path.Join(path.Dir(name), match[1])]; !exists || match[1][0] != '.' {
				t.Errorf("%s imports %q", name, match[1])
			}
		}
	}
}

// preloads matches the modules that the page names, so that a browser requests them at the same time.
var preloads = regexp.MustCompile(`rel="modulepreload" href="{{files}}/([^"]+)"`)

// TestPreloads checks that the modules exist, and that those are among them which show the first page.
func TestPreloads(t *testing.T) {
	t.Parallel()
	all := files(t)
	var names []string
	for _, match := range preloads.FindAllStringSubmatch(all["index.html"], -1) {
		if names = append(names, match[1]); all[match[1]] == "" {
			t.Errorf("index.html preloads %s, which does not exist", match[1])
		}
	}
	for _, name := range []string{"main.js", "pages.js", "dom.js", "api.js", "vendor/lit-html/lit-html.js"} {
		if !slices.Contains(names, name) {
			t.Errorf("index.html does not preload %s", name)
		}
	}
}
