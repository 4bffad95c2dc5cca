// Package version has the version of the service.
package version

import "runtime/debug"

// Number is the version, in the form of Semantic Versioning. CHANGELOG.md has a section for it.
const Number = "0.1.0"

// commitDigits is the number of digits of a commit in a version, as in scripts/version.sh.
const commitDigits = 8

// String returns the version with the commit that the program was built from, such as 0.1.0+1a2b3c4d, or
// 0.1.0+1a2b3c4d.modified if files differed from the commit. Without a commit in the program, which the Go command
// includes unless -buildvcs is false, it is Number.
func String() string {
	commit, modified := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && len(s.Value) >= commitDigits:
				commit = "+" + s.Value[:commitDigits]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ".modified"
			}
		}
	}
	if commit == "" {
		return Number
	}
	return Number + commit + modified
}
