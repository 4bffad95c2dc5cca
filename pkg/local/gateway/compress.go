package gateway

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress compresses the body of a response if the client accepts gzip and the function has not compressed it.
func (r *request) compress(response *response) {
	minimum := r.gateway.config.API.MinimumCompressionSize
	if minimum == nil || len(response.body) < *minimum || response.body == "" ||
		response.header["Content-Encoding"] != nil || !acceptsGzip(r.http.Header["Accept-Encoding"]) {
		return
	}
	var compressed bytes.Buffer
	w := gzipWriters.Get().(*gzip.Writer) //nolint:errcheck,forcetypeassert // of New
	defer gzipWriters.Put(w)
	w.Reset(&compressed)
	_, _ = w.Write([]byte(response.body)) // to a buffer
	_ = w.Close()
	response.header["Content-Encoding"] = []string{"gzip"}
	response.body = compressed.String()
}

// acceptsGzip reports whether values of Accept-Encoding contain gzip, and not with the priority 0.
func acceptsGzip(values []string) bool {
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(values, ",")), ",") {
		coding, priority, _ := strings.Cut(item, ";")
		if strings.TrimSpace(coding) == "gzip" {
			return strings.TrimSpace(priority) != "q=0"
		}
	}
	return false
}
