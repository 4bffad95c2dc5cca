// Package stack holds tests only: what the make targets for a stack on AWS ask, refuse, and hand to sam.
package stack
