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
	// maxApplications is how many applications are kept. Whoever has a token can invent names.
	maxApplications = 2_000
)

// putApplications stores the applications that have reported since they were stored. It deletes those that have not
// reported for the longest time if there are too many.
func (s *sweep) putApplications(ctx context.Context) error {
	recent, err := s.presence(ctx, s.recentHours())
	if err != nil {
		return err
	}
	if s.applications == nil {
		all, err := usagetable.Applications(ctx, s.client, s.table)
		if err := s.readable(err); err != nil {
			return err
		}
		s.applications = map[string]usagetable.Application{}
		for _, a := range all {
			s.applications[a.Name] = a
		}
	}
	due := s.dueApplications(recent)
	if len(due) == 0 {
		return nil
	}
	var day []time.Time
	for hour := usage.HourOf(s.began.Add(-instancesKept)); !hour.After(s.began); hour = hour.Add(time.Hour) {
		day = append(day, hour)
	}
	heard, err := s.presence(ctx, day)
	if err != nil {
		return err
	}
	applications := make([]usagetable.Application, len(due))
	var stored atomic.Int64
	puts, putCtx := errgroup.WithContext(ctx)
	puts.SetLimit(concurrency)
	for i, name := range due {
		applications[i] = next(s.applications[name], name, heard)
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

// deleteOldest deletes the applications that have not reported for the longest time, so that not too many are left.
func (s *sweep) deleteOldest(ctx context.Context) error {
	if len(s.applications) <= maxApplications {
		return nil
	}
	all := slices.SortedFunc(maps.Values(s.applications), func(a, b usagetable.Application) int {
		return cmp.Or(b.SeenAt.Compare(a.SeenAt), cmp.Compare(a.Name, b.Name))
	})
	deletes, deleteCtx := errgroup.WithContext(ctx)
	deletes.SetLimit(concurrency)
	for _, a := range all[maxApplications:] {
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
	for _, a := range all[maxApplications:] {
		delete(s.applications, a.Name)
	}
	return nil
}

// presence reads which applications were heard from in hours, by environment.
func (s *sweep) presence(ctx context.Context, hours []time.Time) (map[string]usage.Presence, error) {
	sums := map[string]usage.Presence{}
	for _, hour := range hours {
		heard, err := usagetable.ReadPresence(ctx, s.client, s.table, hour)
		if err := s.readable(err); err != nil {
			return nil, err
		}
		for environment, presence := range heard {
			if sums[environment] == nil {
				sums[environment] = usage.Presence{}
			}
			sums[environment].Merge(presence)
		}
	}
	return sums, nil
}

// dueApplications returns the names of applications whose stored time in an environment is too old, sorted.
func (s *sweep) dueApplications(recent map[string]usage.Presence) []string {
	due := map[string]bool{}
	for environment, presence := range recent {
		for name, heard := range presence {
			stored := s.applications[name].Environments[environment].SeenAt
			if heard.SeenAt().Sub(stored) >= writeEvery {
				due[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(due))
}

// next returns an application as it is to be stored. Environments in which it was not heard from stay as they were
// stored, until they are as old as an application that is deleted.
func next(stored usagetable.Application, name string, heard map[string]usage.Presence) usagetable.Application {
	a := usagetable.Application{
		Name:         name,
		CreatedAt:    stored.CreatedAt,
		Environments: map[string]usagetable.ApplicationInstance{},
	}
	var sum usage.Application
	for environment, presence := range heard {
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
	a.Projects = append([]string{}, sum.Projects...)
	a.Strategies = append([]string{}, sum.Strategies...)
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
		SDKs:      append([]string{}, slices.Sorted(maps.Keys(sdks))...),
	}
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
