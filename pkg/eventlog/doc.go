// Package eventlog records changes: who changed what, when, from what to what. Each event is written by the transaction
// that makes its change, so there is no change without its event and no event without its change.
//
// Reader reads the log: it searches events, page by page, and returns all that a filter selects.
//
// The table Events is append-only by the conditions of this package, not by IAM, which cannot express them. Nothing
// changes events, and only the time to live deletes them. Events have no personal data: they name people by their ids,
// and whoever shows events reads the names (user.Names). The table's stream feeds the function
// publish-events (package eventbus).
package eventlog
