package segment

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// response is segmentSchema in api/openapi.yaml.
type response struct {
	ID             int64               `json:"id"`
	Name           string              `json:"name"`
	Description    *string             `json:"description"`
	Constraints    []toggle.Constraint `json:"constraints"`
	Project        *string             `json:"project"`
	CreatedBy      *string             `json:"createdBy"`
	CreatedAt      string              `json:"createdAt"`
	UsedInFeatures int64               `json:"usedInFeatures"`
	UsedInProjects int64               `json:"usedInProjects"`
}

// response returns the response for a segment. names has the names of the users who create segments by their ids. Only
// toggles of visible projects are counted.
func (s Segment) response(names map[int64]string, visible func(project string) bool) response {
	used := s.References.In(visible)
	r := response{
		ID:             s.ID,
		Name:           s.Name,
		Description:    s.Description,
		Constraints:    s.Constraints,
		Project:        s.Project,
		CreatedAt:      datetime.Format(s.CreatedAt),
		UsedInFeatures: used.Toggles(),
		UsedInProjects: used.Projects(),
	}
	if s.CreatedBy != nil {
		r.CreatedBy = new(cmp.Or(s.CreatedBy.Name, names[s.CreatedBy.ID]))
	}
	return r
}

func responses(all []Segment, names map[int64]string, visible func(project string) bool) []response {
	list := make([]response, len(all))
	for i, s := range all {
		list[i] = s.response(names, visible)
	}
	return list
}

// creatorsOf returns the names of the users who created segments by their ids.
func creatorsOf(ctx context.Context, users *user.Names, all []Segment) (map[int64]string, error) {
	var ids []int64
	for _, s := range all {
		if s.CreatedBy != nil && s.CreatedBy.ID != 0 {
			ids = append(ids, s.CreatedBy.ID)
		}
	}
	return users.Of(ctx, ids)
}

// inEveryProject is for a response that depends on no project: of a new segment, or one that is only measured.
func inEveryProject(string) bool { return true }

// isVisible reports whether a segment belongs to no project or to one that is visible.
func isVisible(s Segment, visible func(project string) bool) bool {
	return s.Project == nil || visible(*s.Project)
}

// idOf returns the path parameter id of a request, or a 404.
func idOf(r *http.Request) (int64, error) {
	text, err := lambdahttp.PathParam(r, "id")
	if err != nil {
		return 0, notFound(text)
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || segmenttable.Name(id) != text {
		return 0, notFound(text)
	}
	return id, nil
}

// List serves GET /api/admin/segments.
func List(segments *Store, users *user.Names) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		all, err := segments.List(r.Context())
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(s Segment) bool { return !isVisible(s, visible) })
		names, err := creatorsOf(r.Context(), users, all)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Segments []response `json:"segments"`
		}{responses(all, names, visible)})
	}
}

// Get serves GET /api/admin/segments/{id}.
func Get(segments *Store, users *user.Names) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := idOf(r)
		if err != nil {
			return err
		}
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		s, err := segments.Get(r.Context(), id)
		if err != nil {
			return err
		}
		if !isVisible(s, visible) {
			return notFound(segmenttable.Name(id))
		}
		names, err := creatorsOf(r.Context(), users, []Segment{s})
		if err != nil {
			return err
		}
		w.Header().Set("ETag", etag(s))
		return lambdahttp.WriteJSON(w, http.StatusOK, s.response(names, visible))
	}
}

// etag returns the entity tag of a segment. It changes with everything that update-segment can change.
func etag(s Segment) string { return lambdahttp.ETag(s.eventData()) }

// ListStrategies serves GET /api/admin/segments/{id}/strategies.
func ListStrategies(segments *Store, strategies *Strategies) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, err := idOf(r)
		if err != nil {
			return err
		}
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		s, err := segments.Get(r.Context(), id)
		if err != nil {
			return err
		}
		if !isVisible(s, visible) {
			return notFound(segmenttable.Name(id))
		}
		all, err := strategies.Of(r.Context(), id)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(used Strategy) bool { return !visible(used.Project) })
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Strategies []Strategy `json:"strategies"`
		}{all})
	}
}
