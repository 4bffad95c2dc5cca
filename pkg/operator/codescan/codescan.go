// Package codescan finds the names of toggles in source code.
package codescan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFile is the maximum size of a file that is read, in bytes.
const maxFile = 1 << 20

// binaryPrefix is the number of bytes in which a file with a NUL character is binary, as for Git.
const binaryPrefix = 8000

// Reference is a line that has the name of a toggle. In JSON, it is an element of a report of code references.
type Reference struct {
	Path   string `json:"path"` // in the folder, with slashes
	Line   int    `json:"line"` // from 1
	Toggle string `json:"toggle"`
}

// Result is what a scan has found.
type Result struct {
	References []Reference // ordered by path, line and the name of the toggle
	Files      int         // that were read
	TooLarge   []string    // files that were not read because of their size
}

// Scan finds names in the files of a folder that are not binary. In a Git work tree these are the tracked files, and
// otherwise all but those in folders such as .git and node_modules. It follows no symbolic links.
func Scan(ctx context.Context, dir string, names []string) (Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	files, err := list(ctx, dir, root.FS())
	if err != nil {
		return Result{}, err
	}
	finder := NewFinder(names)
	var result Result
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		info, err := root.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a tracked file that is deleted
			continue
		case err != nil:
			return Result{}, err
		case !info.Mode().IsRegular():
			continue
		case info.Size() > maxFile:
			result.TooLarge = append(result.TooLarge, file)
			continue
		}
		content, err := root.ReadFile(file)
		if err != nil {
			return Result{}, err
		}
		if bytes.IndexByte(content[:min(len(content), binaryPrefix)], 0) >= 0 {
			continue
		}
		result.Files++
		number := 0
		for line := range bytes.Lines(content) {
			number++
			for _, name := range finder.Find(string(line)) {
				result.References = append(result.References, Reference{file, number, name})
			}
		}
	}
	return result, nil
}

// list returns the paths of the files of a folder, sorted.
func list(ctx context.Context, dir string, files fs.FS) ([]string, error) {
	all, isTracked, err := tracked(ctx, dir)
	if !isTracked && err == nil {
		all, err = walk(files)
	}
	slices.Sort(all)
	return all, err
}

// tracked returns the files that Git tracks. ok is false without Git, or if the folder is not in a work tree.
func tracked(ctx context.Context, dir string) (all []string, ok bool, err error) {
	//nolint:gosec // the user of the command chooses the folder
	command := exec.CommandContext(ctx, "git", "-C", dir, "ls-files", "-z")
	command.Env = append(command.Environ(), "LC_ALL=C")
	text, err := command.Output()
	failed, isExit := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrNotFound), isExit && bytes.Contains(failed.Stderr, []byte("not a git repository")):
		return nil, false, nil
	case isExit:
		return nil, false, fmt.Errorf("list the files with Git: %s", bytes.TrimSpace(failed.Stderr))
	case err != nil:
		return nil, false, fmt.Errorf("list the files with Git: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x00"), "\x00") {
		if name != "" {
			all = append(all, name)
		}
	}
	return slices.Compact(all), true, nil
}

// walk returns all files but those in folders of version control and of dependencies.
func walk(files fs.FS) (all []string, err error) {
	skipped := []string{".git", ".hg", ".svn", "node_modules"}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipped, path.Base(name)):
			return fs.SkipDir
		case !entry.IsDir():
			all = append(all, name)
		}
		return nil
	})
	return all, err
}

// Finder finds names of toggles in lines of text.
//
// A word is a sequence of letters, digits, and the characters _ - and ~, as long as possible. Words that dots join can be
// one name, or several: client.new-checkout has the name new-checkout, and new-checkout.v2 has this name if there is such
// a toggle, and otherwise new-checkout. So a name is found after a dot and before one, but not in a longer word, such as
// new-checkout-2. The characters - and ~ around a word do not count, as in --new-checkout.
type Finder struct {
	names map[string]bool
	parts int // the maximum number of words of a name
}

// NewFinder returns a finder of names.
func NewFinder(names []string) *Finder {
	f := &Finder{names: map[string]bool{}}
	for _, name := range names {
		f.names[name] = true
		f.parts = max(f.parts, strings.Count(name, ".")+1)
	}
	return f
}

// Find returns the names in a line, sorted, each once. A name within a longer one is not found.
func (f *Finder) Find(line string) []string {
	var found []string
	for run := range strings.FieldsFuncSeq(line, func(r rune) bool { return !isInWord(r) && r != '.' }) {
		found = append(found, f.inRun(run)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func isInWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '~'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// inRun returns the names in words that dots join.
func (f *Finder) inRun(run string) (found []string) {
	words := strings.Split(run, ".")
	end := 0 // of the words of the names that are found
	for i := range words {
		for j := min(i+f.parts, len(words)); j > max(i, end); j-- {
			if name, ok := f.name(strings.Join(words[i:j], ".")); ok {
				found = append(found, name)
				end = j
				break
			}
		}
	}
	return found
}

// name returns the name that a text is, with or without the characters - and ~ around it.
func (f *Finder) name(text string) (string, bool) {
	if f.names[text] {
		return text, true
	}
	text = strings.Trim(text, "-~")
	return text, f.names[text]
}
