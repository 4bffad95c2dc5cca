package feedback

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// response is feedbackResponseSchema in api/openapi.yaml.
type response struct {
	UserID     int64   `json:"userId"`
	NeverShow  bool    `json:"neverShow"`
	Given      *string `json:"given"`
	FeedbackID string  `json:"feedbackId"`
}

// Update serves PUT /api/admin/feedback/{id}.
func Update(records *Store, users *user.Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		id, badID := lambdahttp.PathParam(r, "id")
		caller := access.PrincipalFrom(r.Context())
		body, err := schema.Read(r, func(jsonbody.Object) []apierror.Detail {
			if badID != nil {
				return lambdahttp.BadPathParam("id", id).Details
			}
			return jsonbody.CheckText("/params/id", id)
		}, func(body jsonbody.Object) []apierror.Detail {
			if owner, named := body.Int("userId"); named && !mayName(caller, owner) {
				return []apierror.Detail{forbiddenUser(body)}
			}
			return nil
		})
		if err != nil {
			return err
		}
		owner, err := ownerOf(r.Context(), caller, body, users)
		if err != nil {
			return err
		}
		change := Change{SetGiven: body.Has("given"), Given: body.Time("given")}
		if body.Has("neverShow") {
			change.NeverShow = new(body.Bool("neverShow"))
		}
		preconditions, err := lambdahttp.PreconditionsOf(r)
		if err != nil {
			return err
		}
		record, err := records.Update(r.Context(), id, owner, change, Preconditions{
			Change: preconditions.Check(lambdahttp.NoETag),
			Create: preconditions.CheckMissing(),
		})
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, response{
			UserID: record.UserID, NeverShow: record.NeverShow, Given: datetime.FormatOptional(record.Given),
			FeedbackID: record.FeedbackID,
		})
	}
}

// mayName reports whether the caller may send that user's id in the body: its own id or, with the ADMIN permission, any
// id.
func mayName(caller access.Principal, owner int64) bool {
	return owner == caller.UserID || caller.Has(access.Admin)
}

// ownerOf returns the user whose record is updated: the caller, or the user named in the body, who must exist.
func ownerOf(ctx context.Context, caller access.Principal, body jsonbody.Object, users *user.Store) (int64, error) {
	owner, named := body.Int("userId")
	if !named || owner == caller.UserID {
		return caller.UserID, nil
	}
	_, err := users.Get(ctx, owner)
	if apierror.KindOf(err) == apierror.NotFound {
		err = apierror.Invalid(forbiddenUser(body))
	}
	return owner, err
}

// forbiddenUser is what is wrong with the user id in the body.
func forbiddenUser(body jsonbody.Object) apierror.Detail {
	sent, _ := body["userId"].(json.Number)
	return apierror.At("/body/userId",
		"must be your own id or, with the %q permission, the id of an existing user", access.Admin).
		SentJSON(apierror.Echo(sent.String()))
}
