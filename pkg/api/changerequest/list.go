package changerequest

import (
	"context"
	_ "embed"
	"net/http"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed approvers.schema.json
var approversSchema []byte

// The numbers of requests of a page.
const (
	defaultLimit = 50
	maxLimit     = 100
	maxOffset    = 100_000
)

// query reads the filter and the page of a list.
func query(q *lambdahttp.Query) (f Filter, offset, limit int, err error) {
	if operator, values := q.Values("state", "IS", "IS_ANY_OF"); operator != "" {
		for _, value := range values {
			if !slices.Contains(States(), State(value)) {
				q.Reject("state", "must have states of change requests")
				break
			}
			f.States = append(f.States, State(value))
		}
	}
	f.createdBy, f.reviewer = account(q, "createdBy"), account(q, "requestedApproverId")
	if operator, value := q.Operand("actionable", "IS"); operator != "" {
		if f.actionable = value == "true"; !f.actionable {
			q.Reject("actionable", "must be IS:true")
		} else if len(f.States) == 0 { // no closed request waits for anybody
			f.States = OpenStates()
		}
	}
	offset, limit = q.Number("offset", 0, 0, maxOffset), q.Number("limit", defaultLimit, 1, maxLimit)
	return f, offset, limit, q.Err()
}

// account returns the id of an account in a parameter such as IS:7, or 0.
func account(q *lambdahttp.Query, name string) int64 {
	operator, value := q.Operand(name, "IS")
	if operator == "" {
		return 0
	}
	id, ok := access.ParseID(value)
	if !ok {
		q.Reject(name, "must be IS: and the id of an account")
	}
	return id
}

// List serves GET /api/admin/projects/{projectId}/change-requests.
func List(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, offset, limit, err := query(lambdahttp.NewQuery(r))
		if err != nil {
			return err
		}
		f.onlyPage = true
		if f.actionable {
			project, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
			if err != nil {
				return err
			}
			if f.waits, err = requests.waiting(r.Context(), []*access.Project{project}); err != nil {
				return err
			}
		}
		page, _, err := requests.Find(r.Context(), []string{r.PathValue("projectId")}, f, offset, limit)
		if err != nil {
			return err
		}
		return respondAll(w, r, users, page)
	}
}

// ListOpen serves GET /api/admin/projects/{projectId}/change-requests/pending: the requests that are not closed.
func ListOpen(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return listOpen(requests, users, func(Request) bool { return true })
}

// ListScheduled serves GET /api/admin/projects/{projectId}/change-requests/scheduled.
func ListScheduled(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return listOpen(requests, users, func(request Request) bool { return request.State == Scheduled })
}

// ListOpenOf serves GET /api/admin/projects/{projectId}/change-requests/pending/{featureName}: those of ListOpen with a
// change of a toggle.
func ListOpenOf(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		name, err := lambdahttp.PathParam(r, "featureName")
		if err != nil {
			return lambdahttp.BadPathParam("featureName", name)
		}
		return listOpen(requests, users, func(request Request) bool {
			return slices.ContainsFunc(request.Changes, func(c Change) bool { return c.Feature == name })
		})(w, r)
	}
}

func listOpen(requests *Store, users *user.Names, selects func(Request) bool) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := requests.open(r.Context(), r.PathValue("projectId"))
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(request Request) bool { return !selects(request) })
		return respondAll(w, r, users, all)
	}
}

func respondAll(w http.ResponseWriter, r *http.Request, users *user.Names, all []Request) error {
	known, err := users.Of(r.Context(), people(all))
	if err != nil {
		return err
	}
	list := make([]Response, len(all))
	for i, one := range all {
		list[i] = names(known).response(one, nil, nil)
	}
	return lambdahttp.WriteJSON(w, http.StatusOK, list)
}

// Found is changeRequestSearchItemSchema in api/openapi.yaml.
type Found struct {
	ID          int64          `json:"id"`
	Title       string         `json:"title,omitempty"`
	Project     string         `json:"project"`
	Environment string         `json:"environment"`
	CreatedBy   person         `json:"createdBy"`
	CreatedAt   string         `json:"createdAt"`
	Features    []string       `json:"features"`
	Segments    []string       `json:"segments"`
	State       State          `json:"state"`
	Schedule    *ShownSchedule `json:"schedule,omitempty"` // of the state Scheduled
}

// Search serves GET /api/admin/search/change-requests.
func Search(requests *Store, users *user.Names) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		_, project := q.Operand("project", "IS")
		f, offset, limit, err := query(q)
		if err != nil {
			return err
		}
		visible, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		if project != "" {
			visible = slices.DeleteFunc(visible, func(p *access.Project) bool { return p.ID != project })
		}
		projects := make([]string, len(visible))
		for i, p := range visible {
			projects[i] = p.ID
		}
		if f.actionable {
			if f.waits, err = requests.waiting(r.Context(), visible); err != nil {
				return err
			}
		}
		page, total, err := requests.Find(r.Context(), projects, f, offset, limit)
		if err != nil {
			return err
		}
		list, err := FoundOf(r.Context(), users, page)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			ChangeRequests []Found `json:"changeRequests"`
			Total          int64   `json:"total"`
		}{list, total})
	}
}

// FoundOf returns summaries of requests in the form of the search.
func FoundOf(ctx context.Context, users *user.Names, all []Request) ([]Found, error) {
	known, err := users.Of(ctx, people(all))
	list := make([]Found, len(all))
	for i, one := range all {
		list[i] = names(known).found(one)
	}
	return list, err
}

