package client

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"

	"toggleadmin/pkg/platform/apierror"
)

// maxReport is the maximum size of a report of an SDK, in bytes: SDKs report every toggle that they know.
const maxReport = 1_000_000

// report is what the reports of SDKs have in common.
type report struct {
	AppName string `json:"appName"`
}

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
	if coding := r.Header.Get("Content-Encoding"); coding == "gzip" {
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
func (h *Handler) register(r *request) error { return r.acceptReport() }

// metrics serves POST /api/client/metrics.
func (h *Handler) metrics(r *request) error { return r.acceptReport() }

func (r *request) acceptReport() error {
	if err := r.checkReport(); err != nil {
		return err
	}
	r.w.WriteHeader(http.StatusAccepted)
	return nil
}

// checkReport reads a report, which must name the application.
func (r *request) checkReport() error {
	var sent report
	if err := r.readReport(&sent); err != nil {
		return err
	}
	if sent.AppName == "" {
		return apierror.New(apierror.Validation, "The `/body/appName` property is required; you did not send it.")
	}
	return nil
}

// bulkMetrics serves POST /api/client/metrics/bulk, which Unleash Edge calls.
func (h *Handler) bulkMetrics(r *request) error {
	var sent struct {
		Applications []json.RawMessage `json:"applications"`
		Metrics      []json.RawMessage `json:"metrics"`
	}
	if err := r.readReport(&sent); err != nil {
		return err
	}
	if sent.Applications == nil || sent.Metrics == nil {
		return apierror.New(apierror.Validation,
			"The `/body/applications` and `/body/metrics` properties are required; you did not send both.")
	}
	r.w.WriteHeader(http.StatusAccepted)
	return nil
}
