package operator

import (
	"context"
	"io"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// Evaluation is the result of a toggle in an environment for a context, in the form of the API, and why.
type Evaluation struct {
	playground.Result

	Explanation playground.Explanation `json:"-"`
}

// Evaluate evaluates a toggle in an environment for a context. An archived toggle is off.
func (o *Operator) Evaluate(
	ctx context.Context, name, environment string, fields playground.Fields,
) (Evaluation, error) {
	if err := checkCurrentTime(fields); err != nil {
		return Evaluation{}, err
	}
	if err := o.CheckEnvironment(ctx, environment); err != nil {
		return Evaluation{}, err
	}
	f, err := o.features.Get(ctx, name)
	if err != nil {
		return Evaluation{}, exitstatus.Explain(err)
	}
	if err := o.checkHasEnvironment(ctx, f, environment); err != nil {
		return Evaluation{}, exitstatus.Explain(err)
	}
	features := []toggle.Feature{f}
	if f.Dependency != nil {
		parent, err := o.features.Get(ctx, f.Dependency.Feature)
		if err := apierror.IgnoreNotFound(err); err != nil {
			return Evaluation{}, err
		}
		features = append(features, parent) // with an empty name if it does not exist
	}
	segments, err := o.playground.Segments(ctx, func(string) bool { return true })
	if err != nil {
		return Evaluation{}, err
	}
	return evaluate(features, segments, environment, fields, o.now(), o.random)
}

// checkCurrentTime returns an error if the current time of a context is not a time.
func checkCurrentTime(fields playground.Fields) error {
	if text, ok := fields[toggle.FieldCurrentTime]; ok {
		if _, err := datetime.Parse(text); err != nil {
			return exitstatus.Errorf(exitstatus.Usage, "%s is %q: use a time such as 2026-11-20T09:00:00Z", toggle.FieldCurrentTime, text)
		}
	}
	return nil
}

// evaluate evaluates the first of toggles, of which the other one is the parent, in an environment for a context.
func evaluate(
	features []toggle.Feature, segments []toggle.Segment, environment string, fields playground.Fields, now time.Time,
	random io.Reader,
) (Evaluation, error) {
	evaluated, err := fields.Context(now, random)
	if err != nil {
		return Evaluation{}, err
	}
	explanation := playground.NewEngine(environment, features, segments).Explain(features[0], evaluated)
	return Evaluation{playground.NewResult(features[0], environment, fields, explanation), explanation}, nil
}

// CheckEnvironment returns an error if there is no environment with the name.
func (o *Operator) CheckEnvironment(ctx context.Context, name string) error {
	all, err := o.environments.List(ctx)
	if err != nil {
		return err
	}
	return checkKnown("environment", name, all, func(e environment.Environment) string { return e.Name })
}

// checkHasEnvironment returns an error if the project of a toggle does not have an environment that exists.
func (o *Operator) checkHasEnvironment(ctx context.Context, f toggle.Feature, name string) error {
	p, err := o.projects.Get(ctx, f.Project)
	if err := apierror.IgnoreNotFound(err); err != nil {
		return err
	}
	return environment.CheckProject(p, name)
}
