package client

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"toggleadmin/pkg/delivery/counting"
	"toggleadmin/pkg/platform/apierror"
)

// maxReport is the maximum size of a report of an SDK, in bytes: SDKs report every toggle that they know.
const maxReport = 1_000_000

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
			return nil, apierror.Invalid(apierror.At("/body", "must be compressed with gzip, as `Content-Encoding` says"))
		}
		body = unpacked
	} else if coding != "" && coding != "identity" {
		return nil, apierror.Invalid(apierror.At("/headers/Content-Encoding", "must be gzip or absent"))
	}
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, apierror.Invalid(apierror.At("/body", "cannot be read"))
	}
	if int64(len(text)) > limit {
		return nil, tooLarge
	}
	return text, nil
}

// backendReport serves POST /api/client/register and POST /api/client/metrics.
func (h *Handler) backendReport(r *request) error {
	if err := h.countReport(r); err != nil {
		return err
	}
	r.w.WriteHeader(http.StatusAccepted)
	return nil
}

// countReport counts a report of an SDK.
func (h *Handler) countReport(r *request) error {
	body, err := readAll(r.Request, maxReport)
	if err != nil {
		return err
	}
	return h.recorder.CountReport(r.reporter(), body, r.Header.Get("Unleash-Sdk"))
}

// reporter returns who reports with a request.
func (r *request) reporter() counting.Reporter {
	return counting.Reporter{Token: r.token, Toggles: r.view.counted}
}

// bulkMetrics serves POST /api/client/metrics/bulk, which Unleash Edge calls.
func (h *Handler) bulkMetrics(r *request) error {
	body, err := readAll(r.Request, maxReport)
	if err != nil {
		return err
	}
	if err := h.recorder.CountBulk(r.reporter(), body); err != nil {
		return err
	}
	r.w.WriteHeader(http.StatusAccepted)
	return nil
}
