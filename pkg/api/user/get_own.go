package user

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// own is meSchema in api/openapi.yaml.
type own struct {
	User        ownUser      `json:"user"`
	Permissions []permission `json:"permissions"`
}

type ownUser struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username,omitempty"`
	Email    string `json:"email,omitempty"`
	RootRole int64  `json:"rootRole"`
	IsAPI    bool   `json:"isAPI"` // always false
}

type permission struct {
	Permission access.Permission `json:"permission"`
}

// GetOwn serves GET /api/admin/user. The permissions are those with which the request was authorized.
func GetOwn(users *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		principal := access.PrincipalFrom(r.Context())
		u, err := users.Get(r.Context(), principal.UserID)
		if apierror.KindOf(err) == apierror.NotFound { // the account was deleted after the request was authenticated
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		if err != nil {
			return err
		}
		body := own{
			User:        ownUser{ID: u.ID, Name: u.Name, Username: u.Username, Email: u.Email, RootRole: int64(u.Role)},
			Permissions: make([]permission, len(principal.Permissions)),
		}
		for i, p := range principal.Permissions {
			body.Permissions[i] = permission{p}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}
