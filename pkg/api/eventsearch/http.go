package eventsearch

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
	maxQuery     = 100 // characters
	// maxPage is the maximum size of the events of a response, in bytes. Lambda's limit is 6 MB.
	maxPage = 5 << 20
)

// Response is an event with names (user.Names) in the API, eventSchema in api/openapi.yaml.
type Response struct {
	ID               int64              `json:"id"`
	CreatedAt        string             `json:"createdAt"`
	Type             eventlog.Type      `json:"type"`
	Label            string             `json:"label"`
	Summary          string             `json:"summary"`
	Subject          eventlog.Subject   `json:"subject"`
	CreatedBy        string             `json:"createdBy"`
	CreatedByUserID  *int64             `json:"createdByUserId"`
	CreatedByTokenID *string            `json:"createdByTokenId"`
	CreatedByKind    eventlog.ActorKind `json:"createdByKind"`
	Environment      *string            `json:"environment"`
	Project          *string            `json:"project"`
	FeatureName      *string            `json:"featureName"`
	Data             json.RawMessage    `json:"data"`
	PreData          json.RawMessage    `json:"preData"`
	RequestID        *string            `json:"requestId"`
	PermittedBy
	ChangeRequest int64    `json:"changeRequestId,omitempty"`
	Reason        string   `json:"reason,omitempty"`
	Tags          []string `json:"tags"` // empty
}

// PermittedBy is how a change of a protected or frozen environment was permitted, in the form of the API.
type PermittedBy struct {
	SkippedChangeRequest bool `json:"skippedChangeRequest,omitempty"`
	TurnedOff            bool `json:"turnedOff,omitempty"`
}

// NewResponse converts an event to its form in the API.
func NewResponse(e eventlog.Event) Response {
	r := Response{
		ID: e.ID, CreatedAt: datetime.Format(e.CreatedAt()), Type: e.Type, Label: e.Type.Label(), Summary: Summary(e),
		Subject: e.Subject, CreatedBy: e.By.Name, CreatedByTokenID: lambdahttp.Optional(e.By.TokenID),
		CreatedByKind: e.By.Kind(), Project: lambdahttp.Optional(e.Project),
		FeatureName: lambdahttp.Optional(e.FeatureName), Environment: lambdahttp.Optional(e.Environment),
		Data: e.Data, PreData: e.PreData, RequestID: lambdahttp.Optional(e.RequestID),
		PermittedBy:   PermittedBy(e.PermittedBy),
		ChangeRequest: e.ChangeRequest, Reason: e.Reason, Tags: []string{},
	}
	if e.By.UserID != 0 {
		r.CreatedByUserID = &e.By.UserID
	}
	return r
}

// SearchTime limits a search. A search that takes longer returns what it has found, or DynamoDB is slow.
const SearchTime = 2 * time.Second

// Search serves GET /api/admin/search/events. It reads for the time within, or shorter. A principal without the
// permission ADMIN can search the events of toggles that it names, and finds those of the projects that it sees.
func Search(
	events *eventlog.Reader, toggles *featuretable.Visibility, accounts *user.Names, groups *accesstable.Reader,
	within time.Duration,
) lambdahttp.HandlerFunc {
	names := NewNames(accounts, groups)
	return func(w http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		f := filter(q)
		if len(f.Features) == 0 { // the other parameters select a part of the toggles' events
			if err := access.Check(r.Context(), access.Admin); err != nil {
				return err
			}
		}
		limit := q.Number("limit", defaultLimit, 1, maxLimit)
		after := eventlog.Cursor{Skip: q.Number("offset", 0, 0, math.MaxInt32)}
		if q.Has("cursor") {
			after = cursor(q, f)
		}
		if err := q.Err(); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		named := f
		if !access.PrincipalFrom(ctx).Has(access.Admin) {
			visible, err := access.Visibility(ctx)
			if err != nil {
				return err
			}
			hidden, err := toggles.Hidden(ctx, f.Features, visible)
			if err != nil {
				return err
			}
			// Events from before a toggle was moved into a project that is not visible are not visible either.
			named.Visible = func(e eventlog.Event) bool { return !hidden[e.FeatureName] && isVisible(e, visible) }
		}
		if f.Text != "" {
			var err error
			if named.Named, err = names.Containing(ctx, f.Text); err != nil {
				return err
			}
		}
		page, err := events.Search(ctx, named, after, limit)
		if err != nil {
			return err
		}
		if err := names.Fill(r.Context(), page.Events); err != nil {
			return err
		}
		response := struct {
			Events     []json.RawMessage `json:"events"`
			Total      int               `json:"total"`
			TotalExact bool              `json:"totalExact"`
			Next       string            `json:"next,omitempty"`
			SearchedTo string            `json:"searchedTo,omitempty"`
		}{Events: []json.RawMessage{}, Total: page.Total, TotalExact: page.TotalExact}
		size := 0
		for i, e := range page.Events {
			text, err := jsonbody.Encode(NewResponse(e))
			if err != nil {
				return fmt.Errorf("encode event %d: %w", e.ID, err)
			}
			// Lambda's response contains the body as a JSON string.
			if size += jsonbody.SizeOfString(text); size > maxPage {
				page.Next = &eventlog.Cursor{Before: page.Events[i-1].ID, Total: page.Total, TotalExact: page.TotalExact}
				page.SearchedTo = time.Time{}
				break
			}
			response.Events = append(response.Events, text)
		}
		if page.Next != nil {
			if response.Next, err = encodeCursor(*page.Next, f); err != nil {
				return err
			}
		}
		if !page.SearchedTo.IsZero() {
			response.SearchedTo = datetime.Format(page.SearchedTo)
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, response)
	}
}

