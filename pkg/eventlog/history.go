package eventlog

import (
	"context"
	"maps"
	"slices"
	"time"

	"toggleadmin/pkg/toggle"
)

// maxSubjects is the number of subjects whose events About reads at the same time.
const maxSubjects = 50

// clockError is more than the clocks of the functions and their writes can differ.
const clockError = time.Hour

// About calls yield with the events of some types about subjects. The events of one subject are in their order. Without
// types these are all events. The events of the last hour are read consistently. The older ones are those in the index
// of subjects, which lacks events only for seconds.
func (r *Reader) About(
	ctx context.Context, subjects []Subject, some []Type, yield func(Event) error,
) error {
	recent := map[Subject][]Event{}
	for _, s := range subjects {
		recent[s] = nil
	}
	if len(recent) == 0 {
		return nil
	}
	since := r.now().Add(-clockError)
	err := r.All(ctx, Filter{Types: texts(some), From: since}, func(e Event) error {
		if _, ok := recent[e.Subject]; ok {
			recent[e.Subject] = append(recent[e.Subject], e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	f := Filter{Types: texts(some), Until: since}
	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(recent)), maxSubjects) {
		f.Subjects = texts(chunk)
		if err := r.All(ctx, f, yield); err != nil {
			return err
		}
		for _, s := range chunk {
			for _, e := range recent[s] {
				if err := yield(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Creation is who created a resource, and when.
type Creation struct {
	By *toggle.Creator // nil: unknown
	At time.Time
}

// NamesRemoved returns the people whose name was removed after they had created the first resource that has the name,
// sorted.
func (r *Reader) NamesRemoved(ctx context.Context, all []Creation) (people []int64, err error) {
	oldest := map[int64]time.Time{} // when the first resource with the name of a person was created
	for _, c := range all {
		if c.By == nil || c.By.ID == 0 || c.By.Name == string(PersonSubject(c.By.ID)) {
			continue
		}
		if at, known := oldest[c.By.ID]; !known || c.At.Before(at) {
			oldest[c.By.ID] = c.At
		}
	}
	ids := map[Subject]int64{}
	for id := range oldest {
		ids[PersonSubject(id)] = id
	}
	some := []Type{UserNameRemoved}
	err = r.About(ctx, slices.Sorted(maps.Keys(ids)), some, func(e Event) error {
		if id := ids[e.Subject]; oldest[id].Before(e.CreatedAt()) { // the person can create something later
			people = append(people, id)
		}
		return nil
	})
	slices.Sort(people)
	return slices.Compact(people), err // a name can be removed twice
}

func texts[T ~string](values []T) []string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}
