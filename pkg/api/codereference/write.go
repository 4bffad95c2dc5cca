package codereference

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed report.schema.json
var reportSchema []byte

// MaxBody is the maximum size of the body of a report, in bytes.
const MaxBody = 2_000_000

// Put serves POST /api/admin/projects/{projectId}/code-references.
func Put(reports *Store) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(reportSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, invalid)
		if err != nil {
			return err
		}
		stored, added, removed, err := reports.Put(r.Context(), reportOf(r.PathValue("projectId"), body))
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			repositoryResponse

			Added   []string `json:"added"`
			Removed []string `json:"removed"`
		}{newRepositoryResponse(stored), append([]string{}, added...), append([]string{}, removed...)})
	}
}

// reportOf returns the report that a body has.
func reportOf(project string, body jsonbody.Object) Report {
	r := Report{
		Project: project, Repository: body.Text("repository"), Revision: body.Text("revision"),
		Places: map[string][]Place{},
	}
	if at := body.Time("revisionAt"); at != nil {
		r.RevisionAt = datetime.Milliseconds(*at)
	}
	for _, reference := range body.Objects("references") {
		line, _ := reference.Int("line")
		name := reference.Text("toggle")
		r.Places[name] = append(r.Places[name], Place{reference.Text("path"), line})
	}
	for name, places := range r.Places {
		r.Places[name] = normalized(places)
	}
	return r
}

// invalid returns what the schema cannot say of a report.
func invalid(body jsonbody.Object) (all []apierror.Detail) {
	if repository, ok := body.TextOK("repository"); ok {
		switch address, err := url.Parse(repository); {
		case !isLine(repository):
			all = append(all, apierror.At("/body/repository",
				"must have no control characters, and no white space at its start and end").Sent(repository))
		case err == nil && address.User != nil: // the message must not repeat it
			all = append(all, apierror.At("/body/repository", "must not contain credentials"))
		}
	}
	for i, reference := range body.Objects("references") {
		if path, ok := reference.TextOK("path"); ok && !isLine(path) {
			all = append(all, apierror.At(fmt.Sprintf("/body/references/%d/path", i),
				"must have no control characters, and no white space at its start and end").Sent(path))
		}
	}
	return all
}

func isLine(text string) bool {
	return text == strings.TrimSpace(text) && toggle.IsReadable(text) && !strings.ContainsAny(text, "\t\r\n")
}
