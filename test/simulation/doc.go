// Package simulation runs the service in a simulated world: real handlers, stores and SDK, in virtual time, on fakes
// that lose, delay and repeat what they get. A seed determines everything that happens. docs/simulation.md describes
// how to run it and what it checks.
//
// # Parts
//
//   - API: package gateway with the authorizer and the operations. An instance handles one invocation at a time.
//   - DynamoDB: package dynamodb, with transactions, idempotency tokens, lagging indexes and reads, pages of one to three
//     items, unprocessed keys, and streams. A test compares it with the engine. It supports only integers. All toggles have one shard, and a Query of another one
//     returns at once.
//   - EventBridge with its limits, SQS, Parameter Store, issuer, webhook: events.go, people.go. Calls of SQS and Parameter Store do not
//     fail, because the SDK repeats them after random delays.
//   - Streams, schedules, access log: triggers.go, at least once, sometimes late or concurrently.
//   - People and machines: actors.go. Most act at the same moments on the same objects.
//   - Faults: transport.go. Requests and responses are lost or late, calls are throttled, conflict or take up to a
//     second, processes crash or freeze, clocks differ, the bus refuses for minutes, and the webhook for days.
//
// Each history has three to six of the actors and half of the faults. An actor's choices depend on the seed and its
// name, a fault on the seed and the call. Throttling concerns one table at a time. After ten minutes, nothing fails any
// more, and the world runs until nothing is left to do.
//
// # Extensions
//
//   - An actor: a method of actor and an element at the end of actors. Take every decision from the actor's own random
//     numbers, choose objects with subject, start a concurrent step with meanwhile, and record an operation that a
//     model of linearize.go describes.
//   - An invariant: after writes in checkWritten, after responses in checkAccepted, at the end in checkQuiet. Call fail
//     with a sentence that names the objects.
//   - A fault: a constant and a name at the end of faultNames, and a condition with happens.
//   - A planted bug: a patch in the folder testdata, with a name that says what is broken. make simulate-planted must
//     find it in 60 seconds on one core.
package simulation
