// Package crash_test kills the service, or its engine alone, under 16 concurrent writers and looks what is left.
//
// The one concept is the ledger of a writer: what was sent, and what of it was acknowledged. After a restart every acknowledged write must
// be there; one that was sent and never answered may be there or not, but never half. That is looked at over HTTP, and in the tables,
// where a token, its place in its owner's map and the counter of ids must agree.
//
// Re-evaluation has no ledger: it is killed between its flips, and what counts is that it ends them by itself, later.
//
// The other ledger is of usage: how many requests of each path were sent, and how many were answered. 4.6 must say no less than was answered and
// no more than was sent, and exactly what was sent where nothing was killed meanwhile.
//
// The service is the program of `make run`, as a process with its data in a folder.
package crash_test
