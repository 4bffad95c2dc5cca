// Package featurestate serves the operation that sets the whole state of a toggle. It makes the changes of the operations
// that set a part of the state, in one transaction.
package featurestate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Set serves PUT /api/admin/projects/{projectId}/features/{featureName}/state. limit is that of feature.Reader.CheckLimit,
// newID returns the id of a new strategy.
func Set(
	features *feature.Store, environments *environment.Store, tagTypes *tagtype.Store, limit int64, now func() time.Time,
	newID func() string,
) lambdahttp.HandlerFunc {
	bodies, limits := newReader(), &counted{limit: limit, now: now}
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := bodies.read(r)
		if err != nil {
			return err
		}
		q := lambdahttp.NewQuery(r)
		dryRun := q.OneOf("dryRun", "false", "true") == "true"
		if err := q.Err(); err != nil {
			return err
		}
		project, name, err := feature.PathOf(r)
		if err != nil {
			return err
		}
		if err := checkEnvironments(r.Context(), environments, project, body); err != nil {
			return err
		}
		if err := checkTagTypes(r.Context(), tagTypes, body); err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		record, err := feature.ChangeOf(r.Context(), features.Reader, body.Object)
		if err != nil {
			return err
		}
		s := setter{r, features.InProject(project), body, record, preconditions, newID, dryRun}
		_, err = s.features.Get(r.Context(), name)
		if apierror.KindOf(err) == apierror.NotFound {
			if err := toggle.CheckFeatureName(name); err != nil {
				return apierror.Invalid(apierror.At("/params/featureName", "must be the name of a toggle: %v", err).Sent(name))
			}
			return s.create(r.Context(), w, func(ctx context.Context) (toggle.Feature, error) {
				if !dryRun {
					return feature.New(r, features.Reader, name, limit, now, newID)
				}
				f, err := feature.New(r, features.Reader, name, 0, now, newID)
				if err != nil {
					return f, err
				}
				return f, limits.check(ctx, features.Reader)
			})
		}
		if err != nil {
			return err
		}
		return s.update(r.Context(), w, name)
	}
}

// setter sets the state of the toggle of a request.
type setter struct {
	request       *http.Request
	features      *feature.Store
	body          body
	record        feature.Change
	preconditions lambdahttp.Preconditions
	newID         func() string
	dryRun        bool
}

// create creates the toggle that begin returns.
func (s setter) create(
	ctx context.Context, w http.ResponseWriter, begin func(context.Context) (toggle.Feature, error),
) error {
	if err := s.preconditions.CheckMissing(); err != nil {
		return err
	}
	if s.body.Bool("archived") {
		return apierror.Invalid(apierror.At("/body/archived", "must be false: the toggle does not exist").SentJSON("true"))
	}
	if !s.dryRun { // before the name and the limit, as create-feature does
		if err := access.CheckProject(ctx, feature.ProjectOf(s.request), access.CreateFeature); err != nil {
			return err
		}
	}
	f, err := begin(ctx)
	if err != nil {
		return err
	}
	if f, err = s.change(f); err != nil {
		return err
	}
	if err := s.check(ctx, toggle.Feature{}, f); err != nil {
		return placed(f, err)
	}
	if s.dryRun {
		if err := s.features.PlanCreation(protection.WithPlanning(ctx), f); err != nil {
			return placed(f, err)
		}
		return s.respond(ctx, w, http.StatusOK, toggle.Feature{}, f)
	}
	created, err := s.features.CreateWithState(ctx, f)
	if err != nil {
		return placed(f, err)
	}
	w.Header().Set("Location", s.request.URL.JoinPath("..").String())
	return s.respond(ctx, w, http.StatusCreated, toggle.Feature{}, created)
}

// update changes a toggle that exists.
func (s setter) update(ctx context.Context, w http.ResponseWriter, name string) (err error) {
	var old, next toggle.Feature
	change := func(f toggle.Feature) (toggle.Feature, error) {
		old, next = f, f
		if err := s.preconditions.Check(etag(f)); err != nil {
			return f, err
		}
		begin := f
		if !s.body.Bool("archived") {
			begin = feature.Revived(f, false)
		}
		if next, err = s.change(begin); err != nil {
			return f, err
		}
		return next, s.check(ctx, f, next)
	}
	if s.dryRun {
		_, err = s.features.Plan(protection.WithPlanning(ctx), []feature.Edit{{Name: name, Change: change}})
	} else {
		_, err = s.features.Update(ctx, name, change)
	}
	if err != nil {
		return placed(next, err)
	}
	return s.respond(ctx, w, http.StatusOK, old, next)
}

