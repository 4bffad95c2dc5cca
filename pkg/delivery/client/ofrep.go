package client

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// The reasons and error codes of OFREP 0.3.0.
const (
	reasonStatic         = "STATIC"
	reasonSplit          = "SPLIT"
	reasonTargetingMatch = "TARGETING_MATCH"
	reasonDisabled       = "DISABLED"

	codeFlagNotFound   = "FLAG_NOT_FOUND"
	codeInvalidContext = "INVALID_CONTEXT"
	codeParseError     = "PARSE_ERROR"
)

// ofrepSuccess is the result of an evaluation. Without a value, the application uses the default in its code.
type ofrepSuccess struct {
	Key      string         `json:"key"`
	Reason   string         `json:"reason"`
	Value    any            `json:"value,omitempty"`
	Variant  string         `json:"variant"` // the provider of Python needs it
	Metadata map[string]any `json:"metadata"`
}

// ofrepError is an error in the form of OFREP, with the properties of the error object.
type ofrepError struct {
	Key          string `json:"key,omitempty"`
	ErrorCode    string `json:"errorCode"`
	ErrorDetails string `json:"errorDetails"`
	ID           string `json:"id"`
	Name         string `json:"name"`
	Message      string `json:"message"`
}

// evaluateFlag serves POST /ofrep/v1/evaluate/flags/{key}.
func (h *Handler) evaluateFlag(r *request) error {
	all, ctx, code, err := h.ofrepContext(r)
	if err != nil {
		return h.writeOFREPError(r, code, err)
	}
	for _, f := range all.features {
		if f.Name == r.name {
			explanation := all.engine.Explain(f.Name, ctx)
			if err := h.countEvaluation(r, ctx, explanation); err != nil {
				return err
			}
			return lambdahttp.WriteJSON(r.w, http.StatusOK, newOFREPSuccess(f, explanation))
		}
	}
	if err := h.countEvaluation(r, ctx, evaluation.Explanation{}); err != nil {
		return err
	}
	return h.writeOFREPError(r, codeFlagNotFound,
		apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q.", apierror.Echo(r.name)))
}

// countEvaluation counts the evaluation of a toggle by its application, as the SDKs of Unleash do.
func (h *Handler) countEvaluation(r *request, ctx *evaluation.Context, e evaluation.Explanation) error {
	counts := usage.Counts{No: 1}
	if e.Enabled {
		counts = usage.Counts{Yes: 1}
	}
	if e.Variant != nil {
		counts.Variants = map[string]int64{e.Variant.Name: 1}
	}
	return h.recorder.CountEvaluation(r.reporter(), ctx.Fields[toggle.FieldAppName], r.name, counts)
}

// evaluateFlags serves POST /ofrep/v1/evaluate/flags.
func (h *Handler) evaluateFlags(r *request) error {
	all, ctx, code, err := h.ofrepContext(r)
	if err != nil {
		return h.writeOFREPError(r, code, err)
	}
	flags := make([]ofrepSuccess, len(all.features))
	for i, f := range all.features {
		flags[i] = newOFREPSuccess(f, all.engine.Explain(f.Name, ctx))
	}
	text, err := snapshot.Encode(struct {
		Flags []ofrepSuccess `json:"flags"`
	}{flags})
	if err != nil {
		return err
	}
	return r.writeTagged(text, "Authorization, X-API-Key, Origin, Accept-Encoding")
}

// ofrepContext reads the context of a request. The targeting key is the userId, unless the context has one. code is that
// of OFREP for an error that the client has caused, and empty for any other.
func (h *Handler) ofrepContext(r *request) (all *toggles, ctx *evaluation.Context, code string, err error) {
	body, err := r.readObject()
	if err != nil {
		return nil, nil, codeParseError, err
	}
	object, err := objectOf(body, "/body", "context")
	if err != nil {
		return nil, nil, codeInvalidContext, err
	}
	texts, err := textsOf(object, "/body/context")
	if err != nil {
		return nil, nil, codeInvalidContext, err
	}
	f := newFields(texts, nil)
	if key := f["targetingKey"]; key != "" && f[toggle.FieldUserID] == "" {
		f[toggle.FieldUserID] = key
	}
	all, err = r.view.toggles(r.projects)
	if err != nil {
		return nil, nil, "", err
	}
	ctx, err = h.context(r, f)
	return all, ctx, "", err
}

// writeOFREPError writes an error in the form of OFREP, and returns one without a code.
func (h *Handler) writeOFREPError(r *request, code string, failed error) error {
	if code == "" {
		return failed
	}
	e := apierror.From(failed)
	return lambdahttp.WriteJSON(r.w, lambdahttp.Status(e.Kind), ofrepError{
		Key:          r.name,
		ErrorCode:    code,
		ErrorDetails: e.Message,
		ID:           h.newErrorID(),
		Name:         e.Kind.Name(),
		Message:      e.Message,
	})
}

func newOFREPSuccess(f evaluation.Feature, e evaluation.Explanation) ofrepSuccess {
	result := ofrepSuccess{
		Key:     f.Name,
		Reason:  reasonOf(f, e),
		Variant: "disabled",
		Metadata: map[string]any{
			"project":        f.Project,
			"type":           f.Type,
			"stale":          f.Stale,
			"impressionData": f.ImpressionData,
		},
	}
	switch {
	case !e.Enabled && hasVariants(f):
	case !e.Enabled:
		result.Value = false
	case e.Variant == nil:
		result.Value, result.Variant = true, "enabled"
	default:
		result.Value, result.Variant = valueOf(e.Variant.Payload), e.Variant.Name
	}
	return result
}

func hasVariants(f evaluation.Feature) bool {
	for _, s := range f.Strategies {
		if len(s.Variants) > 0 {
			return true
		}
	}
	return false
}

// reasonOf returns what decided an evaluation.
func reasonOf(f evaluation.Feature, e evaluation.Explanation) string {
	switch {
	case !f.Enabled:
		return reasonDisabled
	case isSplit(e):
		return reasonSplit
	case isStatic(e):
		return reasonStatic
	default:
		return reasonTargetingMatch
	}
}

// isSplit reports whether a rollout or a variant decided: that of the strategy that holds, or if none holds, a rollout
// that excludes a context whose constraints and segments hold.
func isSplit(e evaluation.Explanation) bool {
	if e.Enabled {
		if e.Decisive < 0 {
			return false
		}
		rollout := e.Strategies[e.Decisive].Rollout
		return e.Variant != nil || rollout != nil && rollout.Percentage < 100
	}
	if slices.ContainsFunc(e.Dependencies, func(d evaluation.DependencyExplanation) bool { return !d.Holds }) {
		return false
	}
	return slices.ContainsFunc(e.Strategies, func(s evaluation.StrategyExplanation) bool {
		return s.Rollout != nil && !s.RuleHolds &&
			!slices.ContainsFunc(s.Constraints, func(c evaluation.ConstraintExplanation) bool { return !c.Holds }) &&
			!slices.ContainsFunc(s.Segments, func(g evaluation.SegmentExplanation) bool { return !g.Holds })
	})
}

// isStatic reports whether a toggle is on for every context.
func isStatic(e evaluation.Explanation) bool {
	if !e.Enabled || len(e.Dependencies) > 0 {
		return false
	}
	if e.Decisive < 0 { // it has no strategies
		return true
	}
	decisive := e.Strategies[e.Decisive]
	isForAll := decisive.Rollout != nil || decisive.Strategy.Name == toggle.StrategyDefault
	return isForAll && len(decisive.Constraints) == 0 && len(decisive.Segments) == 0
}

// valueOf returns the value of a payload: a number and an object as such, and any other payload as a text. A number has
// the form in which it was stored: providers distinguish 1 from 1.0. A variant without a payload is true.
func valueOf(p *toggle.Payload) any {
	if p == nil {
		return true
	}
	switch p.Type {
	case "number":
		if json.Valid([]byte(p.Value)) && isNumber(p.Value) {
			return json.RawMessage(p.Value)
		}
	case "json":
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(p.Value), &object) == nil && object != nil {
			return json.RawMessage(p.Value)
		}
	}
	return p.Value
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
