package playground

import (
	_ "embed"
	"io"
	"net/http"
	"time"

	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

//go:embed strategy.schema.json
var strategySchema []byte

// EvaluateStrategy serves POST /api/admin/playground/strategy. The strategy need not be one of a toggle: the console
// evaluates what a user is editing.
func EvaluateStrategy(store *Store, now func() time.Time, random io.Reader) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(strategySchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, NoFixedProperties)
		if err != nil {
			return err
		}
		s, err := featurestrategy.Read(body)
		if err != nil {
			return err
		}
		var segments []toggle.Segment
		if len(s.Segments) > 0 {
			visible, err := access.Visibility(r.Context())
			if err != nil {
				return err
			}
			if segments, err = store.Segments(r.Context(), visible); err != nil {
				return err
			}
		}
		ctx, err := FieldsOf(body).Context(now(), random)
		if err != nil {
			return err
		}
		const name = "strategy" // of a toggle that has only the strategy
		explanation := NewEngine("", nil, segments).ExplainStrategy(name, s, ctx)
		return lambdahttp.WriteJSON(w, http.StatusOK, newStrategy(explanation))
	}
}
