// Package staleness keeps the flag potentiallyStale of every toggle correct (contract section 5): after a type's
// lifetime is set, triggered by the stream of the table FeatureTypes (Handler.Stream), and as time passes, triggered
// every minute (Handler.Sweep).
//
// The toggles of a type whose flag must change are two key ranges of the staleness index per shard. Both triggers run
// the same code: they query these ranges and flip up to 50 toggles in a transaction, each with the condition that the
// toggle has not changed. No flag changes because of a lifetime that was replaced more than five seconds before. A run
// repeats failed calls with backoff, and ends two seconds before its deadline. No progress is stored. After a run that
// ends early, or crashes, the next run does the rest. Runs may overlap, repeat and come in any order. Their cost is
// proportional to the number of flags that change.
//
// No operation deletes a type. If its item is deleted in another way, the stream record of the deletion is the only
// trigger that clears the flags of its toggles. A toggle that the index does not show yet at that moment keeps its flag
// until the toggle is written or the type is created again.
package staleness
