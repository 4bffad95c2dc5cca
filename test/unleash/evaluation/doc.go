// Package evaluation compares the results of pkg/evaluation with those of the engines in Unleash's SDKs, for random
// states and contexts. make test-evaluation runs it.
package evaluation
