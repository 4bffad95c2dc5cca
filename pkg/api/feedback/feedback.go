// Package feedback stores users' responses to feedback questionnaires (contract section 4.1).
//
// A record belongs to one questionnaire and one user. An update changes only properties that were sent, in one write
// without a read before it, and creates the record if it does not exist.
package feedback

import "time"

// Feedback is one user's response to one questionnaire.
type Feedback struct {
	FeedbackID string
	UserID     int64
	NeverShow  bool       // the user chose not to be shown the questionnaire again
	Given      *time.Time // when the user responded; nil: not yet
}

// Change is what an update sets.
type Change struct {
	NeverShow *bool // nil: unchanged
	SetGiven  bool  // false: Given is unchanged
	Given     *time.Time
}
