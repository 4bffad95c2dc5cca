// Package usage is what applications use, in the form in which processes count it and the table Usage keeps it. It
// knows no table and no HTTP.
//
// A process counts in tallies. A tally is of one environment and one hour, belongs to one process, and only grows. The
// usage of an hour is the sum of its tallies, so that a process can write a tally as often as it likes without counting
// anything twice.
package usage

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// HourOf returns the start of the hour, in UTC, to which a time belongs.
func HourOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

// Counts says how often a toggle was on and off, and how often it had each variant.
type Counts struct {
	Yes      int64            `json:"y,omitempty"`
	No       int64            `json:"n,omitempty"`
	Variants map[string]int64 `json:"v,omitempty"`
}

// Zero reports whether nothing was counted.
func (c Counts) Zero() bool { return c.Yes == 0 && c.No == 0 && len(c.Variants) == 0 }

// Plus returns the sum of two counts. It does not change them. Whoever has a token can report large numbers, again and
// again: a sum that is too large is the largest number.
func (c Counts) Plus(other Counts) Counts {
	sum := Counts{Yes: plus(c.Yes, other.Yes), No: plus(c.No, other.No)}
	if len(c.Variants)+len(other.Variants) > 0 {
		sum.Variants = map[string]int64{}
		for _, variants := range []map[string]int64{c.Variants, other.Variants} {
			for name, n := range variants {
				sum.Variants[name] = plus(sum.Variants[name], n)
			}
		}
	}
	return sum
}

// plus returns the sum of two numbers that are not negative, or the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// ByApplication is the counts of a toggle by the name of the application.
type ByApplication map[string]Counts

// Total returns the sum over all applications.
func (b ByApplication) Total() Counts {
	var sum Counts
	for _, counts := range b {
		sum = sum.Plus(counts)
	}
	return sum
}

// Add adds the counts of an application.
func (b ByApplication) Add(application string, counts Counts) {
	b[application] = b[application].Plus(counts)
}

// Other stands for the applications, and the variants of a toggle, that are not counted one by one: there are too many of
// them, or the toggle does not have the variant.
const Other = "(other)"

// Tally is what a process counted in an environment and hour. The zero value is not usable; use NewTally.
type Tally struct {
	Features map[string]ByApplication    `json:"f"`           // by the name of the toggle
	SeenAt   map[string]int64            `json:"s,omitempty"` // of the last use, in seconds since 1970, by toggle
	Unknown  map[string]map[string]int64 `json:"u,omitempty"` // reports by the name that no toggle has, and application
}

// NewTally returns an empty tally.
func NewTally() Tally {
	return Tally{
		Features: map[string]ByApplication{}, SeenAt: map[string]int64{}, Unknown: map[string]map[string]int64{},
	}
}

// Add counts the use of a toggle by an application.
func (t Tally) Add(feature, application string, counts Counts) {
	if t.Features[feature] == nil {
		t.Features[feature] = ByApplication{}
	}
	t.Features[feature].Add(application, counts)
}

// See notes that a toggle was used at a time.
func (t Tally) See(feature string, at time.Time) {
	t.SeenAt[feature] = max(t.SeenAt[feature], at.Unix())
}

// AddUnknown counts reports about a name that no toggle has.
func (t Tally) AddUnknown(name, application string, reports int64) {
	if t.Unknown[name] == nil {
		t.Unknown[name] = map[string]int64{}
	}
	t.Unknown[name][application] += reports
}

// Presence is which applications, and which of their instances, a process heard from in an environment and hour, by the
// name of the application.
type Presence map[string]Application

// Application is an application in one environment.
type Application struct {
	Projects   []string            `json:"p,omitempty"` // those of its tokens, sorted; *: all
	Strategies []string            `json:"s,omitempty"` // names of the strategies that its SDK knows, sorted
	Instances  map[string]Instance `json:"i,omitempty"` // by id
}

// Instance is a process of an application.
type Instance struct {
	SDK      string    `json:"s,omitempty"` // name and version, such as unleash-node-sdk:6.12.1; empty: not reported
	Frontend bool      `json:"f,omitempty"` // it uses a frontend token
	SeenAt   time.Time `json:"t"`           // of its last report, by the clock of the service
}

// Merge adds another presence of the same environment. Of an instance that both have, the later report wins, but an SDK
// that it does not name is that of the other one: some SDKs name themselves only when they register. It does not change
// the other one.
func (p Presence) Merge(other Presence) {
	for name, theirs := range other {
		p[name] = p[name].plus(theirs)
	}
}

func (a Application) plus(other Application) Application {
	sum := Application{
		Projects:   union(a.Projects, other.Projects),
		Strategies: union(a.Strategies, other.Strategies),
		Instances:  map[string]Instance{},
	}
	for _, instances := range []map[string]Instance{a.Instances, other.Instances} {
		for id, instance := range instances {
			known, ok := sum.Instances[id]
			later, earlier := instance, known
			if ok && !instance.SeenAt.After(known.SeenAt) {
				later, earlier = known, instance
			}
			later.SDK = cmp.Or(later.SDK, earlier.SDK)
			sum.Instances[id] = later
		}
	}
	return sum
}

// union returns the values of both, sorted, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// SeenAt returns the time of the last report of any instance, or the zero time if there is none.
func (a Application) SeenAt() time.Time {
	var last time.Time
	for instance := range maps.Values(a.Instances) {
		if instance.SeenAt.After(last) {
			last = instance.SeenAt
		}
	}
	return last
}

// Requests is the number of requests by path, such as /api/client.
type Requests map[string]Statuses

// Statuses is a number of requests by status, in the groups of the traffic report.
type Statuses struct {
	Successful   int64 `json:"s,omitempty"` // 2xx and 3xx
	ClientErrors int64 `json:"c,omitempty"` // 4xx
	ServerErrors int64 `json:"e,omitempty"` // 5xx
}

// Merge adds other requests of the same hour.
func (r Requests) Merge(other Requests) {
	for path, n := range other {
		sum := r[path]
		sum.Successful += n.Successful
		sum.ClientErrors += n.ClientErrors
		sum.ServerErrors += n.ServerErrors
		r[path] = sum
	}
}
