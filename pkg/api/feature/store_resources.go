package feature

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// Types contains feature types by id.
type Types map[string]toggle.Type

// PotentiallyStaleAt returns when the lifetime of a toggle's type ends or ended, or nil; see
// toggle.Feature.PotentiallyStaleAt.
func (t Types) PotentiallyStaleAt(f toggle.Feature) *time.Time {
	return f.PotentiallyStaleAt(t[f.Type].LifetimeDays)
}

// Resources is what responses with toggles contain of other resources.
type Resources struct {
	Types        Types
	Environments []environment.Environment // in the order of responses
	Now          time.Time                 // at which stages are decided
	projects     map[string]*access.Project
	segments     map[int64]string // names by ids
	accounts     map[int64]string // names by ids of those that created or own toggles
	groups       map[int64]string // names by ids of those that own toggles
	used         hourUsage
	favorites    favorite.Favorites // of the caller
}

// IsFavorite reports whether a toggle is a favorite of the caller.
func (k Resources) IsFavorite(f toggle.Feature) bool { return k.favorites.Has(favorite.Feature(f)) }

// Resources reads all types and environments.
func (r *Reader) Resources(ctx context.Context) (known Resources, err error) {
	known.Now = r.now()
	var reads errgroup.Group
	reads.Go(func() (err error) {
		known.Types, err = r.Types(ctx)
		return err
	})
	reads.Go(func() (err error) {
		known.Environments, err = r.environments.List(ctx)
		return err
	})
	err = reads.Wait()
	return known, err
}

// resourcesOf reads the type and the project of a toggle, all environments, the segments that the toggle uses, the usage,
// and the favorites of the caller.
func (r *Reader) resourcesOf(ctx context.Context, f toggle.Feature) (known Resources, err error) {
	known.Now = r.now()
	var reads errgroup.Group
	reads.Go(func() (err error) {
		known.projects, err = projectsOf(ctx, []toggle.Feature{f})
		return err
	})
	reads.Go(func() error {
		t, _, err := r.Type(ctx, f.Type)
		known.Types = Types{f.Type: t}
		return err
	})
	reads.Go(func() (err error) {
		known.Environments, err = r.environments.List(ctx)
		return err
	})
	reads.Go(func() (err error) {
		known.segments, err = r.segmentsOf(ctx, []toggle.Feature{f})
		return err
	})
	reads.Go(func() (err error) {
		known.accounts, err = r.accountsOf(ctx, []toggle.Feature{f})
		return err
	})
	reads.Go(func() (err error) {
		known.groups, err = r.groupsOf(ctx, []toggle.Feature{f})
		return err
	})
	reads.Go(func() (err error) {
		known.used, err = r.hour.get(ctx)
		return err
	})
	reads.Go(func() (err error) {
		known.favorites, err = r.favorites.Get(ctx)
		return err
	})
	err = reads.Wait()
	return known, err
}

// projectsOf returns the projects of toggles that exist and that the caller sees, by id.
func projectsOf(ctx context.Context, all []toggle.Feature) (map[string]*access.Project, error) {
	projects := map[string]*access.Project{}
	for _, f := range all {
		if _, read := projects[f.Project]; read {
			continue
		}
		p, err := access.VisibleProject(ctx, f.Project)
		if err := apierror.IgnoreNotFound(err); err != nil {
			return nil, err
		}
		projects[f.Project] = p
	}
	return projects, nil
}

// environmentsOf returns the environments that the project of a toggle has.
func (k Resources) environmentsOf(f toggle.Feature) []environment.Environment {
	return slices.DeleteFunc(slices.Clone(k.Environments), func(e environment.Environment) bool {
		return !k.projects[f.Project].HasEnvironment(e.Name)
	})
}

