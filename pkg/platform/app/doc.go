// Package app connects a function with its process. Env contains the dependencies of a function: environment variables,
// AWS configuration, clock, randomness and logger. Main fills an Env from the process. No other package of a function
// reads the environment. Only retries in package dynamo read the clock and randomness, too.
//
// The constructors of the functions are in the domain packages, so that a binary links only its own domain.
package app
