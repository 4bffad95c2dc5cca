// Package feature stores toggles and serves the operations on their record: create, read, update, clone, archive,
// revive and delete. It is the only writer of the table Features, except for the flags that stalenessindex flips.
//
// Every write of a toggle also updates, in the same transaction, what toggles are looked up by: the toggle's key in the
// staleness index, and the references to the context fields, segments and environments that it uses. A write that can
// change whether the toggle is potentially stale decides it at once.
//
// The operations on strategies, switches and dependencies, and the search, have packages of their own, which use the
// Store and the Reader.
package feature
