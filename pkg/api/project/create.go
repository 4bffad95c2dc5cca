package project

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/protection"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed validate.schema.json
var validateSchema []byte

// CreateSchema returns the schema of the body of Create. Rules are those for it.
func CreateSchema() *jsonbody.Schema { return jsonbody.MustCompile(createSchema) }

// CreateSchemaText returns the JSON text of CreateSchema.
func CreateSchemaText() []byte { return slices.Clone(createSchema) }

// Rules returns the rules for the bodies of Create and Update.
func Rules() []jsonbody.Rule {
	return []jsonbody.Rule{jsonbody.ReadableName(toggle.IsReadable), validNaming, validLinks}
}

// created is projectCreatedSchema in api/openapi.yaml.
type created struct {
	ID                string      `json:"id"`
	Name              string      `json:"name"`
	Description       *string     `json:"description,omitempty"` // as in response
	Mode              access.Mode `json:"mode"`
	DefaultStickiness string      `json:"defaultStickiness"`
	FeatureLimit      *int64      `json:"featureLimit"` // null: none
	Environments      []string    `json:"environments"`

	ChangeRequestEnvironments []protectedEnvironment `json:"changeRequestEnvironments"`
}

// protectedEnvironment is an element of changeRequestEnvironments in projectCreatedSchema.
type protectedEnvironment struct {
	Name              string `json:"name"`
	RequiredApprovals int64  `json:"requiredApprovals"`
}

// Create serves POST /api/admin/projects. The person or service account that creates a project is its Owner.
func Create(projects *Store, environments *environment.Store) lambdahttp.HandlerFunc {
	schema, rules := CreateSchema(), append(Rules(), notReserved)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, rules...)
		if err != nil {
			return err
		}
		all, err := environments.List(r.Context())
		if err != nil {
			return err
		}
		names := environmentNames(all)
		next := access.NewProject(body.Text("id"), "")
		edit(&next, body)
		if sent := body.Texts("environments"); len(sent) > 0 {
			if next.Environments, err = checkEnvironments(sent, names); err != nil {
				return err
			}
		}
		if err := protect(&next, body.Objects("changeRequestEnvironments"), all); err != nil {
			return err
		}
		if userID := access.PrincipalFrom(r.Context()).UserID; userID != 0 {
			next.Users = map[int64][]access.Role{userID: {access.RoleOwner}}
		} else if next.Mode != access.Open {
			return apierror.Errorf(apierror.Conflict,
				"A %s project needs an Owner, and a project that is created with an API token has none. "+
					"Create an open project, add an Owner, then change the mode.", next.Mode)
		}
		p, err := projects.Create(r.Context(), next)
		if err != nil {
			return err
		}
		shown := created{
			ID:                p.ID,
			Name:              p.Name,
			Description:       p.Description,
			Mode:              p.Mode,
			DefaultStickiness: p.DefaultStickiness,
			Environments:      p.Environments,

			ChangeRequestEnvironments: []protectedEnvironment{},
		}
		for _, e := range all {
			if n := protection.RequiredApprovals(&p, e); n > 0 && p.HasEnvironment(e.Name) {
				shown.ChangeRequestEnvironments = append(shown.ChangeRequestEnvironments, protectedEnvironment{e.Name, n})
			}
		}
		if shown.Environments == nil {
			shown.Environments = names
		}
		w.Header().Set("Location", r.URL.JoinPath(p.ID, "overview").String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, shown)
	}
}

// environmentNames returns the names of environments.
func environmentNames(all []environment.Environment) []string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	return names
}

// protect makes changes need change requests in the environments that a body names. The kind of its error is Validation if
// the project does not have one of them, or if one requires more approvals.
func protect(p *access.Project, sent []jsonbody.Object, all []environment.Environment) error {
	for n, body := range sent {
		at, name := fmt.Sprint("/body/changeRequestEnvironments/", n), body.Text("name")
		i := indexOf(all, name)
		if i < 0 || !p.HasEnvironment(name) {
			return apierror.Invalid(apierror.At(at+"/name", "must be the name of an environment of the project; you sent %q",
				apierror.Echo(name)))
		}
		approvals, has := body.Int("requiredApprovals")
		if least := all[i].RequiredApprovals; has && approvals < least {
			return apierror.Invalid(tooFewApprovals(at+"/requiredApprovals", least, approvals))
		}
		setProtection(p, name, access.Protection{ChangeRequests: true, RequiredApprovals: approvals})
	}
	return nil
}

// checkEnvironments returns the names in a body, each once, in the order of all environments. The kind of its error is
// Validation if there is no environment with one of the names.
func checkEnvironments(sent, all []string) ([]string, error) {
	for i, name := range sent {
		if !slices.Contains(all, name) {
			return nil, apierror.Invalid(apierror.At(fmt.Sprint("/body/environments/", i),
				"must be the name of an environment; you sent %q", apierror.Echo(name)))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(sent, name) }), nil
}

// Validate serves POST /api/admin/projects/validate.
func Validate(projects *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(validateSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, notReserved)
		if err != nil {
			return err
		}
		return projects.CheckID(r.Context(), body.Text("id")) // nil: 200 without a body
	}
}

// notReserved is the rule that the id is not reserved.
func notReserved(body jsonbody.Object) []apierror.Detail {
	if id := body.Text("id"); isReserved(id) {
		return []apierror.Detail{apierror.At("/body/id", "must not be %q, which is a path of the API", id)}
	}
	return nil
}

// edit sets what a body contains of the properties of update-project.
func edit(p *access.Project, body jsonbody.Object) {
	p.Name = body.Text("name")
	if body.Has("description") {
		p.Description = nil
		if text, ok := body.TextOK("description"); ok {
			p.Description = &text
		}
	}
	if text, ok := body.TextOK("defaultStickiness"); ok {
		p.DefaultStickiness = text
	}
	editSettings(p, body)
}
