// Package evaluation decides whether toggles are on for a context, and which variants it gets. It is pure: it reads
// neither a clock nor a table, draws no random numbers of its own, and imports only pkg/toggle and the standard library.
// New compiles the Document of an environment once. The Engine then evaluates as often as necessary: Enabled and Evaluate
// allocate no memory, and Explain says why a result is what it is.
//
// # Rules
//
// They are those of Unleash's SDKs, which have https://github.com/Unleash/client-specification in common. Where SDKs
// disagree, this package follows yggdrasil (https://github.com/Unleash/yggdrasil), the engine in most of them.
//
//   - A toggle is on if it is switched on, its dependencies hold, and one of its strategies holds, or it has none.
//   - A dependency holds if the parent is on or off, as demanded, and has one of the variants that are named. A parent
//     that is on and has no variant in the context fulfills it too. One that does not exist, has a parent itself, or has
//     none of these variants in any context, does not. (Yggdrasil: a parent without any variants does. The service
//     delivers no such dependency.)
//   - A strategy holds if all its constraints, all constraints of its segments, and its type with its parameters hold.
//     The first strategy that holds decides.
//   - A constraint holds if its operator holds for the value of the field. An absent field, or a value that the operator
//     cannot evaluate, does not fulfill it. Inverted constraints hold exactly where they otherwise do not; one with an
//     unknown operator never holds.
//   - A value of more than 10,000 characters, or more than 1,000 for REGEX, cannot be evaluated. SDKs have no such limits;
//     here, one application could slow down the others.
//   - A rollout holds if the number of the context, from 1 to 100, is at most the percentage. The number is the
//     MurmurHash3 of "group:id", where id is the value of the field that the stickiness names. With the stickiness
//     default, that is userId, else sessionId, else the number is random.
//   - The variant is that of the strategy which decided, or if it has none, of the toggle. A number from 1 to the sum of
//     the weights decides, which is computed like that of a rollout, but with another seed.
//
// # What SDKs cannot evaluate
//
// CheckValue and CheckParameter reject what an SDK evaluates differently, or because of which it turns a toggle off: a
// number such as .5, a regular expression that Rust understands differently, a quotation mark in a group.
//
// TestClientSpecification runs all cases of the specification. test/sdk/evaluation compares random evaluations with
// those of yggdrasil and of the SDK for Node.js, and lists the differences that remain.
package evaluation
