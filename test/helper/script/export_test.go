package script

import "slices"

// RunT is Run on any testscript.T.
var RunT = run

// Differences returns the conditions that do not hold in an environment.
func Differences(environment string) []string {
	var names []string
	for _, d := range differences {
		if slices.Contains(d.lacking, environment) {
			names = append(names, d.condition)
		}
	}
	return names
}
