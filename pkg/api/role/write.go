package role

import (
	_ "embed"
	"fmt"
	"net/http"
	"strings"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed create.schema.json
var createSchema []byte

// withVersion is roleWithVersionSchema in api/openapi.yaml.
type withVersion struct {
	Version int      `json:"version"`
	Roles   Response `json:"roles"`
}

// parse returns the role that a body describes. stored is the role that it changes, or the zero value.
func parse(body jsonbody.Object, stored access.RoleDefinition) (access.RoleDefinition, error) {
	next := stored
	next.Name = strings.TrimSpace(body.Text("name"))
	if description, sent := body.TextOK("description"); sent {
		next.Description = description
	}
	if t, sent := body.TextOK("type"); sent {
		next.Type = access.RoleType(t)
	}
	switch {
	case stored.ID == 0 && next.Type == "":
		next.Type = access.CustomType
	case stored.ID != 0 && next.Type != stored.Type:
		return next, apierror.Invalid(apierror.At("/body/type",
			"must be %q, because the type of a role cannot be changed", stored.Type).Sent(string(next.Type)))
	}
	if !body.Has("permissions") {
		return next, nil
	}
	next.Permissions = nil
	var problems []apierror.Detail
	for i, sent := range body.Objects("permissions") {
		p, problem := parsePermission(fmt.Sprintf("/body/permissions/%d", i), sent, next.Type)
		if problem != nil {
			problems = append(problems, *problem)
		}
		next.Permissions = append(next.Permissions, p)
	}
	next.Permissions = sorted(next.Permissions)
	return next, apierror.InvalidIfAny(problems)
}

// parsePermission returns a permission of a role of the type, or what is wrong with it. A permission is sent by its name,
// or by its id alone.
func parsePermission(
	pointer string, sent jsonbody.Object, t access.RoleType,
) (p access.RolePermission, problem *apierror.Detail) {
	info, ok := findPermission(sent)
	if !ok {
		return p, new(apierror.At(pointer, "must have the name or the id of a permission"))
	}
	p = access.RolePermission{Permission: info.Name, Environment: sent.Text("environment")}
	v := checkPermission(t, p)
	switch {
	case v == nil:
		return p, nil
	case !v.ofEnvironment:
		return p, new(apierror.At(pointer, "%s", v.text))
	case p.Environment == "":
		return p, new(apierror.At(pointer+"/environment", "%s", v.text).Violating("required", nil).NotSent())
	}
	return p, new(apierror.At(pointer+"/environment", "%s", v.text).Sent(p.Environment))
}

func findPermission(sent jsonbody.Object) (info access.PermissionInfo, ok bool) {
	if name, sentName := sent.TextOK("name"); sentName {
		return access.FindPermission(access.Permission(name))
	}
	id, _ := sent.Int("id")
	for _, info := range access.Permissions() {
		if info.ID == id {
			return info, true
		}
	}
	return access.PermissionInfo{}, false
}

// Create serves POST /api/admin/roles.
func Create(roles *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, jsonbody.ReadableName(toggle.IsReadable))
		if err != nil {
			return err
		}
		next, err := parse(body, access.RoleDefinition{})
		if err != nil {
			return err
		}
		created, err := roles.Create(r.Context(), next)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(fmt.Sprint(int64(created.ID))).String())
		return lambdahttp.WriteJSON(w, http.StatusOK, withVersion{1, NewResponse(created)})
	}
}

// Validate serves POST /api/admin/roles/validate.
func Validate(roles *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, jsonbody.ReadableName(toggle.IsReadable))
		if err != nil {
			return err
		}
		next, err := parse(body, access.RoleDefinition{})
		if err != nil {
			return err
		}
		return roles.Validate(r.Context(), next) // nil: 200 without a body
	}
}

// Update serves PUT /api/admin/roles/{roleId}.
func Update(roles *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, jsonbody.ReadableName(toggle.IsReadable))
		if err != nil {
			return err
		}
		id, err := pathID(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		updated, err := roles.Update(r.Context(), id, func(stored *access.RoleDefinition) error {
			if err := preconditions.Check(etag(*stored)); err != nil {
				return err
			}
			next, err := parse(body, *stored)
			*stored = next
			return err
		})
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, withVersion{1, NewResponse(updated)})
	}
}

// Delete serves DELETE /api/admin/roles/{roleId}.
func Delete(roles *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		return roles.Delete(r.Context(), id, func(stored access.RoleDefinition) error { // nil: 200 without a body
			return preconditions.Check(etag(stored))
		})
	}
}
