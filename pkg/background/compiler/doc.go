// Package compiler builds what applications download. It is a consumer of the stream of the table Events: after each
// change it compiles a snapshot of each environment that the change concerns (pkg/delivery/snapshot), and stores it in
// the table Snapshots (pkg/delivery/snapshottable). A sweep compiles once a minute what the stream gave up, and once an
// hour everything.
//
// Events only say what is to be read again. No version is derived from their ids, because ids of different subjects do
// not rise in the order of commits, and no index is read, because an index is eventually consistent.
//
// The table has two kinds of items. The pointer has the format, the epoch, the version, the hash and the parts of the
// current snapshot, the size of the toggles, delivered or not, the time up to which it covers all changes, and how
// often it was written. The parts have the versions of the projects, the compressed body, in parts of 380 kB, and then the
// tags of the toggles, which select toggles and are not delivered. Parts are written before the pointer, and never change.
// Their keys contain the epoch, the version and random digits: each compilation has parts of its own, also if another one
// publishes the same content.
//
// A change of the form that an earlier version of the service would misread increases snapshottable.Format. A program
// does not read another format: a process that serves applications keeps what it has, and the next compilation or sweep
// replaces the snapshot.
//
// Eight rules hold, whatever is repeated, late, or crashes. Invariants of test/simulation check them after every
// publication, response and sweep, and at the end. Patches in its testdata break each rule; scripts/simulate-planted.sh
// checks that the simulated world finds them.
//
// # Snapshots do not go back
//
// Each snapshot has of every toggle and segment a state that is at least as new as in the snapshot before. A
// compilation reads the pointer first, then the state with consistent reads, and writes the pointer on the condition
// that nobody else has written it. So the compilation of the snapshot before had ended before this one read any state.
// Two other conditions look sufficient and are not:
//
//   - The pointer moves if the new revision is higher, where the revision is read before the state. The compilation A
//     reads revision 1. B reads revision 2 and the toggle x. Then x changes. A reads x, and publishes revision 1. B
//     publishes revision 2, which has the old x.
//   - The pointer is read after the state. A reads x. Then x changes, and B compiles and publishes it. A reads the
//     pointer of B, which does not move any more, and publishes the old x.
//
// # Every change arrives
//
// Every acknowledged change is in the snapshot, at the latest after the next sweep. The stream shows an event after its
// transaction has committed, and the compilation reads later. What the stream gives up, the sweep finds in the event
// log: it compiles the events that are later than what the pointer covers, less a minute, because events can commit
// later than their ids say. Only a compilation that reads everything, or a sweep that has seen all events, changes what
// the pointer covers. Once an hour, a sweep reads everything without the log. It does so at once if the times in the
// pointer are in the future: an operator's computer with a fast clock has compiled.
//
// Even a compilation that finds the published state writes the pointer. Otherwise, if a toggle is switched on
// and off, a slow compilation that has read it while it was on could publish that after the events of both changes were
// handled.
//
// Toggles that are too large together are an exception: the compiler then publishes the last snapshot that fitted with
// what was withdrawn since: without toggles that were archived or deleted, and with those off that were turned off. It
// reads everything with each change, until the toggles fit again. From 90 % of the limit on, it marks the environment
// as full, and writes that enlarge the toggles are rejected. A sweep corrects a mark that was not written.
//
// # An SDK does not go back
//
// An SDK never receives a state that is older than what it has, whichever process responds. The tag has the epoch and
// the version of what the SDK has. A process that knows neither reads the pointer again. If that fails, or if there is
// no pointer, it returns 304. A restore deletes the pointers, and the next compilation draws another epoch: otherwise,
// all SDKs would wait for a version that does not come.
//
// # Nothing without a change
//
// The tag of a token changes only if what the token sees changes. A compilation with the same hash publishes nothing. A
// snapshot has the version at which each project changed last, with segments apart and inlined. The version in a tag is
// the highest one of the token's projects.
//
// # One bad toggle
//
// A toggle that cannot be compiled keeps its last good part, and does not hold up the others. The stores reject toggles
// that engines cannot evaluate, so such a toggle was written by other means. Its children depend on the part that it
// keeps. A segment whose item is damaged keeps its last state, too. A damaged pointer concerns only its environment.
//
// # The last good copy
//
// While DynamoDB cannot be reached, a process returns what it has read. One that has read nothing returns 503:
// some SDKs stop permanently after a 401, 403 or 404, and an empty list turns everything off. A reader keeps its snapshot
// if a part of the next one is missing. The first sweep of an hour deletes parts that no pointer uses, but none in the
// hour after it was written, in which a slow process can move the pointer to it. If a part of the current snapshot is
// lost nevertheless, the next compilation reads everything and publishes a snapshot of another epoch, because the
// versions of the projects are in a part, too.
//
// # A process is not behind
//
// A process uses a snapshot at most FreshnessMilliseconds plus one read after it was published, if its
// reads succeed. What was read of a pointer is used, whoever asked: otherwise requests with a token that is not valid,
// which come more often than that, would keep each process from a newer snapshot. A process whose read fails responds
// from memory for two seconds before it reads again.
//
// # The same decisions
//
// Every engine decides by a snapshot as the tables say, and dependencies fail closed. A toggle that depends on variants
// of which its parent has none in the environment is delivered as off: engines disagree about a variant that a parent
// without variants does not have, and an empty list of variants means each of them. Where the parent has one of these
// variants, and a visitor gets none, engines still disagree: most take the dependency as fulfilled.
package compiler
