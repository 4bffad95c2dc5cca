package pat

import (
	_ "embed"
	"net/http"
	"strconv"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

// Limits are the limits of new tokens.
type Limits struct {
	PerAccount int // the maximum number of tokens of an account, including expired ones that were not deleted
	Days       int // from a token's creation to its expiry; 0: no limit
}

// Create serves POST /api/admin/service-account/{id}/token.
func Create(pats *Store, now func() time.Time, limits Limits) lambdahttp.HandlerFunc {
	return create(pats, now, limits, user.ServiceAccount, user.PathID, user.NoServiceAccount)
}

// create serves the creation of a token of an account of the kind, whose id owner returns.
func create(
	pats *Store, now func() time.Time, limits Limits, kind user.Kind, owner func(*http.Request) (int64, error),
	noOwner func(*http.Request) error,
) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		if access.PrincipalFrom(r.Context()).IsPipeline() {
			return apierror.New(apierror.NoAccess, "A pipeline cannot create tokens: it would then have a stored secret.")
		}
		p, err := read(r, schema, datetime.Milliseconds(now()), limits.Days)
		if err != nil {
			return err
		}
		if p.UserID, err = owner(r); err != nil {
			return err
		}
		p, token, err := pats.Create(r.Context(), p, Owner{kind, limits.PerAccount})
		if apierror.KindOf(err) == apierror.NotFound {
			return noOwner(r)
		}
		if err != nil {
			return err
		}
		if kind == user.ServiceAccount {
			location := r.URL.JoinPath("../..", strconv.FormatInt(p.UserID, 10), "token", strconv.FormatInt(p.ID, 10))
			w.Header().Set("Location", location.String())
		}
		return lambdahttp.WriteJSON(w, http.StatusCreated, struct { // createdPatSchema in api/openapi.yaml
			Response
			Secret string `json:"secret"`
		}{NewResponse(p), token.Reveal()})
	}
}

// read returns the token that the body of a request describes, without its owner.
func read(r *http.Request, schema *jsonbody.Schema, created time.Time, days int) (PAT, error) {
	body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail {
		expires := body.Time("expiresAt")
		if expires == nil {
			return nil
		}
		must := access.CheckExpiry(expires, created, days)
		if must == "" {
			return nil
		}
		return []apierror.Detail{apierror.At("/body/expiresAt", "must be %s", must).Sent(body.Text("expiresAt"))}
	})
	if err != nil {
		return PAT{}, err
	}
	return PAT{Description: body.Text("description"), ExpiresAt: *body.Time("expiresAt"), CreatedAt: created}, nil
}
