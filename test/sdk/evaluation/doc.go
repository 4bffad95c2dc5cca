// Package evaluation compares the results of pkg/evaluation with those of the engines in Unleash's SDKs, for random
// states and contexts. make test-sdk runs it. For more:
//
//	scripts/test-sdk.sh ./test/sdk/evaluation -v -seed=2 -states=100000
package evaluation
