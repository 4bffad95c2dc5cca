// Package architecture tests the linter rules of .golangci.yml that restrict imports and the use of the environment and
// the clock: it lints a small module that violates each rule.
package architecture
