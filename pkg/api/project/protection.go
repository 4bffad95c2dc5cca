package project

import (
	_ "embed"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed config.schema.json
var configSchema []byte

// ConfigSchema returns the schema of the body of UpdateConfig.
func ConfigSchema() *jsonbody.Schema { return jsonbody.MustCompile(configSchema) }

// ConfigSchemaText returns the JSON text of ConfigSchema.
func ConfigSchemaText() []byte { return slices.Clone(configSchema) }

// environmentConfig is changeRequestEnvironmentConfigSchema in api/openapi.yaml.
type environmentConfig struct {
	Environment          string   `json:"environment"`
	Type                 string   `json:"type"`
	ChangeRequestEnabled bool     `json:"changeRequestEnabled"`
	RequiredApprovals    *int64   `json:"requiredApprovals"` // null: changes need no change request
	AllowTurningOff      bool     `json:"allowTurningOff"`
	Freezes              []freeze `json:"freezes,omitempty"` // that have not ended
}

// freeze is a freeze of an environment, in all projects or in one.
type freeze struct {
	environment.Freeze

	AllProjects bool `json:"allProjects"`
}

// freezesOf returns the freezes of an environment that have not ended, in all projects and in one.
func freezesOf(e environment.Environment, project *access.Project, now time.Time) (all []freeze) {
	if f := environment.CurrentFreeze(e.Freeze, now); f != nil {
		all = append(all, freeze{*f, true})
	}
	if f := environment.CurrentFreeze(project.ProtectionOf(e.Name).Freeze, now); f != nil {
		all = append(all, freeze{*f, false})
	}
	return all
}

// Config serves GET /api/admin/projects/{projectId}/change-requests/config.
func Config(environments *environment.Store, now func() time.Time) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
		if err != nil {
			return err
		}
		all, err := environments.List(r.Context())
		if err != nil {
			return err
		}
		configs := []environmentConfig{}
		for _, e := range all {
			if !p.HasEnvironment(e.Name) {
				continue
			}
			c := environmentConfig{Environment: e.Name, Type: e.Type,
				AllowTurningOff: !p.ProtectionOf(e.Name).ForbidsTurningOff, Freezes: freezesOf(e, p, now())}
			if n := protection.RequiredApprovals(p, e); n > 0 {
				c.ChangeRequestEnabled, c.RequiredApprovals = true, &n
			}
			configs = append(configs, c)
		}
		w.Header().Set("ETag", configTag(p))
		return lambdahttp.WriteJSON(w, http.StatusOK, configs)
	}
}

// configTag returns the entity tag of the environments of a project and their protections. Freezes do not change it.
func configTag(p *access.Project) string {
	protections := map[string]configData{}
	for name, protection := range p.Protections {
		protection.Freeze = nil
		if protection != (access.Protection{}) && p.HasEnvironment(name) {
			protections[name] = newConfigData(protection)
		}
	}
	return lambdahttp.ETag([]any{p.Environments, protections})
}

// UpdateConfig serves PUT /api/admin/projects/{projectId}/environments/{environment}/change-requests/config.
func UpdateConfig(projects *Store, environments *environment.Store) lambdahttp.HandlerFunc {
	schema := ConfigSchema()
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		p, e, err := environments.InProject(r)
		if err != nil {
			return err
		}
		precondition, err := matching(r, configTag)
		if err != nil {
			return err
		}
		approvals, _ := body.Int("requiredApprovals") // 0: the default
		switch least := e.RequiredApprovals; {
		case least > 0 && !body.Bool("changeRequestsEnabled"):
			return mustBeProtected(least)
		case approvals > 0 && approvals < least:
			return apierror.Invalid(tooFewApprovals("/body/requiredApprovals", least, approvals))
		}
		err = projects.SetConfig(r.Context(), p.ID, e.Name, access.Protection{
			ChangeRequests:    body.Bool("changeRequestsEnabled"),
			RequiredApprovals: approvals,
			ForbidsTurningOff: body.Has("allowTurningOff") && !body.Bool("allowTurningOff"),
		}, precondition)
		if err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}

// mustBeProtected returns the error if an environment that requires approvals is not to be protected in a project.
func mustBeProtected(approvals int64) error {
	return apierror.Invalid(apierror.At("/body/changeRequestsEnabled",
		"must be true: the number of approvals that the environment requires in each project is %d", approvals).
		SentJSON("false"))
}

func tooFewApprovals(at string, least, sent int64) apierror.Detail {
	return apierror.At(at, "must be at least %d, which the environment requires in each project; you sent %d", least, sent)
}

// SetFreeze serves PUT /api/admin/projects/{projectId}/environments/{environment}/freeze.
func SetFreeze(projects *Store, environments *environment.Store, now func() time.Time) lambdahttp.HandlerFunc {
	read := environment.FreezeBody(now)
	return func(w http.ResponseWriter, r *http.Request) error {
		freeze, err := read(r)
		if err != nil {
			return err
		}
		p, e, err := environments.InProject(r)
		if err != nil {
			return err
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		if err := projects.SetFreeze(r.Context(), p.ID, e.Name, &freeze); err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, environment.NewFreeze(freeze))
	}
}

// GetFreeze serves GET /api/admin/projects/{projectId}/environments/{environment}/freeze.
func GetFreeze(environments *environment.Store, now func() time.Time) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, e, err := environments.InProject(r)
		if err != nil {
			return err
		}
		freeze := environment.CurrentFreeze(p.ProtectionOf(e.Name).Freeze, now())
		if freeze == nil {
			return notFrozen(p.ID, e.Name)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, freeze)
	}
}

// DeleteFreeze serves DELETE /api/admin/projects/{projectId}/environments/{environment}/freeze.
func DeleteFreeze(projects *Store, environments *environment.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		p, e, err := environments.InProject(r)
		if err != nil {
			return err
		}
		if err := lambdahttp.CheckUntagged(r); err != nil {
			return err
		}
		return projects.SetFreeze(r.Context(), p.ID, e.Name, nil) // nil: 200 without a body
	}
}

func notFrozen(id, name string) error {
	return apierror.Errorf(apierror.NotFound, "The environment %q of the project %q has no freeze of its own.", name, id)
}