// change returns a toggle with the state of the body. It is archived only if the body says so.
func (s setter) change(f toggle.Feature) (toggle.Feature, error) {
	f, err := s.record(f)
	if err != nil {
		return f, err
	}
	f.ManagedBy = s.body.Text("managedBy")
	if s.body.Has("tags") {
		f.ChangeTags(f.Tags, s.body.tags)
	}
	if s.body.Bool("archived") {
		f = feature.Archived(f)
	}
	f.Dependency = nil
	if s.body.dependency != nil {
		f = featuredependency.Added(f, s.body.dependency)
	}
	for _, name := range slices.Sorted(maps.Keys(s.body.environments)) {
		state := s.body.environments[name]
		next, err := featurestrategy.Replaced(f, name, state.strategies, s.newID)
		if err != nil {
			return f, apierror.Below(placeOf(name)+"/strategies", err)
		}
		switch {
		case !state.enabled:
			f = featureswitch.Off(next, name)
		case !next.Environments[name].HasEnabledStrategies():
			return f, apierror.Invalid(apierror.At(placeOf(name)+"/enabled",
				"must be false, or the toggle must have a strategy there that is not disabled"))
		default:
			if f, err = featureswitch.On(next, name, false, s.newID); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// check returns an error if the caller may not make a difference, or does not see a segment that it needs. Whoever sees
// the toggle may try it.
func (s setter) check(ctx context.Context, old, next toggle.Feature) error {
	if !s.dryRun {
		if err := checkDifferences(ctx, old, next); err != nil {
			return err
		}
	}
	return s.features.CheckSegments(ctx, old, next)
}

// checkDifferences returns an error unless the caller may make all differences. A toggle that is revived is turned off by
// that, and must be allowed to be on where it is on.
func checkDifferences(ctx context.Context, old, next toggle.Feature) error {
	for _, c := range feature.Differences(old, next) {
		if old.Archived && c.Type == eventlog.FeatureEnvironmentDisabled {
			continue
		}
		if err := checkDifference(ctx, c); err != nil {
			return err
		}
	}
	if old.Archived && !next.Archived {
		return feature.CheckEnabled(ctx, next)
	}
	return nil
}

// checkDifference returns an error if the caller does not have the permission that the operation requires that makes one
// difference.
func checkDifference(ctx context.Context, c eventlog.Change) error {
	switch c.Type {
	case eventlog.FeatureCreated:
		return access.CheckProject(ctx, c.Project, access.CreateFeature)
	case eventlog.FeatureArchived:
		return access.CheckProject(ctx, c.Project, access.DeleteFeature)
	case eventlog.FeatureDependencyAdded, eventlog.FeatureDependencyRemoved:
		return access.CheckProject(ctx, c.Project, access.UpdateDependency)
	case eventlog.FeatureStrategyAdd:
		return access.CheckEnvironment(ctx, c.Project, c.Environment, access.CreateStrategy)
	case eventlog.FeatureStrategyUpdate, eventlog.StrategyOrderChanged:
		return access.CheckEnvironment(ctx, c.Project, c.Environment, access.UpdateStrategy)
	case eventlog.FeatureStrategyRemove:
		return access.CheckEnvironment(ctx, c.Project, c.Environment, access.DeleteStrategy)
	case eventlog.FeatureEnvironmentEnabled, eventlog.FeatureEnvironmentDisabled:
		return access.CheckEnvironment(ctx, c.Project, c.Environment, access.UpdateEnvironment)
	default: // the record of the toggle
		return access.CheckProject(ctx, c.Project, access.UpdateFeature)
	}
}

// placed returns an error about a part of a toggle with its place in the body.
func placed(f toggle.Feature, err error) error {
	wrong, ok := errors.AsType[*feature.PartError](err)
	if !ok {
		return err
	}
	if wrong.Strategy == "" {
		return apierror.Below("/body/dependency", wrong.Err)
	}
	for name, e := range f.Environments {
		if i := e.Strategy(wrong.Strategy); i >= 0 {
			return apierror.Below(fmt.Sprintf("%s/strategies/%d", placeOf(name), i), wrong.Err)
		}
	}
	return err
}

// etag returns the entity tag of the state of a toggle. It changes with everything that Set can overwrite.
func etag(f toggle.Feature) string {
	f = f.Normalized()
	return lambdahttp.ETag([]any{
		f.Type, f.Description, f.ImpressionData, f.Tags, f.Owner, f.Keep, f.ManagedBy, f.Archived, f.Dependency,
		f.Environments,
	})
}

// change is one difference in the response.
type change struct {
	Type        eventlog.Type `json:"type"`
	Summary     string        `json:"summary"`
	Environment *string       `json:"environment"`
	Data        any           `json:"data"`
	PreData     any           `json:"preData"`
}

// respond writes the differences between two states of a toggle. The entity tag is that of the new state, or of the old
// one if the new one is not stored.
func (s setter) respond(
	ctx context.Context, w http.ResponseWriter, status int, old, next toggle.Feature,
) error {
	all := []change{}
	for _, c := range feature.Differences(old, next) {
		e, err := eventlog.Preview(ctx, c)
		if err != nil {
			return err
		}
		one := change{Type: c.Type, Summary: eventsearch.Summary(e), Data: c.Data, PreData: c.PreData}
		if c.Environment != "" {
			one.Environment = &c.Environment
		}
		all = append(all, one)
	}
	stored := next
	if s.dryRun {
		stored = old
	}
	if stored.Name != "" {
		w.Header().Set("ETag", etag(stored))
	}
	return lambdahttp.WriteJSON(w, status, struct {
		Changes []change `json:"changes"`
	}{all})
}
