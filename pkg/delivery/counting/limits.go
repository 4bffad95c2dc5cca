package counting

import (
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/platform/access"
)

// The limits of a process. Sizes are in bytes, estimated.
const (
	maxSize         = 16_000_000 // of all parts that it keeps
	maxFrontendSize = 4_000_000  // of these, parts of frontend tokens
	maxPartSize     = 250_000    // of a part that gets more applications; an item has at most 400 kB
	maxGrownSize    = 320_000    // of a part whose applications get more variants
	partSize        = 1_000      // of an empty part
	entrySize       = 20         // of an entry in addition to its name
	maxStrategies   = 100        // of an application
)

// limits are what a process counts for an environment.
type limits struct {
	applications int // on their own, in an hour
	instances    int // in an hour
	unknown      int // names without a toggle, in a day
	size         int // of the entries of applications, in an hour
	late         int // of the entries for hours before the last one, in an hour
}

// Frontend tokens are public. Each of them has limits of its own, and all together have others than backend tokens, so
// that nobody who has one keeps the applications of another one from being counted.

func backendLimits() limits {
	return limits{applications: 500, instances: 5_000, unknown: 100, size: 6_000_000, late: 3_000_000}
}

func frontendLimits() limits {
	return limits{applications: 200, instances: 1_000, unknown: 200, size: 1_200_000, late: 300_000}
}

func frontendTokenLimits() limits {
	return limits{applications: 50, instances: 200, unknown: 100, size: 300_000, late: 100_000}
}

// period is a time in which a quota is used up.
type period struct {
	kind  periodKind
	start time.Time
}

type periodKind int

const (
	inHour periodKind = iota // what is reported for an hour
	late                     // what is reported in an hour for hours before the last one
	inDay                    // names without a toggle
)

// periodOf returns the period of a use in an hour.
func periodOf(hour, now time.Time) period {
	running := usage.HourOf(now)
	if hour.Before(running.Add(-time.Hour)) {
		return period{late, running}
	}
	return period{inHour, hour}
}

// isOver reports whether nothing more is counted in a period.
func (p period) isOver(now time.Time) bool {
	switch p.kind {
	case inHour:
		return p.start.Before(usage.HourOf(now).Add(-time.Hour))
	case late:
		return p.start.Before(usage.HourOf(now))
	default:
		return p.start.Before(today(now))
	}
}

func today(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// quotaKey identifies a quota: that of a frontend token, or that of all tokens of a type.
type quotaKey struct {
	period
	environment string
	isFrontend  bool
	token       access.Selector // zero: all tokens
}

// quota is how much was counted in a period.
type quota struct {
	names     map[string]bool // of applications, or names without a toggle
	maxNames  int
	instances int
	maxInst   int
	size      int
	maxSize   int
}

// quotas are those that a reporter uses up. There must be room in each of them.
type quotas []*quota

// quotas returns the quotas of a reporter in a period.
func (r *Recorder) quotas(from Reporter, p period) quotas {
	key := quotaKey{period: p, environment: from.Token.Environment, isFrontend: from.isFrontend()}
	if !key.isFrontend {
		return quotas{r.quota(key, backendLimits())}
	}
	ofToken := key
	ofToken.token = from.Token.Selector
	return quotas{r.quota(ofToken, frontendTokenLimits()), r.quota(key, frontendLimits())}
}

func (r *Recorder) quota(key quotaKey, l limits) *quota {
	if q := r.used[key]; q != nil {
		return q
	}
	q := &quota{names: map[string]bool{}, maxNames: l.applications, maxInst: l.instances, maxSize: l.size}
	switch key.kind {
	case inHour:
	case late:
		q.maxSize = l.late
	case inDay:
		q.maxNames = l.unknown
	}
	r.used[key] = q
	return q
}

// admits reports whether a name is one of the first ones, or can become one.
func (all quotas) admits(name string) bool {
	for _, q := range all {
		if !q.names[name] && len(q.names) >= q.maxNames {
			return false
		}
	}
	return true
}

func (all quotas) add(name string) {
	for _, q := range all {
		q.names[name] = true
	}
}

// hasRoom reports whether an entry of a size can be counted.
func (all quotas) hasRoom(size int) bool {
	for _, q := range all {
		if q.size+size > q.maxSize {
			return false
		}
	}
	return true
}

func (all quotas) grow(size int) {
	for _, q := range all {
		q.size += size
	}
}

// addInstance counts another instance, unless there are too many.
func (all quotas) addInstance() bool {
	for _, q := range all {
		if q.instances >= q.maxInst {
			return false
		}
	}
	for _, q := range all {
		q.instances++
	}
	return true
}

// isFrontend reports whether the reporter has a frontend token.
func (from Reporter) isFrontend() bool { return from.Token.Type == clienttokentable.Frontend }
