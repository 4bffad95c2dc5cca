package playground

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"slices"
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
		body, err := schema.Read(r, NoFixedProperties)
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
		results, err := Evaluation{
			Toggles:        features,
			Environments:   q.environments,
			HasEnvironment: access.HaveEnvironments(projects),
			Fields:         q.fields,
			Versions:       []Version{{features, segments}},
			Sampled:        q.sampled,
		}.Results(r.Context(), ctx)
		if err != nil {
			return err
		}
		return Respond(w, body, results)
	}
}

// Respond sends a response with the input of a request and the results of toggles.
func Respond(w http.ResponseWriter, input jsonbody.Object, results []json.RawMessage) error {
	return lambdahttp.WriteJSON(w, http.StatusOK, struct {
		Input    jsonbody.Object   `json:"input"`
		Features []json.RawMessage `json:"features"`
	}{input, results})
}

// errSlow is the response to a request whose toggles cannot be evaluated before the invocation ends. An explanation
// evaluates everything, also what does not decide, and a regular expression can take milliseconds.
var errSlow = apierror.New(apierror.Validation,
	"The evaluation takes too long. Select fewer environments or projects, or send shorter values.")

// Version is toggles and segments, as they are or as they would be. Archived toggles are not evaluated.
type Version struct {
	Features []toggle.Feature
	Segments []toggle.Segment
}

// Evaluation is what is evaluated.
type Evaluation struct {
	Toggles        []toggle.Feature // those whose results are returned, of any version
	Environments   []string
	HasEnvironment func(project, environment string) bool // in other environments, a toggle has no result
	Fields         Fields                                 // of the context
	Versions       []Version                              // a toggle has a result for each
	Sampled        []string                               // the names of toggles whose results have a sample
}

// Results returns the encoded results of the toggles in the environments, as advancedPlaygroundFeatureSchema in
// api/openapi.yaml. Toggles whose projects have none of the environments are left out. It stops when ctx ends, and when the
// results are too large for a response.
func (e Evaluation) Results(ctx context.Context, evaluated *evaluation.Context) ([]json.RawMessage, error) {
	explain := e.explanations(evaluated)
	all := []json.RawMessage{}
	size := 0
	for _, f := range e.Toggles {
		if ctx.Err() != nil {
			return nil, errSlow
		}
		results := featureResults{f.Name, f.Project, map[string][]Result{}}
		for _, environment := range e.Environments {
			if e.HasEnvironment(f.Project, environment) {
				results.Environments[environment] = explain(f, environment)
			}
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

// explanations returns a function that returns the results of a toggle in an environment, one for each version.
func (e Evaluation) explanations(evaluated *evaluation.Context) func(f toggle.Feature, environment string) []Result {
	toggles := make([]map[string]toggle.Feature, len(e.Versions))
	engines := make([]map[string]Engine, len(e.Versions))
	for i, v := range e.Versions {
		toggles[i], engines[i] = map[string]toggle.Feature{}, map[string]Engine{}
		for _, f := range v.Features {
			toggles[i][f.Name] = f
		}
		for _, environment := range e.Environments {
			engines[i][environment] = NewEngine(environment, v.Features, v.Segments)
		}
	}
	return func(f toggle.Feature, environment string) []Result {
		results := make([]Result, len(e.Versions))
		for i := range e.Versions {
			explanation := engines[i][environment].Explain(toggles[i][f.Name], evaluated)
			results[i] = NewResult(f, environment, e.Fields, explanation)
			if slices.Contains(e.Sampled, f.Name) {
				results[i].Sample = newSample(engines[i][environment], f.Name, evaluated)
			}
		}
		return results
	}
}
