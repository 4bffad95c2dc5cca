// Sbom prints a CycloneDX software bill of materials of programs written in Go: each program with its SHA-256, and the
// versions of Go and of all modules that it contains, from the build information in the program. The function of the
// console also contains the libraries of the web pages. The same programs give the same bytes.
//
//	sbom .aws-sam/build/*/bootstrap
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"toggleadmin/pkg/api/console"
)

func main() {
	if err := write(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the bill of materials of the programs in the given files.
func write(w io.Writer, files []string) error {
	var programs []cdx.Component
	var dependencies []cdx.Dependency
	modules := map[string]cdx.Component{}
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // the caller names the files to read
		if err != nil {
			return err
		}
		info, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil {
			return fmt.Errorf("read the build information of %s: %w", file, err)
		}
		sum := sha256.Sum256(content)
		program := cdx.Component{
			BOMRef: info.Path, Type: cdx.ComponentTypeApplication, Name: path.Base(info.Path),
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		}
		programs = append(programs, program)
		used := []string{}
		for _, module := range append(info.Deps,
			&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}) {
			if module.Replace != nil {
				module = module.Replace
			}
			// the standard library is std, as in the Go vulnerability database
			c := library("golang", module.Path, module.Version)
			modules[c.BOMRef] = c
			used = append(used, c.BOMRef)
		}
		if strings.HasSuffix(info.Path, "/functions/console") {
			versions, err := console.Libraries()
			if err != nil {
				return err
			}
			for name, version := range versions {
				c := library("npm", name, version)
				modules[c.BOMRef] = c
				used = append(used, c.BOMRef)
			}
		}
		slices.Sort(used)
		dependencies = append(dependencies, cdx.Dependency{Ref: program.BOMRef, Dependencies: &used})
	}
	slices.SortFunc(programs, func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	slices.SortFunc(dependencies, func(a, b cdx.Dependency) int { return cmp.Compare(a.Ref, b.Ref) })
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		programs = append(programs, modules[ref])
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: "toggleadmin"}}
	bom.Components, bom.Dependencies = &programs, &dependencies
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

// library describes a module of Go or a package of npm, with its package URL.
func library(kind, name, version string) cdx.Component {
	url := "pkg:" + kind + "/" + name + "@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: url}
}
