// Package staleness keeps the flag potentiallyStale of every toggle true (contract, section 5): when a type's lifetime changes, told by the
// stream of FeatureTypes (Stream), and as time passes, each minute (Sweep).
//
// The one concept: what is left to do is a query. The toggles of a type whose flag must change are two key ranges of the staleness index
// per shard; Evaluator reads those, flips each toggle with one conditional write, and needs no cursor. A run that ends early, for want of
// time or by a crash, has only done less: the next one finds the rest. So both handlers do the same work, may do it at the same time, in
// any order and more than once, and what they cost follows the toggles that change, not those that exist.
//
// No operation deletes a type. Where somebody deletes its item all the same, only that record of the stream leads to its toggles: one whose
// flag the index does not show yet, or that a sweep which read the type before flags after it, keeps its flag until it is written or the
// type is made again.
//
// What is not here: the writes themselves, and what keeps the index true. Both are pkg/feature's, the one writer of toggles.
package staleness
