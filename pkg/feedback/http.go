package feedback

import (
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
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		id, err := lambdahttp.PathParam(r, "id")
		if err != nil {
			return lambdahttp.BadPathParam("id", id)
		}
		owner, err := ownerOf(r, body, users)
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

// ownerOf says whose record is meant: the caller's, or that of the user named in the body, if the caller may.
func ownerOf(r *http.Request, body jsonbody.Object, users Users) (int64, error) {
	caller := auth.PrincipalOf(r)
	if !body.Has("userId") {
		return caller.UserID, nil
	}
	owner, fits := body.Int("userId")
	if fits && owner == caller.UserID {
		return owner, nil
	}
	if fits && caller.Has(auth.Admin) {
		exists, err := users.Exists(r.Context(), owner)
		if err != nil || exists {
			return owner, err
		}
	}
	sent, _ := body["userId"].(json.Number)
	return 0, apierror.New(apierror.Validation, fmt.Sprintf(
		"The `/body/userId` property must be your own id or, with the %q permission, the id of an existing user; you sent %s.",
		auth.Admin, apierror.Echo(sent.String())))
}
