package world

import "time"

// fault is something that can go wrong with a call.
type fault int

const (
	lostRequest  fault = iota // the service does not get the request
	lostResponse              // the service carries the request out, the caller gets no response
	late                      // the service carries the request out after the caller has given up
	throttled                 // the service rejects most requests for a table for some seconds
	conflict                  // another transaction is in progress
	slow                      // latencies of up to a second
	crash                     // the process ends at the call
	freeze                    // the process stops at the call, for up to an hour
	duplicated                // a function is started twice for one event
	redelivered               // records, lines and messages are delivered again
	skewed                    // clocks differ
	lagging                   // indexes show writes later
	noBus                     // the bus refuses, for minutes
	noWebhook                 // the webhook refuses, for days
	restored                  // in the end, tables are restored to an earlier time
	paged                     // DynamoDB reads one to three items at a time
	lostPart                  // a part of a current snapshot is lost
	wrongClock                // clocks of those who compile, and sweep change requests, are wrong by hours or days
	unavailable               // in the end, DynamoDB is unavailable for minutes to those who sweep change requests
)

var faultNames = []string{
	"lost-request", "lost-response", "late", "throttled", "conflict", "slow", "crash", "freeze", "duplicated",
	"redelivered", "skewed", "lagging", "no-bus", "no-webhook", "restored", "paged", "lost-part", "wrong-clock", "unavailable",
}

// happens decides whether a fault occurs at a call or event with a key.
func (w *World) happens(f fault, key uint64, probability float64) bool {
	return w.has(f) && !w.calm && float64(mix(w.Seed, uint64(f)+100, key)>>11)/(1<<53) < probability
}

func (w *World) has(f fault) bool { return w.Faults>>f&1 == 1 }

// outage reports whether a fault occurs now to each call of something: in few of the intervals.
func (w *World) outage(f fault, interval time.Duration, of string) bool {
	return w.happens(f, mix(hashOf(of), uint64(time.Now().UnixNano()/int64(interval)), 1), 0.02)
}

// storm reports whether a fault that comes in waves occurs now to something: in some of the intervals.
func (w *World) storm(f fault, interval time.Duration, to string) bool {
	return w.happens(f, mix(hashOf(to), uint64(time.Now().UnixNano()/int64(interval))), 0.15)
}
