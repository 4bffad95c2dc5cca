//go:build !race

package simulation_test

const (
	seedsOfTest = 8     // of TestSeeds
	withRace    = false // the tests run with the race detector
)
