package webhook

import "time"

const (
	// giveUpAfter is the age of an event, from the time at which it came to the queue, after which it is not sent again.
	giveUpAfter = 3 * 24 * time.Hour
	firstDelay  = 15 * time.Second
	// SQS makes a message visible at most 12 hours after it was received.
	longestDelay = 11*time.Hour + 45*time.Minute
)

// retryDelay returns the delay after a failed attempt to deliver an event of this age. It grows with the age: each
// delay is about three times the one before. The number of receives does not count, because Lambda also receives
// messages for invocations that cannot start. The last attempt is at giveUpAfter.
func retryDelay(age time.Duration) time.Duration {
	return min(firstDelay+2*age, longestDelay, max(giveUpAfter-age, 0))
}
