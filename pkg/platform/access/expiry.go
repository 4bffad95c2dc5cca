package access

import (
	"fmt"
	"time"
)

// MaxDays is the largest maximum of LatestExpiry: a hundred years.
const MaxDays = 36500

// LatestExpiry returns the latest time at which a token may expire that is created now. ok is false if there is none,
// because maxDays is 0.
func LatestExpiry(now time.Time, maxDays int) (latest time.Time, ok bool) {
	return now.AddDate(0, 0, maxDays), maxDays > 0
}

// CheckExpiry returns what the expiry of a token that is created or changed now must be, such as "in the future", or ""
// if it is valid. nil is the expiry of a token that never expires. maxDays is that of LatestExpiry.
func CheckExpiry(expires *time.Time, now time.Time, maxDays int) string {
	latest, limited := LatestExpiry(now, maxDays)
	switch {
	case limited && (expires == nil || expires.After(latest)):
		return fmt.Sprintf("at most %d days from now", maxDays)
	case expires != nil && !now.Before(*expires):
		return "in the future"
	}
	return ""
}
