// Package compiler builds what applications download. It is a consumer of the stream of the table Events: after each
// change it compiles a snapshot of each environment that the change concerns (pkg/delivery/snapshot), and stores it in
// the table Snapshots (pkg/delivery/snapshottable). A sweep compiles once a minute what the stream gave up, and once an
// hour everything.
//
// A compilation reads the pointer to the current snapshot first, then the state, strongly consistently, and publishes
// the next snapshot on the condition that the pointer has not moved. This is why snapshots never go back in time: a
// compilation that publishes version n+1 read the pointer to n before it read the state. The compilation of n had ended
// before, and with it all reads of n. So each read of n+1 is later than the read of the same item for n. Neither a
// condition that the state is newer than the stored one, nor reading the pointer after the state has this property.
//
// A compilation whose state is the published one writes the pointer, too. Otherwise, after a toggle was switched on and
// off, a compilation that has read it while it was on could publish that, although all events were handled.
//
// Events only say what is to be read again. No version is derived from their ids, because ids of different subjects do
// not rise in the order of commits, and no index is read, because an index is eventually consistent.
package compiler
