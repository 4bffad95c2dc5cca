// Package contract tests the statements of docs/contract.md that concern all operations, over HTTP, against what make
// run starts. The other statements are tested beside the code, with all values, and over HTTP in test/e2e, with a few
// examples.
//
// All exchanges are compared with api/openapi.yaml. The tests take operations, requests and permissions from that
// document, so a new operation needs no change here.
package contract
