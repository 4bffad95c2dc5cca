package codereference

import (
	"net/http"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// placeResponse is a place in responses.
type placeResponse struct {
	Place

	URL *string `json:"url"`
}

// repositoryOfFeature is what the report of a repository has of a toggle.
type repositoryOfFeature struct {
	Repository  string          `json:"repository"`
	Revision    *string         `json:"revision"`
	ReportedAt  string          `json:"reportedAt"`
	AbsentSince *string         `json:"absentSince"`
	Places      []placeResponse `json:"places"`
}

// GetOfFeature serves GET /api/admin/projects/{projectId}/features/{featureName}/code-references.
func GetOfFeature(features *feature.Reader, reports *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := feature.Requested(r, features)
		if err != nil {
			return err
		}
		all, err := reports.OfProject(r.Context(), f.Project)
		if err != nil {
			return err
		}
		body := struct {
			Places       int                   `json:"places"`
			AbsentSince  *string               `json:"absentSince"`
			Repositories []repositoryOfFeature `json:"repositories"`
		}{
			AbsentSince:  datetime.FormatOptional(absentSince(all, f.Name, f.CreatedAt)),
			Repositories: make([]repositoryOfFeature, len(all)),
		}
		for i, report := range all {
			body.Repositories[i] = report.of(f)
			body.Places += len(report.Places[f.Name])
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, body)
	}
}

func (r Report) of(f toggle.Feature) repositoryOfFeature {
	places := r.Places[f.Name]
	shown := repositoryOfFeature{
		Repository: r.Repository, Revision: lambdahttp.Optional(r.Revision), ReportedAt: datetime.Format(r.ReportedAt),
		AbsentSince: datetime.FormatOptional(absentSince([]Report{r}, f.Name, f.CreatedAt)),
		Places:      make([]placeResponse, len(places)),
	}
	for i, place := range places {
		shown.Places[i] = placeResponse{place, Link(r.Repository, r.Revision, place)}
	}
	return shown
}

// repositoryResponse describes the report of a repository.
type repositoryResponse struct {
	Project    string  `json:"project"`
	Repository string  `json:"repository"`
	Revision   *string `json:"revision"`
	ReportedAt string  `json:"reportedAt"`
	Places     int     `json:"places"`
	Features   int     `json:"features"`
}

func newRepositoryResponse(r Report) repositoryResponse {
	return repositoryResponse{
		Project: r.Project, Repository: r.Repository, Revision: lambdahttp.Optional(r.Revision),
		ReportedAt: datetime.Format(r.ReportedAt), Places: r.count(), Features: len(r.Places),
	}
}

// featureResponse says where the name of a toggle occurs.
type featureResponse struct {
	Name         string  `json:"name"`
	Project      string  `json:"project"`
	Places       int     `json:"places"`
	Repositories int     `json:"repositories"` // that have a place
	AbsentSince  *string `json:"absentSince"`
}

// List serves GET /api/admin/code-references. It reads all reports, and no toggles if there is none in a visible project.
func List(reports *Store, toggles *Toggles) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		q := lambdahttp.NewQuery(r)
		_, project := q.Operand("project", "IS")
		if err := q.Err(); err != nil {
			return err
		}
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		all, err := reports.All(r.Context())
		if err != nil {
			return err
		}
		repositories, byProject := []repositoryResponse{}, map[string][]Report{}
		for _, report := range all {
			if visible(report.Project) && (project == "" || project == report.Project) {
				repositories = append(repositories, newRepositoryResponse(report))
				byProject[report.Project] = append(byProject[report.Project], report)
			}
		}
		features := []featureResponse{}
		if len(byProject) > 0 {
			if features, err = toggles.referenced(r.Context(), byProject); err != nil {
				return err
			}
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Repositories []repositoryResponse `json:"repositories"`
			Features     []featureResponse    `json:"features"`
		}{repositories, features})
	}
}

func newFeatureResponse(name, project string, createdAt time.Time, reports []Report) featureResponse {
	f := featureResponse{
		Name: name, Project: project,
		AbsentSince: datetime.FormatOptional(absentSince(reports, name, createdAt)),
	}
	for _, r := range reports {
		if n := len(r.Places[name]); n > 0 {
			f.Places += n
			f.Repositories++
		}
	}
	return f
}
