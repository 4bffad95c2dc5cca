package changerequest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed change.schema.json
var changeSchema []byte

//go:embed changes.schema.json
var changesSchema []byte

//go:embed state.schema.json
var stateSchema []byte

//go:embed title.schema.json
var titleSchema []byte

//go:embed comment.schema.json
var commentSchema []byte

// maxBody is the size limit of the body of changes, in bytes.
const maxBody = 250_000

// MayAsk requires that the caller may make a change request in the project of the path: a person or service account, who
// has a role there unless the project is open.
func MayAsk(r *http.Request) error {
	project, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
	if err != nil {
		return err
	}
	if err := access.IsUser(r); err != nil {
		return err
	}
	if p := access.PrincipalFrom(r.Context()); project.Mode == access.Open || p.Has(access.Admin) || project.HasMember(p) {
		return nil
	}
	return apierror.Errorf(apierror.NoAccess, "You need a role in the project %q to make a change request.", project.ID)
}

// Create serves POST /api/admin/projects/{projectId}/environments/{environment}/change-requests.
func Create(requests *Store, users *user.Names, now func() time.Time) lambdahttp.HandlerFunc {
	one, many := jsonbody.MustCompile(changeSchema), jsonbody.MustCompile(changesSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		bodies, places, err := readChanges(r, one, many)
		if err != nil {
			return err
		}
		project, e, err := requests.environments.InProject(r)
		if err != nil {
			return err
		}
		at, by := now(), callerOf(r.Context()).Person
		var changes []Change
		for i, body := range bodies {
			c, err := newChange(body, by, at)
			if err != nil {
				return apierror.Below(places[i], err)
			}
			changes = append(changes, c)
		}
		next, err := requests.AddChanges(r.Context(),
			Request{Project: project.ID, Environment: e.Name, CreatedBy: by, CreatedAt: at}, changes, places)
		if err != nil {
			return err
		}
		return respond(w, r, requests, users, next)
	}
}

// readChanges returns the changes in the body of a request, which are one or a list, and their places.
func readChanges(r *http.Request, one, many *jsonbody.Schema) (bodies []jsonbody.Object, places []string, err error) {
	text, err := io.ReadAll(r.Body)
	if err != nil { // the schema reads it again, and reports the error
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), failing{err}))
	} else {
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
		body, err := one.Read(r)
		return []jsonbody.Object{body}, []string{"/body"}, err
	}
	if bodies, err = many.ReadArray(r); err != nil {
		return nil, nil, err
	}
	for i := range bodies {
		places = append(places, fmt.Sprintf("/body/%d", i))
	}
	return bodies, places, nil
}

// failing is a reader that only returns an error.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// newChange returns the change that a body describes.
func newChange(body jsonbody.Object, by Person, at time.Time) (Change, error) {
	c := Change{Action: Action(body.Text("action")), Feature: body.Text("feature"), CreatedBy: by, CreatedAt: at}
	if body["payload"] != nil {
		text, err := jsonbody.Encode(body["payload"])
		if err != nil {
			return Change{}, err
		}
		c.Payload = json.RawMessage(text)
	}
	return c, nil
}

func respond(w http.ResponseWriter, r *http.Request, requests *Store, users *user.Names, request Request) error {
	shown, err := requests.Response(r.Context(), users, request)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", etag(request))
	return lambdahttp.WriteJSON(w, http.StatusOK, shown)
}

// idOf returns a path parameter with the id of a request or change, or the 404 for it.
func idOf(r *http.Request, name string) (int64, error) {
	text, err := lambdahttp.PathParam(r, name)
	id, invalid := strconv.ParseInt(text, 10, 64)
	if err != nil || invalid != nil || strconv.FormatInt(id, 10) != text {
		return 0, notFound(r.PathValue("projectId"), text)
	}
	return id, nil
}

// input is what an operation on a change request reads of every API request.
type input struct {
	project string
	id      int64
	body    jsonbody.Object
}

// onRequest returns the function that serves an operation on the change request of the path. schema is that of the body;
// nil: it has none.
func onRequest(
	schema []byte, serve func(w http.ResponseWriter, r *http.Request, in input) error, rules ...jsonbody.Rule,
) lambdahttp.HandlerFunc {
	var compiled *jsonbody.Schema
	if schema != nil {
		compiled = jsonbody.MustCompile(schema)
	}
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		in := input{project: r.PathValue("projectId")}
		if compiled != nil {
			if in.body, err = compiled.Read(r, rules...); err != nil {
				return err
			}
		}
		if in.id, err = idOf(r, "id"); err != nil {
			return err
		}
		return serve(w, r, in)
	}
}

