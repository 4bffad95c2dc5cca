package person

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

//go:embed disabled.schema.json
var disabledSchema []byte

// Create serves POST /api/admin/user-admin. A password is not kept.
func Create(users *user.Store, roles *role.Store, now func() time.Time) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, hasEmail)
		if err != nil {
			return err
		}
		rootRole, err := roles.ParseRoot(r.Context(), body)
		if err != nil {
			return err
		}
		email, _ := user.ParseEmail(body.Text("email"))
		u, err := users.Add(r.Context(), user.User{
			Kind:      user.Person,
			Name:      cmp.Or(body.Text("name"), email),
			Username:  body.Text("username"),
			Email:     email,
			Role:      rootRole,
			CreatedAt: new(datetime.Milliseconds(now())),
		}, user.DefaultLimit)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(fmt.Sprint(u.ID)).String())
		return lambdahttp.WriteJSON(w, http.StatusCreated, created{
			Response:   user.NewResponse(u),
			InviteLink: r.URL.JoinPath("../../../console/").String(),
		})
	}
}

// Update serves PUT /api/admin/user-admin/{id}.
func Update(users *user.Store, roles *role.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, hasEmail)
		if err != nil {
			return err
		}
		id, err := pathID(r)
		if err != nil {
			return err
		}
		var rootRole access.Role
		if body.Has("rootRole") {
			if rootRole, err = roles.ParseRoot(r.Context(), body); err != nil {
				return err
			}
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		u, err := users.Update(r.Context(), user.Person, id, func(u *user.User) error {
			if err := preconditions.Check(u.ETag()); err != nil {
				return err
			}
			email, _ := user.ParseEmail(body.Text("email"))
			u.Name, u.Email = cmp.Or(body.Text("name"), u.Name), cmp.Or(email, u.Email)
			u.Role = cmp.Or(rootRole, u.Role)
			return nil
		})
		if err != nil {
			return named(r, err)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, user.NewResponse(u))
	}
}

// SetDisabled serves PUT /api/admin/user-admin/{id}/disabled.
func SetDisabled(users *user.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(disabledSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
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
		u, err := users.Update(r.Context(), user.Person, id, func(u *user.User) error {
			if err := preconditions.Check(u.ETag()); err != nil {
				return err
			}
			u.Disabled = body.Bool("disabled")
			return nil
		})
		if err != nil {
			return named(r, err)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, map[string]bool{"disabled": u.Disabled})
	}
}

// Delete serves DELETE /api/admin/user-admin/{id}. The first transaction ends the person's sessions and tokens.
func Delete(users *user.Store, pats *pat.Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		u, err := users.Find(r.Context(), user.Person, id)
		if err == nil {
			err = preconditions.Check(u.ETag())
		}
		if err == nil || apierror.KindOf(err) == apierror.NotFound { // a deletion that has begun continues
			err = pats.DeleteOwner(r.Context(), user.Person, id, false)
		}
		return named(r, err) // nil: 200 without a body
	}
}
