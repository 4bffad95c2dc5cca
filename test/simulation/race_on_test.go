//go:build race

package simulation_test

const (
	seedsOfTest = 4 // of TestSeeds; the detector makes a seed ten times as slow
	withRace    = true
)