func (n names) found(r Request) Found {
	f := Found{
		ID: r.ID, Title: r.Title, Project: r.Project, Environment: r.Environment, CreatedBy: n.person(r.CreatedBy),
		CreatedAt: datetime.Format(r.CreatedAt), Features: []string{}, Segments: []string{}, State: r.State,
		Schedule: n.schedule(r.Schedule),
	}
	for _, c := range r.Changes {
		switch {
		case c.IsOfSegment():
			f.Segments = append(f.Segments, strconv.FormatInt(c.Segment, 10))
		case !slices.Contains(f.Features, c.Feature):
			f.Features = append(f.Features, c.Feature)
		}
	}
	slices.Sort(f.Segments)
	f.Segments = slices.Compact(f.Segments)
	return f
}

// Count serves GET /api/admin/projects/{projectId}/change-requests/count.
func Count(requests *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		project := r.PathValue("projectId")
		all, err := requests.numbers(r.Context(), []string{project})
		if err != nil {
			return err
		}
		n, total := all[project].byState, int64(0)
		for _, number := range n {
			total += number
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Total          int64 `json:"total"`
			Applied        int64 `json:"applied"`
			Rejected       int64 `json:"rejected"`
			ReviewRequired int64 `json:"reviewRequired"`
			Approved       int64 `json:"approved"`
			Scheduled      int64 `json:"scheduled"`
		}{total, n[Applied], n[Rejected], n[InReview], n[Approved], n[Scheduled]})
	}
}

// Actionable serves GET /api/admin/projects/{projectId}/change-requests/actionable: how many requests wait for the caller,
// who may approve those in review, and apply those that are approved.
func Actionable(requests *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		project, err := access.VisibleProject(ctx, r.PathValue("projectId"))
		if err != nil {
			return err
		}
		f := Filter{States: OpenStates()}
		if f.waits, err = requests.waiting(ctx, []*access.Project{project}); err != nil {
			return err
		}
		_, total, err := requests.Find(ctx, []string{project.ID}, f, 0, 0)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Total int64 `json:"total"`
		}{total})
	}
}

// waiting returns a function that reports whether a request of one of some projects waits for the caller.
func (s *Store) waiting(ctx context.Context, projects []*access.Project) (func(Request) bool, error) {
	p := access.PrincipalFrom(ctx)
	byID := map[string]*access.Project{}
	var roles []access.Role
	for _, project := range projects {
		byID[project.ID] = project
		roles = append(roles, project.CustomRolesOf(p)...)
	}
	custom, err := s.customRoles(ctx, roles)
	return func(r Request) bool { return waitsFor(r, p, byID[r.Project], custom) }, err
}

// waitsFor reports whether a principal is to do something with a request: approve it in its environment, apply it, or
// decide about a schedule that has ended without applying it.
func waitsFor(r Request, p access.Principal, project *access.Project, custom access.CustomRoles) bool {
	switch r.State {
	case InReview:
		has := slices.Contains(r.approvedBy(), p.UserID)
		return !has && !r.IsAuthor(p.UserID) && access.MayApprove(p, project, r.Environment, custom)
	case Approved:
		return access.Decide(p, access.ApplyChangeRequest, project, r.Environment, custom)
	case Scheduled:
		return !r.Schedule.isWaiting() && access.Decide(p, access.ApplyChangeRequest, project, r.Environment, custom)
	case Draft, Applied, Rejected, Canceled:
	}
	return false
}

// reviewer is changeRequestReviewerSchema in api/openapi.yaml.
type reviewer struct {
	ID       int64  `json:"id"`
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"`
	Email    string `json:"email"`
}

func newReviewers(all []user.User) any {
	list := make([]reviewer, len(all))
	for i, u := range all {
		list[i] = reviewer{u.ID, u.Name, u.Username, u.Email}
	}
	return struct {
		Reviewers []reviewer `json:"reviewers"`
	}{list}
}

// AvailableReviewers serves GET /api/admin/projects/{projectId}/change-requests/available-reviewers/{environment}.
func AvailableReviewers(requests *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		project, err := access.VisibleProject(r.Context(), r.PathValue("projectId"))
		if err != nil {
			return err
		}
		name, err := lambdahttp.PathParam(r, "environment")
		if err != nil {
			return lambdahttp.BadPathParam("environment", name)
		}
		if _, err := requests.environments.Get(r.Context(), name); err != nil {
			return err
		}
		if err := environment.CheckProject(project, name); err != nil {
			return err
		}
		all, err := requests.reviewers(r.Context(), project, name)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newReviewers(all))
	}
}

// Approvers serves GET /api/admin/projects/{projectId}/change-requests/{id}/approvers.
func Approvers(requests *Store) lambdahttp.HandlerFunc {
	return onRequest(nil, func(w http.ResponseWriter, r *http.Request, in input) error {
		found, err := requests.Get(r.Context(), in.project, in.id)
		if err != nil {
			return err
		}
		accounts, err := requests.users.Accounts(r.Context(), found.Reviewers)
		if err != nil {
			return err
		}
		var all []user.User
		for _, id := range found.Reviewers {
			if u, exists := accounts[id]; exists {
				all = append(all, u)
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newReviewers(all))
	})
}

// SetApprovers serves PUT /api/admin/projects/{projectId}/change-requests/{id}/approvers.
func SetApprovers(requests *Store) lambdahttp.HandlerFunc {
	return onRequest(approversSchema, func(w http.ResponseWriter, r *http.Request, in input) error {
		check, err := onlyAuthors(r)
		if err != nil {
			return err
		}
		project, err := access.VisibleProject(r.Context(), in.project)
		if err != nil {
			return err
		}
		ids := slices.Compact(slices.Sorted(slices.Values(in.body.Ints("reviewers"))))
		if err := requests.SetReviewers(r.Context(), project, in.id, ids, check); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}
