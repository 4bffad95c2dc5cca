package usagetable

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/delivery/usage"
)

// The limits of the records of an hour and environment. An item of DynamoDB has at most 400 kB.
const (
	maxRecordSize   = 300_000 // in bytes, estimated, before compression
	maxUseSize      = 500_000 // of the names of toggles, which compress better
	entrySize       = 40      // of an entry in addition to its name, estimated
	maxApplications = 500     // of a toggle, or of a name without a toggle
	maxFrontend     = 100     // of these, applications that only frontend tokens reported
	maxUnknown      = 1_000   // names without a toggle
	maxPairs        = 200_000 // of a toggle and an application
)

// Sums is the usage of an hour by environment.
type Sums map[string]*Sum

// Sum is the sum of tallies of an environment and hour, within the limits of records. Applications that exceed a limit
// are counted together, as usage.Other, so that the counts of a toggle are complete.
type Sum struct {
	Features map[string]usage.ByApplication
	SeenAt   map[string]time.Time // of the last use, by the name of the toggle

	unknown   Unknown        // names that applications with backend tokens used
	frontend  Unknown        // with frontend tokens
	browsers  map[string]int // applications that only frontend tokens reported, by the name of the toggle
	sizes     map[string]int // of records, by the name of the toggle
	namesSize int
	pairs     int
	excess    int
}

// Add adds a tally. The tallies of backend tokens must be added before those of frontend tokens. Applications in the
// latter that are not named are counted together; nil names all.
func (s Sums) Add(part Part, tally usage.Tally, named func(application string) bool) {
	sum := s[part.Environment]
	if sum == nil {
		sum = &Sum{
			Features: map[string]usage.ByApplication{},
			SeenAt:   map[string]time.Time{},
			unknown:  Unknown{},
			frontend: Unknown{},
			sizes:    map[string]int{},
			browsers: map[string]int{},
		}
		s[part.Environment] = sum
	}
	isFrontend := part.Kind == KindFrontendTally
	if !isFrontend || named == nil {
		named = func(string) bool { return true }
	}
	for feature, by := range tally.Features {
		for _, application := range slices.Sorted(maps.Keys(by)) {
			counts := by[application]
			if !named(application) {
				application = usage.Other
			}
			sum.add(feature, application, counts, isFrontend)
		}
	}
	for feature, seconds := range tally.SeenAt {
		if at := time.Unix(seconds, 0).UTC(); at.After(sum.SeenAt[feature]) {
			sum.SeenAt[feature] = at
		}
	}
	names := sum.unknown
	if isFrontend {
		names = sum.frontend
	}
	for _, name := range slices.Sorted(maps.Keys(tally.Unknown)) {
		for _, application := range slices.Sorted(maps.Keys(tally.Unknown[name])) {
			if !named(application) {
				application = usage.Other
			}
			sum.addUnknown(names, name, application, part)
		}
	}
}

// Excess returns how many entries were counted together with others, or left out, because of a limit.
func (s Sums) Excess() (n int) {
	for _, sum := range s {
		n += sum.excess
	}
	return n
}

// add adds the use of a toggle by an application.
func (s *Sum) add(feature, application string, counts usage.Counts, isFrontend bool) {
	by := s.Features[feature]
	if by == nil {
		by = usage.ByApplication{}
		s.Features[feature] = by
	}
	if _, ok := by[application]; !ok && application != usage.Other && !s.hasRoom(feature, isFrontend) {
		application = usage.Other
		s.excess++
	}
	known, ok := by[application]
	if !ok {
		s.sizes[feature] += len(application) + entrySize
		s.pairs++
		if isFrontend && application != usage.Other {
			s.browsers[feature]++
		}
	}
	by[application] = known.Plus(s.fitting(feature, known, counts))
}

// hasRoom reports whether another application of a toggle can be counted on its own.
func (s *Sum) hasRoom(feature string, isFrontend bool) bool {
	return len(s.Features[feature]) < maxApplications && s.pairs < maxPairs &&
		(!isFrontend || s.browsers[feature] < maxFrontend)
}

// fitting returns counts of an application in which variants for which a record has no room are counted together.
func (s *Sum) fitting(feature string, known, counts usage.Counts) usage.Counts {
	fit := usage.Counts{Yes: counts.Yes, No: counts.No}
	for _, name := range slices.Sorted(maps.Keys(counts.Variants)) {
		one := map[string]int64{name: counts.Variants[name]}
		if _, ok := known.Variants[name]; !ok {
			size := len(name) + entrySize
			if name != usage.Other && s.sizes[feature]+size > maxRecordSize {
				one = map[string]int64{usage.Other: counts.Variants[name]}
				s.excess++
			} else {
				s.sizes[feature] += size
			}
		}
		fit = fit.Plus(usage.Counts{Variants: one})
	}
	return fit
}

// addUnknown notes that an application used a name without a toggle.
func (s *Sum) addUnknown(names Unknown, name, application string, part Part) {
	size := 0
	by, ok := names[name]
	if !ok {
		size += len(name) + entrySize
	}
	if _, ok := by[application]; !ok {
		if len(by) >= maxApplications {
			application = usage.Other
		}
		size += len(application) + entrySize
	}
	if !ok && len(names) >= maxUnknown || s.namesSize+size > maxRecordSize {
		s.excess++
		return
	}
	if by == nil {
		by = map[string]time.Time{}
		names[name] = by
	}
	s.namesSize += size
	if part.WrittenAt.After(by[application]) {
		by[application] = part.WrittenAt
	}
}

// Records returns the records of the toggles in the sums of an hour, ordered by environment and toggle.
func (s Sums) Records(hour time.Time) []Record {
	var all []Record
	for environment, sum := range s {
		for feature, used := range sum.Features {
			all = append(all, Record{feature, environment, hour, used})
		}
	}
	sortRecords(all)
	return all
}

// UseRecords returns the records of the applications in the sums of an hour, ordered by environment and application.
func (s Sums) UseRecords(hour time.Time) []UseRecord {
	var all []UseRecord
	for environment, sum := range s {
		asked := map[string][]string{}
		for feature, by := range sum.Features {
			for application := range by {
				asked[application] = append(asked[application], feature)
			}
		}
		for _, names := range []Unknown{sum.unknown, sum.frontend} {
			for name, by := range names {
				for application := range by {
					asked[application] = append(asked[application], name)
				}
			}
		}
		delete(asked, usage.Other)
		for application, features := range asked {
			slices.Sort(features) // a toggle that was created in the hour is in both
			all = append(all, UseRecord{application, environment, hour, sum.firstNames(slices.Compact(features))})
		}
	}
	slices.SortFunc(all, func(a, b UseRecord) int {
		return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Application, b.Application))
	})
	return all
}

// firstNames returns the names that fit into a record.
func (s *Sum) firstNames(names []string) []string {
	size := 0
	for i, name := range names {
		if size += len(name) + len(`"",`); size > maxUseSize {
			s.excess += len(names) - i
			return names[:i]
		}
	}
	return names
}

// UnknownRecords returns the records of the names without a toggle in the sums of an hour, ordered by environment.
func (s Sums) UnknownRecords(hour time.Time) []UnknownRecord {
	var all []UnknownRecord
	for _, environment := range slices.Sorted(maps.Keys(s)) {
		if sum := s[environment]; len(sum.unknown)+len(sum.frontend) > 0 {
			all = append(all, UnknownRecord{environment, hour, sum.unknown, sum.frontend})
		}
	}
	return all
}
