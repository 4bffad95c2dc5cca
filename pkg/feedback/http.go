package feedback

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/jsonbody"
	"toggleadmin/pkg/lambdahttp"
)

//go:embed update.schema.json
var updateSchema []byte

// answer is feedbackResponseSchema.
type answer struct {
	UserID     int64   `json:"userId"`
	NeverShow  bool    `json:"neverShow"`
	Given      *string `json:"given"`
	FeedbackID string  `json:"feedbackId"`
}

// Update serves PUT /api/admin/feedback/{id}.
func Update(records Updater, users Users) (lambdahttp.HandlerFunc, error) {
	schema, err := jsonbody.Compile(updateSchema)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		id, badID := lambdahttp.PathParam(r, "id")
		caller := auth.PrincipalFrom(r.Context())
		body, err := schema.Read(r, func(jsonbody.Object) string {
			if badID != nil {
				return apierror.From(lambdahttp.BadPathParam("id", id)).Message
			}
			return ""
		}, func(body jsonbody.Object) string {
			if owner, ok := body.Int("userId"); body.Has("userId") && !(ok && mayName(caller, owner)) {
				return notYours(body)
			}
			return ""
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
			neverShow := body.Bool("neverShow")
			change.NeverShow = &neverShow
		}
		record, err := records.Update(r.Context(), id, owner, change)
		if err != nil {
			return err
		}
		a := answer{UserID: record.UserID, NeverShow: record.NeverShow, FeedbackID: record.FeedbackID}
		if record.Given != nil {
			text := datetime.Format(*record.Given)
			a.Given = &text
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, a)
	}, nil
}

// mayName says whether the caller may name that user in the body: itself, or anybody with ADMIN.
func mayName(caller auth.Principal, owner int64) bool {
	return owner == caller.UserID || caller.Has(auth.Admin)
}

// notYours says what is wrong with the user named in the body.
func notYours(body jsonbody.Object) string {
	sent, _ := body["userId"].(json.Number)
	return fmt.Sprintf("The `/body/userId` property must be your own id or, with the %q permission, the id of an existing user; you sent %s.",
		auth.Admin, apierror.Echo(sent.String()))
}

// ownerOf says whose record is meant: the caller's, or that of the user named in the body, who must exist.
func ownerOf(ctx context.Context, caller auth.Principal, body jsonbody.Object, users Users) (int64, error) {
	owner, named := body.Int("userId")
	if !named || owner == caller.UserID {
		return caller.UserID, nil
	}
	exists, err := users.Exists(ctx, owner)
	if err == nil && !exists {
		err = apierror.New(apierror.Validation, notYours(body))
	}
	return owner, err
}