// unlessChanged returns a check that the preconditions of an API request hold for a change request.
func unlessChanged(r *http.Request) (func(Request) error, error) {
	preconditions, err := lambdahttp.PreconditionsOf(r)
	return func(old Request) error { return preconditions.Check(etag(old)) }, err
}

// onlyAuthors returns a check that the caller is an author of a request, and that the preconditions hold.
func onlyAuthors(r *http.Request) (func(Request) error, error) {
	check, err := unlessChanged(r)
	by := callerOf(r.Context())
	return func(old Request) error {
		if err := old.checkAuthor(by); err != nil {
			return err
		}
		return check(old)
	}, err
}

// SetState serves PUT /api/admin/projects/{projectId}/change-requests/{id}/state.
func SetState(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return onRequest(stateSchema, func(w http.ResponseWriter, r *http.Request, in input) error {
		check, err := unlessChanged(r)
		if err != nil {
			return err
		}
		asked := Asked{State: State(in.body.Text("state"))}
		if at := in.body.Time("scheduledAt"); at != nil {
			asked.ScheduledAt, asked.SentAt = *at, in.body.Text("scheduledAt")
		}
		next, err := requests.Become(r.Context(), in.project, in.id, asked, in.body.Text("comment"), check)
		if err != nil {
			return err
		}
		return respond(w, r, requests, users, next)
	}, readable("comment"), timeOnlyOfSchedules)
}

// timeOnlyOfSchedules is the rule that only the state Scheduled has a time.
func timeOnlyOfSchedules(body jsonbody.Object) []apierror.Detail {
	if state := State(body.Text("state")); body.Has("scheduledAt") && state != Scheduled && slices.Contains(States(), state) {
		return []apierror.Detail{apierror.At("/body/scheduledAt", "must not be sent with the state %q", state)}
	}
	return nil
}

// readable is the rule that a text, if it is sent and not empty, is readable.
func readable(property string) jsonbody.Rule {
	return jsonbody.Readable(property, func(text string) bool { return text == "" || toggle.IsReadable(text) })
}

// SetTitle serves PUT /api/admin/projects/{projectId}/change-requests/{id}/title.
func SetTitle(requests *Store) lambdahttp.HandlerFunc {
	return onRequest(titleSchema, func(w http.ResponseWriter, r *http.Request, in input) error {
		check, err := onlyAuthors(r)
		if err != nil {
			return err
		}
		if err := requests.SetTitle(r.Context(), in.project, in.id, in.body.Text("title"), check); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}, readable("title"))
}

// UpdateChange serves PUT /api/admin/projects/{projectId}/change-requests/{id}/changes/{changeId}.
func UpdateChange(requests *Store, users *user.Names, now func() time.Time) lambdahttp.HandlerFunc {
	return onRequest(changeSchema, func(w http.ResponseWriter, r *http.Request, in input) error {
		replacement, err := newChange(in.body, callerOf(r.Context()).Person, now())
		if err != nil {
			return err
		}
		next, err := editChange(r, requests, in, &replacement)
		if err != nil {
			return err
		}
		return respond(w, r, requests, users, next)
	})
}

// DeleteChange serves DELETE /api/admin/projects/{projectId}/change-requests/{id}/changes/{changeId}.
func DeleteChange(requests *Store) lambdahttp.HandlerFunc {
	return onRequest(nil, func(_ http.ResponseWriter, r *http.Request, in input) error {
		_, err := editChange(r, requests, in, nil)
		return err // nil: 200 without a body
	})
}

func editChange(r *http.Request, requests *Store, in input, replacement *Change) (Request, error) {
	change, err := idOf(r, "changeId")
	if err != nil {
		return Request{}, apierror.Errorf(apierror.NotFound, "The change request %d has no change with this id.", in.id)
	}
	check, err := unlessChanged(r)
	if err != nil {
		return Request{}, err
	}
	return requests.EditChange(r.Context(), in.project, in.id, change, replacement, check)
}

// Delete serves DELETE /api/admin/projects/{projectId}/change-requests/{id}.
func Delete(requests *Store) lambdahttp.HandlerFunc {
	return onRequest(nil, func(_ http.ResponseWriter, r *http.Request, in input) error {
		check, err := onlyAuthors(r)
		if err != nil {
			return err
		}
		return requests.Delete(r.Context(), in.project, in.id, check) // nil: 200 without a body
	})
}

// AddComment serves POST /api/admin/projects/{projectId}/change-requests/{id}/comments.
func AddComment(requests *Store) lambdahttp.HandlerFunc {
	return onRequest(commentSchema, func(w http.ResponseWriter, r *http.Request, in input) error {
		if err := requests.Comment(r.Context(), in.project, in.id, in.body.Text("text")); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}, readable("text"))
}
