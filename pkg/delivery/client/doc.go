// Package client is the applications' side of the service: the client API of Unleash's SDKs, the frontend API of
// browsers, and OFREP of OpenFeature. It is an http.Handler that knows nothing of Lambda. It reads the tables
// Snapshots and ClientTokens, and imports no store of the administration, so nothing that the administration does,
// deploys or breaks changes an answer, except the toggles.
//
// Package counting counts reports and requests; no answer depends on it.
//
// An SDK never goes back in time. Its entity tag has the epoch and the version of what it has. A process that is behind
// reads the pointer again before it answers, and answers 304 if it cannot. A process that cannot reach DynamoDB answers
// with the last snapshot and the tokens that it has read; without any, with a 503. It never answers 401, 403, 404 or an
// empty list because of a passing fault: some SDKs stop for ever at the first.
package client
