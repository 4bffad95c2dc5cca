// Package app connects a function with its process. Env holds everything that a function takes from outside, and Main fills an Env from the
// process. No other package of a function reads the environment, the clock or randomness.
//
// The constructors of the functions are in the domain packages, so that a binary links only its own domain.
package app
