package client

import (
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
)

// frontendToggle is a toggle that is on, in the response of the frontend API.
type frontendToggle struct {
	Name           string          `json:"name"`
	Enabled        bool            `json:"enabled"`
	Variant        frontendVariant `json:"variant"`
	ImpressionData bool            `json:"impressionData"`
}

// frontendVariant is the variant of a toggle. SDKs read feature_enabled in one of two spellings.
type frontendVariant struct {
	Name            string `json:"name"`
	Enabled         bool   `json:"enabled"`
	Payload         any    `json:"payload,omitempty"`
	FeatureEnabled  bool   `json:"feature_enabled"`
	FeatureEnabled2 bool   `json:"featureEnabled"`
}

// noVariant is the name of the variant of a toggle without variants.
const noVariant = "disabled"

// getFrontend serves GET /api/frontend.
func (h *Handler) getFrontend(r *request) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return apierror.Errorf(apierror.Validation, "The query cannot be read: %v.", err)
	}
	properties, f := fields{}, fields{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := strings.Join(values[name], ",")
		if inner, ok := strings.CutPrefix(name, "properties["); ok {
			properties[strings.TrimSuffix(strings.TrimSuffix(inner, "[]"), "]")] = value
		} else {
			f[strings.TrimSuffix(name, "[]")] = value
		}
	}
	maps.Copy(properties, f)
	return h.evaluateAll(r, properties)
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
	context, err := contextOf(body)
	if err != nil {
		return err
	}
	if err := checkDate("currentTime", context); err != nil {
		return err
	}
	f := fields{}
	properties, _ := context["properties"].(map[string]any)
	f.add(properties)
	f.add(context)
	return h.evaluateAll(r, f)
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
	all, err := r.view.toggles(r.projects)
	if err != nil {
		return err
	}
	ctx, err := h.context(r, f)
	if err != nil {
		return err
	}
	on := []frontendToggle{}
	for _, feature := range all.features {
		result := all.engine.Evaluate(feature.Name, ctx)
		if result.Enabled {
			on = append(on, newFrontendToggle(feature, result))
		}
	}
	text, err := snapshot.Encode(struct {
		Toggles []frontendToggle `json:"toggles"`
	}{on})
	if err != nil {
		return err
	}
	return r.writeTagged(text, "Authorization, Origin, Accept-Encoding")
}

func newFrontendToggle(f snapshot.Feature, result evaluation.Result) frontendToggle {
	t := frontendToggle{Name: f.Name, Enabled: true, ImpressionData: f.ImpressionData}
	t.Variant = frontendVariant{Name: noVariant, FeatureEnabled: true, FeatureEnabled2: true}
	if v := result.Variant; v != nil {
		t.Variant.Name, t.Variant.Enabled = v.Name, true
		if v.Payload != nil {
			t.Variant.Payload = v.Payload
		}
	}
	return t
}

// frontendReport serves the reports of frontend SDKs, which expect the text OK.
func (h *Handler) frontendReport(r *request) error {
	if err := h.countReport(r); err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(r.w, "OK")
	return err
}
