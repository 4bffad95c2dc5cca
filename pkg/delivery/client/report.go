package client

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/apierror"
)

// maxReport is the maximum size of a report of an SDK, in bytes: SDKs report every toggle that they know.
const maxReport = 1_000_000

// readReport reads the body of a report, which is a JSON object. Unknown properties are accepted.
func (r *request) readReport(into any) error {
	text, err := readAll(r.Request, maxReport)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return apierror.New(apierror.Validation, "The body must be a JSON object in the form of Unleash's SDKs.")
	}
	return nil
}

// readAll reads the body of a request, which can be compressed with gzip. The limit, in bytes, is for the content.
func readAll(r *http.Request, limit int64) ([]byte, error) {
	tooLarge := apierror.Errorf(apierror.ContentTooLarge, "The body must have at most %d bytes.", limit)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	var body io.Reader = r.Body
	if coding := strings.ToLower(r.Header.Get("Content-Encoding")); coding == "gzip" {
		unpacked, err := gzip.NewReader(io.LimitReader(body, limit))
		if err != nil {
			return nil, apierror.New(apierror.Validation, "The body is not compressed with gzip, as Content-Encoding says.")
		}
		body = unpacked
	} else if coding != "" && coding != "identity" {
		return nil, apierror.New(apierror.Validation, "The header `Content-Encoding` must be gzip or absent.")
	}
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, apierror.New(apierror.Validation, "The body cannot be read.")
	}
	if int64(len(text)) > limit {
		return nil, tooLarge
	}
	return text, nil
}

// register serves POST /api/client/register.
func (h *Handler) register(r *request) error { return h.acceptReport(r) }

// metrics serves POST /api/client/metrics.
func (h *Handler) metrics(r *request) error { return h.acceptReport(r) }

func (h *Handler) acceptReport(r *request) error {
	if err := h.countReport(r); err != nil {
		return err
	}
	r.w.WriteHeader(http.StatusAccepted)
	return nil
}

// countReport counts a report of an SDK, which must name the application.
func (h *Handler) countReport(r *request) error {
	var sent sentReport
	if err := r.readReport(&sent); err != nil {
		return err
	}
	if sent.AppName == "" {
		return apierror.New(apierror.Validation, "The `/body/appName` property is required; you did not send it.")
	}
	now := h.now()
	application := cut(sent.AppName)
	sdk := cmp.Or(string(sent.SDKVersion), r.Header.Get("Unleash-Sdk"))
	h.hear(r, application, sent.sentInstance, usage.Instance{SDK: cut(sdk), SeenAt: now})
	bucket := sent.Bucket.value
	uses := make([]use, 0, len(bucket.Toggles.value))
	for feature, counts := range bucket.Toggles.value {
		if counts, ok := counts.value.counts(); ok && feature != "" {
			uses = append(uses, use{hourOf(bucket.Stop.value.Time, now), feature, application, counts})
		}
	}
	return h.count(r, uses)
}

// hear records that the service has heard from an instance of an application.
func (h *Handler) hear(r *request, application string, sent sentInstance, i usage.Instance) {
	i.Frontend = i.Frontend || r.token.Type == clienttokentable.Frontend
	var strategies []string
	for _, name := range sent.Strategies.value {
		if name != "" && len(strategies) < maxStrategies {
			strategies = append(strategies, cut(string(name)))
		}
	}
	a := usage.Application{Projects: r.token.ListedProjects(), Strategies: strategies}
	h.recorder.heard(r.token.Environment, application, a, cut(cmp.Or(string(sent.InstanceID), noInstance)), i)
}

// count counts the use of toggles that the token sees. Other names are counted as unknown.
func (h *Handler) count(r *request, uses []use) error {
	if len(uses) == 0 {
		return nil
	}
	projects, err := r.view.projects()
	if err != nil {
		return err
	}
	known := func(name string) bool {
		project, ok := projects[name]
		return ok && r.token.Includes(project)
	}
	h.recorder.count(r.token.Environment, uses, known)
	return nil
}

// bulkMetrics serves POST /api/client/metrics/bulk, which Unleash Edge calls. What concerns another environment than
// that of the token is ignored.
func (h *Handler) bulkMetrics(r *request) error {
	var sent sentBulk
	if err := r.readReport(&sent); err != nil {
		return err
	}
	if sent.Applications == nil || sent.Metrics == nil {
		return apierror.New(apierror.Validation,
			"The `/body/applications` and `/body/metrics` properties are required; you did not send both.")
	}
	now := h.now()
	for _, a := range sent.Applications {
		a := a.value
		if a.AppName != "" && string(a.Environment) == r.token.Environment {
			h.hear(r, cut(string(a.AppName)), a.sentInstance,
				usage.Instance{SDK: cut(string(a.SDKVersion)), Frontend: a.SDKType == "frontend", SeenAt: now})
		}
	}
	uses := make([]use, 0, len(sent.Metrics))
	for _, m := range sent.Metrics {
		m := m.value
		counts, ok := m.counts()
		if ok && m.AppName != "" && m.FeatureName != "" && string(m.Environment) == r.token.Environment {
			uses = append(uses, use{hourOf(m.Timestamp.value.Time, now), string(m.FeatureName), cut(string(m.AppName)), counts})
		}
	}
	if err := h.count(r, uses); err != nil {
		return err
	}
	r.w.WriteHeader(http.StatusAccepted)
	return nil
}

// hourOf returns the hour in which the counts of a report fall: that of the report if it is one of the last 24 hours,
// and the one of the service otherwise.
func hourOf(sent, now time.Time) time.Time {
	if sent.After(now) || sent.Before(now.Add(-usagetable.Accepted)) {
		return usage.HourOf(now)
	}
	return usage.HourOf(sent)
}
