package codescan_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toggleadmin/pkg/operator/codescan"
	"toggleadmin/test/helper/assert"
)

func TestFind(t *testing.T) {
	t.Parallel()
	f := codescan.NewFinder([]string{"checkout", "new-checkout", "shop.checkout", "shop.checkout.v2", "b.c", "a.b", "x_y~z", ".dot", "-dash"})
	for line, want := range map[string]string{
		`if (client.isEnabled("checkout")) {`:                                    "checkout",
		`isEnabled('checkout') && on("checkout")`:                                "checkout",
		"flags.checkout.enabled":                                                 "checkout",
		"It turns checkout on. See new-checkout.":                                "checkout new-checkout",
		"new-checkout-2 old-new-checkout checkouts _checkout checkout1 Checkout": "",
		"--checkout ~new-checkout -dash":                                         "-dash checkout new-checkout",
		"shop.checkout":                                                          "shop.checkout",
		"shop.checkout.v2":                                                       "shop.checkout.v2",
		"shop.checkout.v3":                                                       "shop.checkout",
		"my.shop.checkout.v2.on":                                                 "shop.checkout.v2",
		"a.b.c":                                                                  "a.b b.c",
		"a.b a.c":                                                                "a.b",
		"`x_y~z`,x_y~z2":                                                         "x_y~z",
		"\"\u00fccheckout checkout\u00fc":                                        "",
		"\u201echeckout\u201c":                                                   "checkout",
		"checkout\r\n":                                                           "checkout",
		"a=.dot;dot":                                                             ".dot",
		"":                                                                       "",
	} {
		assert.Equal(t, want, strings.Join(f.Find(line), " "))
	}
}

// files writes files into a new folder.
func files(t *testing.T, contents map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range contents {
		file := filepath.Join(dir, filepath.FromSlash(name))
		assert.OK(t, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
	}
	return dir
}

func scan(t *testing.T, dir string) codescan.Result {
	t.Helper()
	result, err := codescan.Scan(t.Context(), dir, []string{"a", "b"})
	assert.OK(t, err)
	return result
}

func TestScan(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"z.go": "b\na,a\n", "src/a.go": "\n\nuse(\"b\", 'a')", "src.go": "a", ".git/x": "a", "web/node_modules/x.js": "a", "bin": "a\x00",
		"large.js": string(bytes.Repeat([]byte("a\n"), 1<<20)), ".hidden": "a",
	})
	assert.OK(t, os.Symlink("z.go", filepath.Join(dir, "link.go")), os.Symlink("/etc", filepath.Join(dir, "etc")))
	want := codescan.Result{
		References: []codescan.Reference{
			{".hidden", 1, "a"}, {"src.go", 1, "a"}, {"src/a.go", 3, "a"}, {"src/a.go", 3, "b"}, {"z.go", 1, "b"}, {"z.go", 2, "a"},
		},
		Files: 4, TooLarge: []string{"large.js"},
	}
	assert.Equal(t, want, scan(t, dir))
	_, err := codescan.Scan(t.Context(), filepath.Join(dir, "none"), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// In a work tree, only files that Git tracks are read, with paths in the folder.
func TestScanTracked(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		".gitignore": "dist\n", "dist/x.js": "a", "new.go": "a", "app/main.go": "a", "app/deleted.go": "a", "app/node_modules/x.js": "a", "docs/x": "b",
	})
	for _, args := range []string{"init -q", "add app docs .gitignore"} {
		command := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, strings.Fields(args)...)...)
		assert.OK(t, command.Run())
	}
	assert.OK(t, os.Remove(filepath.Join(dir, "app", "deleted.go")))
	assert.Equal(t, []codescan.Reference{{"app/main.go", 1, "a"}, {"app/node_modules/x.js", 1, "a"}, {"docs/x", 1, "b"}}, scan(t, dir).References)
	assert.Equal(t, []codescan.Reference{{"main.go", 1, "a"}, {"node_modules/x.js", 1, "a"}}, scan(t, filepath.Join(dir, "app")).References)
}
