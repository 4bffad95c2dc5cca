package usagemerger

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
)

const (
	// writeEvery is how often an application is stored that reports all the time.
	writeEvery = 10 * time.Minute
	// instancesKept is how long an instance counts after its last report.
	instancesKept = 24 * time.Hour
)

// The limits of applications. Whoever has a token can invent names, and frontend tokens are public.
const (
	maxApplications = 2_000
	maxFrontend     = 1_000 // of these, applications that only frontend tokens have reported
	maxNewFrontend  = 50    // of these, in 24 hours

	// The names of an application, in bytes: an item has at most 400 kB.
	maxProjectsSize   = 50_000
	maxStrategiesSize = 50_000
	maxSDKsSize       = 4_000 // in each of at most 50 environments
)

// heard is what applications reported in some hours.
type heard struct {
	presence map[string]usage.Presence // by environment
	backend  map[string]bool           // the applications that used a backend token, by name
}

// readApplications reads the stored applications, unless the process has read them before.
func (s *sweep) readApplications(ctx context.Context) error {
	if s.applications != nil {
		return nil
	}
	all, err := usagetable.Applications(ctx, s.client, s.table)
	if err := s.readable(err); err != nil {
		return err
	}
	s.applications = map[string]usagetable.Application{}
	for _, a := range all {
		s.applications[a.Name] = a
	}
	return nil
}

// putApplications stores the applications that have reported since they were stored. It deletes those that have not
// reported for the longest time if there are too many.
func (s *sweep) putApplications(ctx context.Context) error {
	recent, err := s.hear(ctx, s.recentHours(), func(string) bool { return true })
	if err != nil {
		return err
	}
	if err := s.readApplications(ctx); err != nil {
		return err
	}
	due := s.dueApplications(recent)
	if len(due) == 0 {
		return nil
	}
	var day []time.Time
	for hour := usage.HourOf(s.began.Add(-instancesKept)); !hour.After(s.began); hour = hour.Add(time.Hour) {
		day = append(day, hour)
	}
	reported, err := s.hear(ctx, day, func(name string) bool { _, ok := slices.BinarySearch(due, name); return ok })
	if err != nil {
		return err
	}
	applications := make([]usagetable.Application, len(due))
	var stored atomic.Int64
	puts, putCtx := errgroup.WithContext(ctx)
	puts.SetLimit(concurrency)
	for i, name := range due {
		applications[i] = next(s.applications[name], name, reported)
		puts.Go(func() error {
			ok, err := s.put(putCtx, usagetable.MarshalApplication(applications[i]))
			if err != nil {
				return fmt.Errorf("store the application %q: %w", name, err)
			}
			if ok {
				stored.Add(1)
			}
			return nil
		})
	}
	err = puts.Wait()
	s.known += int(stored.Load())
	if err != nil {
		return err
	}
	for _, a := range applications {
		s.applications[a.Name] = a // one that is rejected is not tried again before it is due again
	}
	return s.deleteOldest(ctx)
}

// deleteOldest deletes the applications that have not reported for the longest time, so that not too many are left, and
// not too many that only frontend tokens have reported.
func (s *sweep) deleteOldest(ctx context.Context) error {
	if len(s.applications) <= maxFrontend {
		return nil
	}
	all := slices.SortedFunc(maps.Values(s.applications), func(a, b usagetable.Application) int {
		return cmp.Or(b.SeenAt.Compare(a.SeenAt), cmp.Compare(a.Name, b.Name))
	})
	kept, frontend := 0, 0
	excess := slices.DeleteFunc(all, func(a usagetable.Application) bool {
		if kept == maxApplications || a.Frontend && frontend == maxFrontend {
			return false
		}
		kept++
		if a.Frontend {
			frontend++
		}
		return true
	})
	deletes, deleteCtx := errgroup.WithContext(ctx)
	deletes.SetLimit(concurrency)
	for _, a := range excess {
		deletes.Go(func() error {
			if err := s.delete(deleteCtx, usagetable.ApplicationKey(a.Name)); err != nil {
				return fmt.Errorf("delete the application %q: %w", a.Name, err)
			}
			return nil
		})
	}
	if err := deletes.Wait(); err != nil {
		return err
	}
	for _, a := range excess {
		delete(s.applications, a.Name)
	}
	return nil
}

