package webhook

import "time"

// Attempts is the number of attempts to deliver an event: the maxReceiveCount of the queue. With the delays below, the last one is three days
// after the first one.
const Attempts = 14

const (
	firstDelay = 15 * time.Second
	// SQS makes a message visible at most 12 hours after it was received.
	longestDelay = 11*time.Hour + 45*time.Minute
)

// retryDelay returns the delay after a failed attempt. attempt counts from 1. After the last attempt the queue must receive the message once
// more to move it to the dead-letter queue.
func retryDelay(attempt int) time.Duration {
	if attempt >= Attempts {
		return 0
	}
	delay := firstDelay
	for range attempt - 1 {
		delay = min(3*delay, longestDelay)
	}
	return delay
}
