package toggle

import (
	"errors"
	"time"
)

// Keep is until when a toggle stays, whatever its age and its use.
type Keep struct {
	Until  time.Time // the first day, in UTC, on which it can be proposed for removal again
	Reason string    // empty: none
}

// MaxKeepReason is the maximum number of characters of the reason.
const MaxKeepReason = 255

var errDay = errors.New("must be a date such as 2027-01-31")

// ParseDay reads a date such as 2027-01-31, in UTC. Its error says what is wrong.
func ParseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		return time.Time{}, errDay
	}
	return day, nil
}

// Day returns the text of Until.
func (k Keep) Day() string { return k.Until.Format(time.DateOnly) }

// IsKept reports whether the toggle is kept at the time now.
func (f Feature) IsKept(now time.Time) bool { return f.Keep != nil && now.Before(f.Keep.Until) }
