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

// ShortLife is the time between two searches for expiring tokens. A token with a shorter lifetime may be created and
// expire between them, so its expiry is recorded with its creation, at LastThreshold.
const ShortLife = time.Hour

// LastThreshold is the lowest of the thresholds of DueThreshold.
const LastThreshold int64 = 1

// DueThreshold returns the lowest threshold that a token has reached now: 1, 7 or 14 days before it expires. It returns 0
// if there is none, if the threshold announced or a lower one was recorded, or if the token has expired. announced is 0
// if none was recorded.
func DueThreshold(expires time.Time, announced int64, now time.Time) int64 {
	if !now.Before(expires) {
		return 0
	}
	for _, days := range []int64{LastThreshold, 7, 14} {
		if days == announced {
			break
		}
		if !now.Before(expires.Add(-time.Duration(days) * 24 * time.Hour)) {
			return days
		}
	}
	return 0
}
