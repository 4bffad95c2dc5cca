// Package contract holds the service to its contract, line by line: errors (section 1), requests (2), credentials and permissions (3) and
// the seven operations (4), with what the specification says beside them. Credentials of a user interface and the counting of traffic have
// tests of their own elsewhere.
//
// The one concept: a test speaks real HTTP to what `make run` starts, the engine's process and the real functions included, and its name is
// the sentence that it shows. One service, started by TestMain, serves most of them; each test makes its own accounts, tokens, types and
// months, so all run at once. A test that turns the clock, changes the template or breaks DynamoDB starts a service of its own.
//
// All traffic is also held against api/openapi.yaml, against the shape of the error object, and against texts that must never leave.
//
// Not here: how the functions do it. What cannot be seen over HTTP or in the tables is for the tests beside the code.
package contract
