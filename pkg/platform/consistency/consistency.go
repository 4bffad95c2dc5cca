// Package consistency describes what a check of stored data finds. A package whose store keeps a counter, an index or
// a relation has a check beside it, in check.go. `toggleadmin doctor` runs them all (pkg/operator/doctor).
package consistency

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Check compares items. It returns a summary of what it has read, for the case that it finds nothing, such as
// "4, consistent with their identifiers".
//
// Its reads are not a snapshot: writes at the same time can look like an inconsistency. The caller repeats a Check that
// finds something.
type Check func(context.Context) (summary string, found []Inconsistency, err error)

// Inconsistency is a difference between items that are otherwise written by one transaction. A restore that
// has not ended causes it.
type Inconsistency struct {
	// Text says what is wrong. It is the same each time a Check finds the inconsistency.
	Text string
	// Repair does nothing if the items have changed since they were read. nil: an operator must decide.
	Repair func(context.Context) error
	// Advice is what an operator can do. It is empty if there is a Repair.
	Advice string
}

// maxListed is the maximum number of texts in a List.
const maxListed = 20

// List joins texts for one line: at most 20, and the number of the others.
func List(texts []string) string {
	if more := len(texts) - maxListed; more > 0 {
		texts = append(slices.Clone(texts[:maxListed]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
