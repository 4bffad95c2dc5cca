// Package ascode keeps toggles, and what they share, as files: it writes those of an installation as YAML, compares files
// with an installation, and makes the resources as the files describe them. It uses the HTTP API with a token.
package ascode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"toggleadmin/pkg/operator/exitstatus"
)

// Read reads the resources of files, and of the files in folders whose names end with .yaml, .yml or .json, in the order of
// Kinds, then ordered by project and name. Its error names all files that are wrong, with the lines.
func Read(paths []string) ([]Resource, error) {
	files, err := list(paths)
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Failure, "%v", err)
	}
	var all []Resource
	var invalid []error
	for _, file := range files {
		resources, err := readFile(file)
		invalid = append(invalid, err)
		all = append(all, resources...)
	}
	first := map[Ref]string{}
	for _, r := range all {
		key := r.Ref().key()
		if before, repeated := first[key]; repeated {
			invalid = append(invalid, fmt.Errorf("%s: the %v is also in %s", r.place(""), r.Ref(), before))
		}
		first[key] = r.place("")
	}
	if err := errors.Join(invalid...); err != nil {
		return nil, exitstatus.Errorf(exitstatus.Failure, "%v", err)
	}
	order(all)
	return all, nil
}

// order orders resources as plans have them.
func order(all []Resource) {
	slices.SortFunc(all, func(a, b Resource) int {
		x, y := a.Ref(), b.Ref()
		return cmp.Or(cmp.Compare(slices.Index(Kinds(), x.Kind), slices.Index(Kinds(), y.Kind)),
			strings.Compare(x.Project, y.Project), strings.Compare(x.Name, y.Name))
	})
}

// list returns the files of paths, in the order of the paths, those of a folder by their names.
func list(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			switch filepath.Ext(file) {
			case ".yaml", ".yml", ".json":
				if err == nil && !entry.IsDir() {
					files = append(files, file)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readFile reads the resources of a file, which can have several documents.
func readFile(file string) (all []Resource, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(file) == ".json" {
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" ")) // which YAML does not accept between the tokens of JSON
	}
	nodes, strict := yaml.NewDecoder(bytes.NewReader(text)), yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	for {
		d := document{file, &yaml.Node{}}
		err := nodes.Decode(d.node)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s", file, explained(err))
		}
		kind := KindToggle
		if sent := d.property("kind"); sent != nil {
			kind = Kind(sent.Value)
		}
		r := newResource(kind, d)
		if r == nil {
			return nil, fmt.Errorf("%s: the kind %q is unknown: use %s", d.place("kind"), kind, kindsText())
		}
		if err := strict.Decode(r); err != nil {
			return nil, fmt.Errorf("%s: %s", file, explained(err))
		}
		if err := r.check(); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}

// kindsText returns the kinds in a sentence.
func kindsText() string {
	kinds := Kinds()
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// explained returns the text of an error of the YAML library, with the words of a file and without types of Go.
func explained(err error) string {
	texts := []string{err.Error()}
	if several, ok := errors.AsType[*yaml.TypeError](err); ok {
		texts = several.Errors
	}
	for i, text := range texts {
		text = strings.TrimPrefix(text, "yaml: ")
		if at := strings.Index(text, " not found in type "); at > 0 {
			text = strings.Replace(text[:at], "field ", "the property ", 1) + " is unknown"
		}
		if at := strings.Index(text, " into ascode."); at > 0 {
			text = text[:at] + ": it must be an object"
		}
		texts[i] = text
	}
	return strings.Join(texts, ", ")
}
