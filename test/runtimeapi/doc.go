// Package runtimeapi runs a function's binary as Lambda runs it: a process that asks the Runtime API for its next event and posts
// its answer there (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).
//
// The one concept is the Process: a binary with a Runtime API of its own. Its tests build every function with the production
// flags and drive each with its sample event.
//
// Not here: concurrency, time limits, the freeze between invocations, extensions.
package runtimeapi
