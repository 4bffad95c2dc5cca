// Package app is what a function is made of: Env, everything that it takes from outside, and Main, which fills an Env from the process.
// It is the only reader of the environment, the clock and randomness.
//
// The one concept: a function's constructor (NewListFunction and the like, in the file function.go of its noun) takes an *Env and gives
// a lambda.Handler. A deployed binary and the local gateway call the same constructor, with an Env of their own.
//
// What is not here: the constructors. They stand beside their handlers, so that a binary links its own noun and no other.
package app
