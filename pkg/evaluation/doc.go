// Package evaluation decides whether toggles are on for a context, and which variants it gets. It is pure: it reads
// neither a clock nor a table, draws no random numbers of its own, and imports only pkg/toggle and the standard library.
package evaluation