// hear reads which of some applications were heard from in hours.
func (s *sweep) hear(ctx context.Context, hours []time.Time, chosen func(name string) bool) (heard, error) {
	all := heard{map[string]usage.Presence{}, map[string]bool{}}
	for _, hour := range hours {
		err := usagetable.WalkPresences(ctx, s.client, s.table, hour, func(part usagetable.Part, presence usage.Presence) {
			maps.DeleteFunc(presence, func(name string, _ usage.Application) bool { return !chosen(name) })
			if all.presence[part.Environment] == nil {
				all.presence[part.Environment] = usage.Presence{}
			}
			all.presence[part.Environment].Merge(presence)
			if part.Kind == usagetable.KindPresence {
				for name := range presence {
					all.backend[name] = true
				}
			}
		})
		if err := s.readable(err); err != nil {
			return heard{}, err
		}
	}
	return all, nil
}

// dueApplications returns the names of applications whose stored time in an environment is too old, sorted. Of those
// that only frontend tokens report and that are not stored yet, it returns the first ones of a day.
func (s *sweep) dueApplications(recent heard) []string {
	due := map[string]bool{}
	added := map[string]time.Time{} // when applications that only frontend tokens report were first heard from
	for environment, presence := range recent.presence {
		for name, a := range presence {
			stored, isKnown := s.applications[name]
			switch {
			case !isKnown && !recent.backend[name]:
				if first, ok := added[name]; !ok || firstSeenAt(a).Before(first) {
					added[name] = firstSeenAt(a)
				}
			case a.SeenAt().Sub(stored.Environments[environment].SeenAt) >= writeEvery:
				due[name] = true
			}
		}
	}
	room := maxNewFrontend
	for _, a := range s.applications {
		if a.Frontend && s.began.Sub(a.CreatedAt) < 24*time.Hour {
			room--
		}
	}
	names := slices.SortedFunc(maps.Keys(added), func(a, b string) int {
		return cmp.Or(added[a].Compare(added[b]), cmp.Compare(a, b))
	})
	names = names[:min(len(names), max(room, 0))]
	s.excess += len(added) - len(names)
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(due))))
}

// next returns an application as it is to be stored. Environments in which it was not heard from stay as they were
// stored, until they are as old as an application that is deleted.
func next(stored usagetable.Application, name string, reported heard) usagetable.Application {
	a := usagetable.Application{
		Name:         name,
		CreatedAt:    stored.CreatedAt,
		Frontend:     !reported.backend[name] && (stored.Name == "" || stored.Frontend),
		Environments: map[string]usagetable.ApplicationInstance{},
	}
	var sum usage.Application
	for environment, presence := range reported.presence {
		here, ok := presence[name]
		if !ok {
			continue
		}
		both := usage.Presence{name: sum}
		both.Merge(usage.Presence{name: here})
		sum = both[name]
		a.Environments[environment] = instances(here)
		if first := firstSeenAt(here); a.CreatedAt.IsZero() || first.Before(a.CreatedAt) {
			a.CreatedAt = first
		}
	}
	a.SeenAt = sum.SeenAt()
	a.Projects = first(sum.Projects, maxProjectsSize)
	a.Strategies = first(sum.Strategies, maxStrategiesSize)
	for environment, before := range stored.Environments {
		if _, ok := a.Environments[environment]; !ok && a.SeenAt.Sub(before.SeenAt) < usagetable.RecordsKept {
			a.Environments[environment] = before
		}
	}
	return a
}

// instances returns what is stored of the instances of an application in an environment.
func instances(a usage.Application) usagetable.ApplicationInstance {
	seenAt := a.SeenAt()
	sdks := map[string]bool{}
	n := 0
	for _, instance := range a.Instances {
		if seenAt.Sub(instance.SeenAt) >= instancesKept {
			continue
		}
		n++
		if instance.SDK != "" {
			sdks[instance.SDK] = true
		}
	}
	return usagetable.ApplicationInstance{
		SeenAt:    seenAt,
		Instances: n,
		SDKs:      first(slices.Sorted(maps.Keys(sdks)), maxSDKsSize),
	}
}

// first returns the first names that have at most a number of bytes together.
func first(names []string, size int) []string {
	chosen := []string{}
	for _, name := range names {
		if size -= len(name); size < 0 {
			break
		}
		chosen = append(chosen, name)
	}
	return chosen
}

func firstSeenAt(a usage.Application) time.Time {
	var first time.Time
	for _, instance := range a.Instances {
		if first.IsZero() || instance.SeenAt.Before(first) {
			first = instance.SeenAt
		}
	}
	return first
}
