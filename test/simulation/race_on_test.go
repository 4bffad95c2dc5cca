//go:build race

package simulation_test

// seedsOfTest is the number of seeds of TestSeeds. The race detector makes a seed twenty times as slow.
const seedsOfTest = 4
