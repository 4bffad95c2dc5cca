package playground

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed evaluate.schema.json
var evaluateSchema []byte

const (
	// maxResults is the maximum number of results of a request, which limits its time.
	maxResults = 10_000
	// maxSize is the maximum size of all results in Lambda's response, in bytes. Lambda's limit is 6 MB. The rest is for
	// the input, which is repeated.
	maxSize = 5_000_000
)

// featureResults is advancedPlaygroundFeatureSchema in api/openapi.yaml.
type featureResults struct {
	Name         string              `json:"name"`
	ProjectID    string              `json:"projectId"`
	Environments map[string][]Result `json:"environments"` // one for each environment of the project
}

// Evaluate serves POST /api/admin/playground/advanced.
func Evaluate(store *Store, now func() time.Time, random io.Reader) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(evaluateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, noFixedProperties)
		if err != nil {
			return err
		}
		q := newQuery(body)
		if err := store.CheckEnvironments(r.Context(), q.environments); err != nil {
			return err
		}
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		projects, err := access.VisibleProjects(r.Context())
		if err != nil {
			return err
		}
		q.hasEnvironment = access.HaveEnvironments(projects)
		features, err := store.Features(r.Context(), func(project string) bool {
			return q.selects(project) && visible(project)
		})
		if err != nil {
			return err
		}
		if n := len(features) * len(q.environments); n > maxResults {
			return apierror.Errorf(apierror.Validation, "The number of toggles times the number of environments is %d, and the "+
				"limit is %d. Select fewer environments or projects.", n, maxResults)
		}
		segments, err := store.Segments(r.Context(), visible)
		if err != nil {
			return err
		}
		ctx, err := q.fields.Context(now(), random)
		if err != nil {
			return err
		}
		results, err := evaluate(r.Context(), q, features, segments, ctx)
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, struct {
			Input    jsonbody.Object   `json:"input"`
			Features []json.RawMessage `json:"features"`
		}{body, results})
	}
}

// errSlow is the response to a request whose toggles cannot be evaluated before the invocation ends. An explanation
// evaluates everything, also what does not decide, and a regular expression can take milliseconds.
var errSlow = apierror.New(apierror.Validation,
	"The evaluation takes too long. Select fewer environments or projects, or send shorter values.")

// evaluate returns the encoded featureResults of the toggles whose projects have one of the environments. It stops when ctx ends, and when the results are too large for
// a response.
func evaluate(
	ctx context.Context, q query, features []toggle.Feature, segments []toggle.Segment, evaluated *evaluation.Context,
) ([]json.RawMessage, error) {
	engines := map[string]Engine{}
	for _, environment := range q.environments {
		engines[environment] = NewEngine(environment, features, segments)
	}
	all := []json.RawMessage{}
	size := 0
	for _, f := range features {
		if ctx.Err() != nil {
			return nil, errSlow
		}
		results := featureResults{f.Name, f.Project, map[string][]Result{}}
		for _, environment := range q.environments {
			if !q.hasEnvironment(f.Project, environment) {
				continue
			}
			explanation := engines[environment].Explain(f, evaluated)
			results.Environments[environment] = []Result{NewResult(f, environment, q.fields, explanation)}
		}
		if len(results.Environments) == 0 {
			continue
		}
		text, err := jsonbody.Encode(results)
		if err != nil {
			return nil, err
		}
		// Lambda's response contains the body as a JSON string.
		if size += jsonbody.SizeOfString(text); size > maxSize {
			return nil, apierror.Errorf(apierror.Validation,
				"The response would be larger than %d bytes. Select fewer environments or projects.", maxSize)
		}
		all = append(all, text)
	}
	return all, nil
}