// Production returns the names of the environments of a project that are of the type production. has reports whether a
// project has an environment.
func (k Resources) Production(project string, has func(project, environment string) bool) []string {
	var names []string
	for _, e := range k.Environments {
		if e.Type == environment.TypeProduction && has(project, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// segmentsOf returns the names of the segments that toggles use by their ids, without those of projects that the caller
// does not see. It must be called after the toggles were
// read, so that it finds each segment that they use, except those that were released and deleted since then.
func (r *Reader) segmentsOf(ctx context.Context, all []toggle.Feature) (map[int64]string, error) {
	var ids []int64
	for _, f := range all {
		ids = append(ids, f.Segments()...)
	}
	slices.Sort(ids)
	return r.visibleSegments(ctx, slices.Compact(ids))
}

// visibleSegments returns the names of the segments with the ids that the caller sees, by their ids.
func (r *Reader) visibleSegments(ctx context.Context, ids []int64) (map[int64]string, error) {
	all, err := segmenttable.Read(ctx, r.client, r.segments, ids)
	if err != nil {
		return nil, fmt.Errorf("read the names of segments: %w", err)
	}
	names := map[int64]string{}
	for id, s := range all {
		sees := true
		if s.Project != nil {
			if sees, err = access.Sees(ctx, *s.Project); err != nil {
				return nil, err
			}
		}
		if sees {
			names[id] = s.Name
		}
	}
	return names, nil
}

// CheckSegments returns an error if a change makes a toggle use a segment that the caller does not see, as if there were
// no such segment.
func (r *Reader) CheckSegments(ctx context.Context, old, next toggle.Feature) error {
	before := old.Segments()
	added := slices.DeleteFunc(next.Segments(), func(id int64) bool { return slices.Contains(before, id) })
	if len(added) == 0 {
		return nil
	}
	visible, err := r.visibleSegments(ctx, added)
	if err != nil {
		return err
	}
	for _, e := range next.Environments {
		for _, s := range e.Strategies {
			for _, id := range s.Segments {
				if _, ok := visible[id]; !ok && slices.Contains(added, id) {
					return &PartError{s.ID, noSegment(id)}
				}
			}
		}
	}
	return nil
}

// accountsOf returns the names of the users who created or own toggles by their ids, except those that the toggles
// contain.
func (r *Reader) accountsOf(ctx context.Context, all []toggle.Feature) (map[int64]string, error) {
	var ids []int64
	for _, f := range all {
		if f.CreatedBy != nil && f.CreatedBy.ID != 0 && f.CreatedBy.Name == "" {
			ids = append(ids, f.CreatedBy.ID)
		}
		if f.Owner != nil && f.Owner.Kind == toggle.OwnerUser && !ownsOwn(f) {
			ids = append(ids, f.Owner.ID)
		}
	}
	return r.users.Of(ctx, ids)
}

// Responses returns toggles as lists contain them. read reads the toggles after all types and environments, and the
// favorites of the caller.
func (r *Reader) Responses(
	ctx context.Context, read func(context.Context, Resources) ([]toggle.Feature, error),
) ([]Response, error) {
	return r.responses(ctx, read, newResponse)
}

// responses is Responses with another function that makes each response.
func (r *Reader) responses(
	ctx context.Context, read func(context.Context, Resources) ([]toggle.Feature, error),
	newResponse func(toggle.Feature, Resources) Response,
) ([]Response, error) {
	used := r.hour.start(ctx)
	var known Resources
	var favorites favorite.Favorites
	var reads errgroup.Group
	reads.Go(func() (err error) {
		known, err = r.Resources(ctx)
		return err
	})
	reads.Go(func() (err error) {
		favorites, err = r.favorites.Get(ctx)
		return err
	})
	err := reads.Wait()
	if err != nil {
		return nil, err
	}
	known.favorites = favorites
	all, err := read(ctx, known)
	if err != nil {
		return nil, err
	}
	if known.projects, err = projectsOf(ctx, all); err != nil {
		return nil, err
	}
	if known.segments, err = r.segmentsOf(ctx, all); err != nil {
		return nil, err
	}
	if known.accounts, err = r.accountsOf(ctx, all); err != nil {
		return nil, err
	}
	if known.groups, err = r.groupsOf(ctx, all); err != nil {
		return nil, err
	}
	if known.used, err = used(); err != nil {
		return nil, err
	}
	list := make([]Response, len(all))
	for i, f := range all {
		list[i] = newResponse(f, known)
	}
	return list, nil
}
