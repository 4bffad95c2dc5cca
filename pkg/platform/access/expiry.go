package access

import "time"

// MaxDays is the largest maximum of LatestExpiry: a hundred years.
const MaxDays = 36500

// LatestExpiry returns the latest time at which a token may expire that is created now. ok is false if there is none,
// because maxDays is 0.
func LatestExpiry(now time.Time, maxDays int) (latest time.Time, ok bool) {
	return now.AddDate(0, 0, maxDays), maxDays > 0
}
