// Package memory is every store in the memory of one process: the fake for tests of what stands on stores.
//
// The one concept: a Memory keeps the same contract as the stores on DynamoDB, and test/stores runs one conformance suite on both. Beside
// it a Memory can fail when asked to (Hooks), also so that a write fails yet persists, as a lost answer does.
//
// What is not here: attributes, keys and indexes, which only the stores on DynamoDB have.
package memory
