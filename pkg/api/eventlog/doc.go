// Package eventlog is the log of changes: who changed what, when, from what to what. Each event is written by the
// transaction that makes its change, so there is no change without its event and no event without its change.
//
// The table Events is append-only. Only its time to live deletes events. Its stream feeds the function publish-events
// (package eventbus), and Search serves GET /api/admin/search/events.
package eventlog
