// Package stores holds the tests of every store, on every ground.
//
// The one concept: one conformance suite, a named subtest for each property, runs on the fake (test/memory) and on a DynamoDB-compatible
// engine through the stores that are deployed. The engine is a child process in memory: dynoxide, or the one that ENGINE names, as `make
// test-dynamodb-local` does for AWS's own. With DYNAMODB_ENDPOINT set it is whatever answers there. Every test has tables of its own, made
// from template.yaml.
//
// Beside it: faults injected between the stores and the engine, and the life of personal access tokens against a model.
package stores