// isVisible reports whether an event contains nothing of a project that is not visible. A toggle that is moved has an
// event with two projects.
func isVisible(e eventlog.Event, visible func(project string) bool) bool {
	projects := []string{e.Project}
	for _, data := range []json.RawMessage{e.Data, e.PreData} {
		properties, _ := eventlog.Properties(data) // package eventlog encoded it
		project, _ := properties["project"].(string)
		projects = append(projects, project)
	}
	return !slices.ContainsFunc(projects, func(project string) bool { return project != "" && !visible(project) })
}

// sentCursor is a cursor as clients get it, in base64. A search with other filters cannot continue it.
type sentCursor struct {
	eventlog.Cursor
	Filters string `json:"filters"`
}

func encodeCursor(c eventlog.Cursor, f eventlog.Filter) (string, error) {
	text, err := json.Marshal(sentCursor{c, checksum(f)})
	return base64.RawURLEncoding.EncodeToString(text), err
}

// checksum identifies filters. Other filters have another one.
func checksum(f eventlog.Filter) string {
	text, err := json.Marshal(f)
	if err != nil { // f consists of texts, numbers and times
		panic(err)
	}
	return fmt.Sprintf("%.8x", sha256.Sum256(text))
}

// cursor returns the parameter cursor.
func cursor(q *lambdahttp.Query, f eventlog.Filter) eventlog.Cursor {
	var c sentCursor
	text, err := base64.RawURLEncoding.DecodeString(q.Text("cursor", maxCursor))
	switch {
	case err != nil || json.Unmarshal(text, &c) != nil || c.Before < 1 || c.Before > 1<<53 || c.Skip < 0 || c.Total < 0:
		q.Reject("cursor", "must be the value of `next` in a response")
	case c.Filters != checksum(f):
		q.Reject("cursor", "must be sent with the same filters as the search that it continues")
	case q.Has("offset"):
		q.Reject("offset", "must not be sent with `/query/cursor`")
	}
	return c.Cursor
}

// maxCursor is more than the length of any cursor.
const maxCursor = 500

func filter(q *lambdahttp.Query) eventlog.Filter {
	f := eventlog.Filter{
		Types: oneOf(q, "type"), Subjects: oneOf(q, "subject"), Features: oneOf(q, "feature"), Projects: oneOf(q, "project"),
		Environments: oneOf(q, "environment"), Users: ids(q, "createdBy"), IDs: ids(q, "id"), Text: q.Text("query", maxQuery),
	}
	for name, keys := range map[string][]string{"subject": f.Subjects, "feature": f.Features} { // keys of the index
		if slices.ContainsFunc(keys, func(key string) bool { return len(key) > maxKey }) {
			q.Reject(name, fmt.Sprintf("must have values of at most %d bytes", maxKey))
		}
	}
	if _, token := q.Operand("token", "IS"); token != "" {
		f.Tokens = []string{token}
	}
	_, f.From = q.Day("from", "IS")
	if q.Has("to") {
		_, to := q.Day("to", "IS")
		if f.Until = to.AddDate(0, 0, 1); q.Err() == nil && f.From.After(to) {
			q.Reject("from", "must not be after `/query/to`")
		}
	}
	return f
}

// maxKey limits a value of subject and feature. A key of an index has at most 2,048 bytes.
const maxKey = 1024

func oneOf(q *lambdahttp.Query, name string) []string {
	_, values := q.Values(name, "IS", "IS_ANY_OF")
	return values
}

func ids(q *lambdahttp.Query, name string) []int64 {
	var ids []int64
	for _, text := range oneOf(q, name) {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 || id >= 1<<53 || strconv.FormatInt(id, 10) != text {
			q.Reject(name, "must have ids that are positive integers")
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}
