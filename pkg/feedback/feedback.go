// Package feedback is people's answers to feedback questionnaires (4.1).
//
// The one concept: a record belongs to a questionnaire and a user, and an update changes the members that were sent and no others, in
// one write that reads nothing before. A record that is not there yet is made by its first update.
package feedback

import (
	"context"
	"time"
)

// Feedback is one user's answer to one questionnaire.
type Feedback struct {
	FeedbackID string
	UserID     int64
	NeverShow  bool       // the user never wants to see the questionnaire again
	Given      *time.Time // when the answer was given; nil: not yet
}

// Change is what an update sets.
type Change struct {
	NeverShow *bool // nil: as it is
	SetGiven  bool  // false: Given stays as it is
	Given     *time.Time
}

// Updater changes a record, or makes it, and gives it as it is then.
type Updater interface {
	Update(ctx context.Context, feedbackID string, userID int64, change Change) (Feedback, error)
}

// Users knows who exists.
type Users interface {
	Exists(ctx context.Context, id int64) (bool, error)
}
