// Package world runs the service in a simulated world. The constructors, handlers, stores and the SDK are real. Time is
// virtual (testing/synctest). Everything outside the process is a fake that loses, delays and repeats calls. A seed
// determines everything that happens. The tests and the planted bugs are in the folder above; make test runs 8 seeds:
//
//	make simulate FOR=8h           # search on all cores; failing seeds are kept in .cache/simulation
//	scripts/simulate-planted.sh    # check that the search finds known bugs
//
// # Domains
//
// Each domain has a file with its actors, the model of its operations, and its invariants: types, staleness, toggles,
// imports, fields, environments, activation, switches, strategies, dependencies, constraints, segments, feedback,
// views, accounts, people, credentials, tokens, trusts, client tokens, teams, change requests, delivery, snapshots,
// usage, events, bus, webhook, traffic and restore. The state that the world keeps about a domain is a struct of that
// file. domains.go lists what all domains have: the actors, the models, what is checked after each write and what is
// checked at the end. records.go is the model that types of records share: toggles, context fields, environments,
// segments and feedback.
//
// The actors application-1 and application-2 are applications: two SDKs with client tokens for all projects or some
// ask three processes, one after the other, which have read different snapshots (delivery.go). Between them, pages with
// frontend tokens ask what is on for a visitor, and somebody asks with tokens that are not valid (visitors.go). Only in
// worlds with these actors, snapshots are compiled (snapshots.go).
//
//   - After every write: usage and counts equal a recount, a context field in use exists, no two context fields get the
//     same default order, limits hold, deleted accounts and API tokens do not come back, no token is added to an
//     account whose deletion has begun, and names and identities are unique and reserved. A flag changes only for a
//     lifetime that was valid in the last five seconds, and by the clock of the process, to the millisecond. Each call
//     records exactly what it changes.
//   - After every write about activation: a toggle that is on has an enabled strategy, a state is not written in an
//     environment that does not exist, the values of constraints are legal, the usage of environments, segments and
//     fields equals a recount, and the events explain the new state. After every response, what it says was true at
//     some time while the request was handled. A toggle has the time from which it is on for everybody where it is, which
//     other changes keep, and its stage (stages.go).
//   - After every write of a toggle or a tag type: the types of all tags exist.
//   - Whenever an actor reads a toggle: it is a favorite as the actor has last said of this toggle, and of none with its
//     name, and it is in the lines of which the actor's repository has last told (care.go).
//   - After every change of what applications get in a protected or frozen environment (protection.go): its events say
//     how it was permitted, those of other changes do not, only who may turns toggles off, and only who may skip change
//     requests does more.
//   - After every write of a change request (approvals.go): it has a state that may follow the one before, and none after
//     a closed one. No author votes, and only who may. Whoever changes it is an author, and it loses its approvals. The
//     numbers of its project equal a recount. When it is applied (applied.go), it has its approvals at this moment, by
//     people who may still approve, all of its changes are made in the same call and no others, toggles and segments are
//     as a naive application of the changes makes them, and what the result depends on is as it was when the change was
//     added. Nothing is changed for a request that is not applied in the same call.
//   - After every write of a scheduled change request by a sweep (due.go): it is due, and was to be applied, after those
//     that were due before it. It is applied only if its authors are enabled, who has scheduled it may apply it, and
//     nothing is frozen. Otherwise it is suspended for a reason that was one, or fails after ten minutes. A sweep that
//     says that nothing is left has left nothing.
//   - After every response about change requests (waiting.go): numbers and lists are those of a time of the request, or
//     contain what was there all the time and nothing that was not, or that the account does not see. Nobody is refused
//     who might all the time, also not who turns a toggle off.
//   - After every response to somebody whose rights change (permissions.go): what the account might do at no time of the
//     request is refused, and what it might do all the time is not. A private project that it does not see is one that does
//     not exist, also in lists, counts, events, segments and what uses them.
//   - After every request with an ID token (idtokens.go): the groups of the issuer that it has are stored, or those of a
//     token that was issued later. An earlier one never replaces them. They give rights until they are too old.
//   - After every request with the ID token of a pipeline (trusts.go): it is accepted exactly if one account trusts it at
//     some time of the request, which exists and is enabled, and the issuer can be reached. It has the rights of this
//     account, but cannot make a credential that stays. No two trusts of an account accept the same tokens. At the end, accounts that do not exist
//     have no trusts.
//   - After every write about teams (memberships.go): groups and accounts agree about members, the authorizer knows the
//     groups that exist, a role that somebody has in a project exists, and a protected or private project has an Owner. A
//     toggle is on only in environments that its project has. A request with an If-Match for the access or the protections
//     of a project changes only what its tag is of (preconditions.go). At the end, nothing is left of groups and accounts that do
//     not exist.
//   - After every response: only valid credentials are accepted. IDs of tokens rise. A lifetime that was set has
//     written its type, so that the toggles are re-evaluated. No function fails with 500, and a command fails only if
//     DynamoDB is unavailable.
//   - After every snapshot (pkg/background/compiler): no toggle or segment has an older state than in the snapshot
//     before, and the parts exist. A part is written once, and deleted an hour after it was written, if the current
//     snapshot does not have it. After every batch that the stream has delivered and every sweep of snapshots: no
//     acknowledged change is missing, and each engine decides about toggles as a naive evaluation of the tables does
//     (decisions.go).
//   - After every response to an SDK: it is a published snapshot, not older than what the SDK has, and something that the
//     token sees has changed. A process that has answered an SDK before always answers it, and another one answers or is
//     unavailable. What an SDK has, and what is on for a visitor, is in a snapshot that was the current one when the
//     process has read the pointer last, which is at most FreshnessMilliseconds ago unless a read has failed.
//   - After every write of the table Usage: a tally belongs to one process and only grows, and no process writes more
//     than it was told. Only the sweep of usage changes when applications last used a toggle, which does not go
//     back, and it changes nothing else of the toggle. At the end: what a process has accepted is counted, but for the
//     last ten seconds of one that has crashed, and the records of an hour are the sum of its tallies.
//   - After every sweep, and every re-evaluation of a changed lifetime, that leaves nothing: flags are what types and
//     ages say. The second shows what the next sweep would hide.
//   - When an event is given up: the bus refuses it for good, or the webhook has refused it for days. The webhook
//     checks the id and the signature of each request.
//   - At the end: each change was announced once, in order, each event has its own id, the webhook has received all its
//     events, requests are counted once, nothing is pending. Every SDK receives the true state, whichever process it
//     asks and although parts of snapshots were lost, and a toggle, a parent or a segment that cannot be read keeps its
//     part and does not hold up another one (damage.go). For types, fields, tokens, roles, disabled accounts, toggles and feedback, an order of the
//     operations explains all results (porcupine).
//   - After a final restore of tables to an earlier time, and people who sign in before the repair: nobody may do more
//     than before the restore, an operator's decisions leave no problem, the tables are consistent, no id is used
//     twice, and SDKs receive the restored state. Before the restore, doctor finds nothing.
//
// # Environment
//
//   - schedule.go, clock.go, random.go: what happens when. A process has a clock of its own. Some compile, and
//     sweep change requests, with one that is wrong by hours or days.
//   - lambda.go: package gateway with the authorizer and the operations. An instance handles one invocation at a time.
//   - operator.go: the commands of toggleadmin.
//   - triggers.go: streams, schedules and the access log, at least once, sometimes concurrently, or days late, when
//     DynamoDB has deleted items whose time to live has ended.
//   - network.go, process.go: the calls of a process. Requests and responses are lost or late, processes crash or
//     freeze.
//   - engine.go and package dynamodb: DynamoDB with transactions, idempotency tokens, indexes and reads that lag, pages
//     of one to three items, unprocessed keys, and streams. Calls are throttled, one table at a time, or conflict. A
//     test compares the package with the engine. It supports only integers. All toggles have one shard, and a Query of
//     another one returns at once.
//   - bus.go, webhook.go, people.go: EventBridge with its limits, SQS, Parameter Store, the webhook and the issuer of
//     sign-ins. Calls of SQS and Parameter Store do not fail, because the SDK repeats them after random delays.
//   - faults.go lists the faults.
//
// Each history has three to six of the actors and half of the faults. An actor's choices depend on the seed and its
// name, a fault on the seed and the call. Most actors act at the same moments on the same objects. After ten minutes,
// nothing fails any more, and the world runs until nothing is left to do.
//
// The simulation does not include IAM, capacity, limits of API Gateway, deployments, failures of SQS and Parameter
// Store, and the limits of concurrency inside a re-evaluation. The timers of a frozen process continue.
//
// # Replay a seed
//
// A failing seed prints the first violation, a history with fewer actors, steps and faults, and a command that runs it
// again:
//
//	go test ./test/simulation -run TestSeeds -seed=7 -seeds=1 -actors=0x12 -faults=0x3 -steps=12
//
// Lines of the history begin with the time since the start of the world. If two runs of a seed differ, look for a
// dependency on the order of goroutines, a limit that they compete for, or the order of a map.
//
// # Extensions
//
//   - An actor: a method of actor in the file of its domain, and an element of actors. Take every decision from the
//     actor's own random numbers, choose objects with subject, start a concurrent step with meanwhile, and record an
//     operation that a model describes.
//   - An invariant: after writes in checkWritten, after responses in checkAccepted, at the end in checkQuiet. Call fail
//     with a sentence that names the objects.
//   - A fault: a constant and a name at the end of faultNames, and a condition with happens.
//   - A planted bug: a patch in the folder test/simulation/testdata, with a name that says what is broken. make
//     simulate-planted must find it in 60 seconds on one core.
package world
