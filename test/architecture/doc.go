// Package architecture shows that the linter's rules about who may import what, and who may read the environment or the clock,
// bite: it lints a small module that breaks each of them. The rules themselves are in .golangci.yml, with their reasons.
package architecture
