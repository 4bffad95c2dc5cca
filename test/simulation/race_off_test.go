//go:build !race

package simulation_test

// seedsOfTest is the number of seeds of TestSeeds.
const seedsOfTest = 8
