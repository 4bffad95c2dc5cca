package operator

import (
	"context"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// remoteState is what an evaluation needs of a toggle in the API.
type remoteState struct {
	Name         string              `json:"name"`
	Project      string              `json:"project"`
	Archived     bool                `json:"archived"`
	Dependencies []toggle.Dependency `json:"dependencies"`
	Environments []struct {
		toggle.Environment

		Name string `json:"name"`
	} `json:"environments"` // those of the project
}

// feature returns the toggle, and the names of its environments.
func (s remoteState) feature() (f toggle.Feature, environments []string) {
	f = toggle.Feature{Name: s.Name, Project: s.Project, Archived: s.Archived}
	for _, d := range s.Dependencies {
		f.Dependency = &d
	}
	for _, e := range s.Environments {
		environments = append(environments, e.Name)
		f.SetEnvironment(e.Name, e.Environment)
	}
	return f, environments
}

// Evaluate is Operator.Evaluate.
func (r *Remote) Evaluate(
	ctx context.Context, name, environmentName string, fields playground.Fields,
) (Evaluation, error) {
	if err := checkCurrentTime(fields); err != nil {
		return Evaluation{}, err
	}
	if err := r.CheckEnvironment(ctx, environmentName); err != nil {
		return Evaluation{}, err
	}
	project, err := r.projectOf(ctx, name)
	if err != nil {
		return Evaluation{}, err
	}
	var state, parent remoteState
	if err := r.get(ctx, nil, &state, "projects", project, "features", name); err != nil {
		return Evaluation{}, err
	}
	f, environments := state.feature()
	in := &access.Project{ID: project, Environments: environments}
	if err := environment.CheckProject(in, environmentName); err != nil {
		return Evaluation{}, exitstatus.Explain(err)
	}
	features := []toggle.Feature{f}
	if f.Dependency != nil {
		err := r.get(ctx, nil, &parent, "projects", project, "features", f.Dependency.Feature)
		if err != nil && exitstatus.Of(err) != exitstatus.NotFound {
			return Evaluation{}, err
		}
		other, _ := parent.feature()
		features = append(features, other) // with an empty name if it does not exist
	}
	var list struct {
		Segments []toggle.Segment `json:"segments"`
	}
	if err := r.get(ctx, nil, &list, "segments"); err != nil {
		return Evaluation{}, err
	}
	return evaluate(features, list.Segments, environmentName, fields, r.now(), r.random)
}
