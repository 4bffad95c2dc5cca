package client

import (
	"encoding/json"
	"net/http"
	"strconv"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
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
			result := all.engine.Evaluate(f.Name, ctx)
			if err := h.countEvaluation(r, ctx, result); err != nil {
				return err
			}
			return lambdahttp.WriteJSON(r.w, http.StatusOK, newOFREPSuccess(f, result))
		}
	}
	if err := h.countEvaluation(r, ctx, evaluation.Result{}); err != nil {
		return err
	}
	return h.writeOFREPError(r, codeFlagNotFound,
		apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q.", apierror.Echo(r.name)))
}

// countEvaluation counts the evaluation of a toggle by its application, as the SDKs of Unleash do.
func (h *Handler) countEvaluation(r *request, ctx *evaluation.Context, result evaluation.Result) error {
	counts := usage.Counts{No: 1}
	if result.Enabled {
		counts = usage.Counts{Yes: 1}
	}
	if result.Variant != nil {
		counts.Variants = map[string]int64{result.Variant.Name: 1}
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
		flags[i] = newOFREPSuccess(f, all.engine.Evaluate(f.Name, ctx))
	}
	text, err := jsonbody.Encode(struct {
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
	all, err = r.view.toggles(r.all())
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
		ID:           h.newID(),
		Name:         e.Kind.Name(),
		Message:      e.Message,
	})
}

func newOFREPSuccess(f evaluation.Feature, result evaluation.Result) ofrepSuccess {
	success := ofrepSuccess{
		Key:     f.Name,
		Reason:  reasonOf(result.Reason),
		Variant: noVariant,
		Metadata: map[string]any{
			"project":        f.Project,
			"type":           f.Type,
			"stale":          f.Stale,
			"impressionData": f.ImpressionData,
		},
	}
	switch {
	case !result.Enabled && hasVariants(f):
	case !result.Enabled:
		success.Value = false
	case result.Variant == nil:
		success.Value, success.Variant = true, "enabled"
	default:
		success.Value, success.Variant = valueOf(result.Variant.Payload), result.Variant.Name
	}
	return success
}

func hasVariants(f evaluation.Feature) bool {
	for _, s := range f.Strategies {
		if len(s.Variants) > 0 {
			return true
		}
	}
	return false
}

func reasonOf(reason evaluation.Reason) string {
	switch reason {
	case evaluation.SwitchedOff:
		return reasonDisabled
	case evaluation.Split:
		return reasonSplit
	case evaluation.Static:
		return reasonStatic
	default:
		return reasonTargetingMatch
	}
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
