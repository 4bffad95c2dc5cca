package eventlog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSubjects is the number of subjects whose events About reads at the same time.
const maxSubjects = 50

// About calls yield with the events of some types about subjects. The events of one subject are in their order. Without
// types these are all events.
func (l *Log) About(ctx context.Context, subjects []Subject, some []Type, yield func(Event) error) error {
	f := Filter{Types: texts(some)}
	for chunk := range slices.Chunk(subjects, maxSubjects) {
		f.Subjects = texts(chunk)
		if err := l.All(ctx, f, yield); err != nil {
			return err
		}
	}
	return nil
}

// clockError is more than the clocks of the functions and their writes can differ.
const clockError = time.Hour

// SinceCreation returns the events of some types since the creation of a subject, oldest first: those of all subjects
// that were created later, even if they were deleted or a restored table has lost them. If the creation of the subject
// is not in the log, or its clock was fast, these are all events of the types.
func (l *Log) SinceCreation(ctx context.Context, s Subject, some ...Type) (all []Event, err error) {
	f := Filter{Types: texts(some)}
	var created time.Time
	err = l.About(ctx, []Subject{s}, some, func(e Event) error {
		if created.IsZero() {
			created = e.CreatedAt()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !created.IsZero() && !created.After(l.now()) {
		f.From = created.Add(-clockError)
	}
	err = l.All(ctx, f, func(e Event) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// SubjectID returns the id in the subject of an event about an account or a token.
func (e Event) SubjectID() (int64, error) {
	_, text, _ := strings.Cut(string(e.Subject), ":")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the subject of event %d: %w", e.ID, err)
	}
	return id, nil
}

func texts[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
