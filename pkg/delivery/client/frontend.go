package client

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/toggle"
)

// noVariant is the name of the variant of a toggle without variants.
const noVariant = "disabled"

// getFrontend serves GET /api/frontend.
func (h *Handler) getFrontend(r *request) error {
	beside, properties := map[string]string{}, map[string]string{}
	add := func(to map[string]string, name, value string) {
		if earlier, ok := to[name]; ok {
			value = earlier + "," + value
		}
		to[name] = value
	}
	for name, value := range parseQuery(r.URL.RawQuery) {
		name = strings.TrimSuffix(name, "[]")
		inner, isProperty := strings.CutPrefix(name, "properties[")
		switch {
		case isProperty:
			add(properties, strings.TrimSuffix(inner, "]"), value)
		case name == "properties":
			return apierror.Invalid(apierror.At("/query/properties", "must name a field, as in properties[plan]=pro"))
		default:
			add(beside, name, value)
		}
	}
	return h.evaluateAll(r, newFields(beside, properties))
}

// postFrontend serves POST /api/frontend.
func (h *Handler) postFrontend(r *request) error {
	if err := checkJSON(r.Header); err != nil {
		return err
	}
	body, err := r.readObject()
	if err != nil {
		return err
	}
	context, err := objectOf(body, "/body", "context")
	if err != nil {
		return err
	}
	if err := checkDate("currentTime", context); err != nil {
		return err
	}
	inner, err := objectOf(context, "/body/context", "properties")
	if err != nil {
		return err
	}
	delete(context, "properties")
	beside, err := textsOf(context, "/body/context")
	if err != nil {
		return err
	}
	properties, err := textsOf(inner, "/body/context/properties")
	if err != nil {
		return err
	}
	return h.evaluateAll(r, newFields(beside, properties))
}

// checkJSON rejects bodies that are not JSON according to their type.
func checkJSON(header http.Header) error {
	sent := header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(sent)
	if sent == "" || err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")) {
		return nil
	}
	return apierror.Errorf(apierror.ContentType, "The body must have the type application/json; you sent %q.",
		apierror.Echo(sent))
}

// evaluateAll writes the toggles that are on for a context.
func (h *Handler) evaluateAll(r *request, f fields) error {
	all, err := r.view.toggles(r.all())
	if err != nil {
		return err
	}
	ctx, err := h.context(r, f)
	if err != nil {
		return err
	}
	text := append(make([]byte, 0, frontendSize), `{"toggles":[`...)
	separator := ""
	for _, feature := range all.features {
		if result := all.engine.Evaluate(feature.Name, ctx); result.Enabled {
			text = appendFrontendToggle(append(text, separator...), feature, result.Variant)
			separator = ","
		}
	}
	return r.writeTagged(append(text, "]}"...), "Authorization, Origin, Accept-Encoding")
}

// frontendSize is the size with which a response of the frontend API begins, in bytes. Most are not much larger.
const frontendSize = 8 << 10

// appendFrontendToggle appends the JSON form of a toggle that is on, with its variant or nil. Without reflection it takes
// a fifth of the time. SDKs read feature_enabled in one of two spellings.
func appendFrontendToggle(text []byte, f evaluation.Feature, v *toggle.Variant) []byte {
	text = appendText(append(text, `{"name":`...), f.Name)
	text = append(text, `,"enabled":true,"variant":{"name":`...)
	if v == nil {
		text = append(text, `"`+noVariant+`","enabled":false`...)
	} else {
		text = append(appendText(text, v.Name), `,"enabled":true`...)
	}
	if v != nil && v.Payload != nil {
		text = appendText(append(text, `,"payload":{"type":`...), v.Payload.Type)
		text = append(appendText(append(text, `,"value":`...), v.Payload.Value), '}')
	}
	text = append(text, `,"feature_enabled":true,"featureEnabled":true},"impressionData":`...)
	return append(strconv.AppendBool(text, f.ImpressionData), '}')
}

// appendText appends a JSON string.
func appendText(text []byte, s string) []byte {
	text, _ = jsontext.AppendQuote(text, s) // the error is about invalid UTF-8, which it replaces
	return text
}

// frontendReport serves POST /api/frontend/client/register and POST /api/frontend/client/metrics. Frontend SDKs expect the
// text OK.
func (h *Handler) frontendReport(r *request) error {
	if err := h.countReport(r); err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(r.w, "OK")
	return err
}
