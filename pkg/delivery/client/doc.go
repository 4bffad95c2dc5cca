// Package client is the applications' side of the service: the client API of Unleash's SDKs, the frontend API of
// browsers, and OFREP of OpenFeature. It reads the tables Snapshots and ClientTokens, and imports no store of the
// administration, so nothing that the administration does, deploys or breaks changes a response, except the toggles.
//
// A poll, GET /api/client/features, passes these functions in this order:
//
//  1. Handler.serve finds the route, and Handler.authorize the secret of the token.
//  2. cache.read reads the token and, unless it was read recently, the pointer, with store.read. cache.use reads the
//     snapshot of the pointer if the process has another one.
//  3. Handler.getFeatures serves the request. request.query returns the query of the parameters and the token, and
//     snapshot.NewSelection what follows from it.
//  4. Handler.poll compares the tag of the selection with the tags of the client. If the process is behind, cache.refresh
//     reads the pointer again.
//  5. view.response returns the body, which is the stored one or was built before, or view.build builds it.
//
// Package counting counts reports and requests; no response depends on it.
//
// An SDK never goes back in time. Its entity tag has the epoch and the version of what it has. A process that is behind
// reads the pointer again before it responds, and returns 304 if it cannot. A process that cannot reach DynamoDB
// responds with the last snapshot and the tokens that it has read; without any, with a 503. It never returns 401, 403,
// 404 or an empty list because of a passing fault: some SDKs stop permanently at the first.
package client
