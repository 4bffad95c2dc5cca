package feedback_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/database"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	client, tap := db.Through(t, nil)
	users := user.NewStore(client, db.Tables, db.LogThrough(client))
	for id := range int64(3) {
		if err := users.Create(t.Context(), user.User{ID: id + 1, Kind: user.Person, Disabled: true}); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := feedback.Update(feedback.NewStore(client, db.Tables), users)
	if err != nil {
		t.Fatal(err)
	}
	viewer, admin := access.UserPrincipal(1, access.RoleViewer), access.UserPrincipal(2, access.RoleAdmin)
	record := func(user, neverShow, given string) string {
		return `{"userId":` + user + `,"neverShow":` + neverShow + `,"given":` + given + `,"feedbackId":"survey"}`
	}
	forbidden := func(sent string) string {
		return "The `/body/userId` property must be your own id or, with the \"ADMIN\" permission, the id of an existing " +
			"user; you sent " + sent + "."
	}
	const badID = "The `/params/id` property must be UTF-8, percent-encoded and at most 255 characters long; you sent " +
		"\"%FF\"."
	for _, tt := range []struct {
		name   string
		caller access.Principal
		id     string // empty: sent as %FF
		body   string
		status int
		want   string
		calls  string
	}{
		{"nothing", viewer, "survey", `{}`, 200, record("1", "false", "null"), "UpdateItem"},
		{"both members", viewer, "survey", `{"neverShow":true,"given":"2026-11-20T06:39:00.1239+01:00"}`, 200,
			record("1", "true", `"2026-11-20T05:39:00.123Z"`), "UpdateItem"},
		{"unknown members", viewer, "survey", `{"feedbackId":"x"}`, 200, record("1", "true", `"2026-11-20T05:39:00.123Z"`),
			"UpdateItem"},
		{"neverShow", viewer, "survey", `{"neverShow":false}`, 200, record("1", "false", `"2026-11-20T05:39:00.123Z"`),
			"UpdateItem"},
		{"given null", viewer, "survey", `{"given":null}`, 200, record("1", "false", "null"), "UpdateItem"},
		{"the caller's id", viewer, "survey", `{"userId":1}`, 200, record("1", "false", "null"), "UpdateItem"},
		{"the caller's id with ADMIN", admin, "survey", `{"userId":2}`, 200, record("2", "false", "null"), "UpdateItem"},
		{"another user's id with ADMIN", admin, "survey", `{"userId":3,"neverShow":true}`, 200, record("3", "true", "null"),
			"GetItem UpdateItem"},
		{"another user's id without ADMIN", viewer, "survey", `{"userId":3}`, 400, forbidden("3"), ""},
		{"an unknown user's id", admin, "survey", `{"userId":4}`, 400, forbidden("4"), "GetItem"},
		{"0", admin, "survey", `{"userId":0}`, 400, forbidden("0"), "GetItem"},
		{"an id above 64 bits", admin, "survey", `{"userId":18446744073709551618}`, 400, forbidden("18446744073709551618"),
			"GetItem"},
		{"userId null", viewer, "survey", `{"userId":null}`, 400,
			"The `/body/userId` property must be an integer; you sent null.", ""},
		{"neverShow null", viewer, "survey", `{"neverShow":null}`, 400,
			"The `/body/neverShow` property must be a boolean; you sent null.", ""},
		{
			"no date-time", viewer, "survey", `{"given":"2026-11-20"}`, 400,
			"The `/body/given` property must be an RFC 3339 date-time with an offset or Z; you sent \"2026-11-20\".", "",
		},
		{"an invalid feedback id", viewer, "", `{}`, 400, badID, ""},
		{
			"an invalid feedback id and invalid members", viewer, "", `{"neverShow":1,"userId":3}`, 400,
			"The `/body/neverShow` property must be a boolean; you sent 1. " + badID + " " + forbidden("3"), "",
		},
	} {
		before := len(tap.Calls())
		r := httptest.NewRequest(http.MethodPut, "/api/admin/feedback/survey", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", "application/json")
		r.SetPathValue("id", tt.id)
		ctx := lambdahttp.WithGateway(t.Context(), lambdahttp.Gateway{PathParameters: map[string]string{"id": "%FF"}})
		w := httptest.NewRecorder()
		err := handler(w, r.WithContext(access.WithPrincipal(ctx, tt.caller)))
		status, got := w.Code, w.Body.String()
		if err != nil {
			e := apierror.From(err)
			status, got = e.Kind.Status(), e.Message
		}
		if diff := cmp.Diff(tt.want, got); status != tt.status || diff != "" {
			t.Errorf("%s: %d %s", tt.name, status, diff)
		}
		if calls := strings.TrimSpace(tap.Calls()[before:]); calls != tt.calls {
			t.Errorf("%s: calls %s, want %s", tt.name, calls, tt.calls)
		}
	}
}

func TestUpdateFails(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	handler, err := feedback.Update(feedback.NewStore(db.Client, db.Tables), user.NewStore(db.Client, db.Tables, db.Log()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(access.WithPrincipal(t.Context(), access.UserPrincipal(1, access.RoleAdmin)))
	cancel()
	for body, contentType := range map[string]string{`{}`: "application/json", `{"userId":2}`: "application/json",
		`{"a":1}`: "text/plain"} {
		r := httptest.NewRequestWithContext(ctx, http.MethodPut, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		r.SetPathValue("id", "survey")
		want := apierror.Unavailable
		if contentType == "text/plain" {
			want = apierror.ContentType
		}
		if err := handler(httptest.NewRecorder(), r); apierror.From(err).Kind != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}
