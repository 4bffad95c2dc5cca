package world

import (
	"strings"
	"time"
)

// maxSkew is the largest difference of a clock from the right time if clocks differ: they are up to 250 ms apart.
const maxSkew = 125 * time.Millisecond

// operatorSkews is how many times an operator's clock can be further off than that of a function, because the operator's
// computer sets it less often: up to two seconds.
const operatorSkews = 16

// skewOf returns the difference of a process's clock from the right time.
func (w *World) skewOf(p *process) time.Duration {
	if strings.HasPrefix(p.name, sweepChangeRequests) && w.has(wrongClock) {
		return w.upTo(2*wrongBy, p.hash, 3) - wrongBy
	}
	return w.upTo(2*w.skew+1, p.hash, 3) - w.skew
}

// now is the process's clock.
func (p *process) now() time.Time { return time.Now().Add(p.skew) }
