package memory

import (
	"context"

	"toggleadmin/pkg/feedback"
)

// Feedback is the table of that name.
type Feedback struct{ *tables }

var _ feedback.Updater = (*Feedback)(nil)

type feedbackKey struct {
	userID     int64
	feedbackID string
}

// Update implements feedback.Updater.
func (s *Feedback) Update(ctx context.Context, feedbackID string, userID int64, change feedback.Change) (f feedback.Feedback, err error) {
	err = s.write(ctx, "Feedback.Update", func() error {
		key := feedbackKey{userID, feedbackID}
		record := s.feedback[key]
		record.FeedbackID, record.UserID = feedbackID, userID
		if change.NeverShow != nil {
			record.NeverShow = *change.NeverShow
		}
		if change.SetGiven {
			record.Given = copyTime(change.Given)
		}
		s.feedback[key] = record
		f = record
		f.Given = copyTime(record.Given)
		return nil
	})
	return f, err
}
