// Package feature stores toggles and serves their operations. It is the only writer of the table Features.
//
// Every write of a toggle also updates, in the same transaction, what toggles are looked up by: the toggle's key in the
// staleness index, and the references to the context fields that its constraints use. A write that can change whether
// the toggle is potentially stale decides it at once. pkg/background/staleness finds and flips flags with Flags.
package feature
